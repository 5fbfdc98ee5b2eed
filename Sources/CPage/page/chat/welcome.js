// The page of a new conversation, and what stands above a conversation while no model can answer. The way from nothing to the
// first answer (`first-run.js`) is loaded when there is no such model.
import { h, fill, lifetime, set } from "../kit/dom.js";
import { loadRefusals } from "../kit/refusals.js";
import { t, withWords } from "../kit/texts.js";
import { canAnswer, home, homeChanged } from "../data/home.js";
import { library, libraryChanged, readLibrary, rowChanged, rows } from "../data/library.js";

let firstRun = null;
let coming = null;

/// Loads the first run, then calls `draw`; a failure is tried again with the next change.
function loadFirstRun(draw) {
    coming ??= Promise.all([withWords(import("./first-run.js"), "models"), loadRefusals()]).then(([module]) => { firstRun = module; }, () => { coming = null; });
    coming.then(() => { if (firstRun) draw(); });
}

/// The view: `{ node, end }`. `suggest(text)` puts a text into the composer.
export function welcome(suggest) {
    const life = lifetime();
    const node = h("section.welcome");
    let drawn = "";
    let steps = null;
    const show = (name, parts) => {
        if (drawn === name) return;
        drawn = name;
        steps = null;
        fill(node, parts());
    };
    const draw = () => {
        if (canAnswer()) return show("ready", () => ready(suggest));
        if (!library || !home || (rows.size === 0 && library.isRefreshing)) return show("wait", reading);
        if (!firstRun) {
            show("wait", reading);
            return loadFirstRun(draw);
        }
        drawn = "first run";
        steps ??= firstRun.firstRun(node);
        return steps.draw();
    };
    life.add(homeChanged.on(draw));
    life.add(libraryChanged.on(draw));
    life.add(rowChanged.on(draw));
    readLibrary().then(draw, () => {});
    draw();
    return { node, end: life.end };
}

const reading = () => [h("img.hero", { src: "/page/icon.svg", alt: "", width: 64, height: 64 }), h("h2", t("welcome.title")),
    h("p.lead", t("welcome.reading"), h("span.spinner"))];

function ready(suggest) {
    const words = ["plan", "explain", "note", "write"];
    return [
        h("h2", t("welcome.ask")),
        h("div.suggestions", words.map((word) => h("button.suggestion", { type: "button", onclick: () => suggest(t(`suggest.${word}`)) },
            t(`suggest.${word}`)))),
    ];
}

/// The banner above a conversation without a model that can answer: `{ node, end }`.
export function modelBanner() {
    const life = lifetime();
    const node = h("div.note.warning.model-banner", { hidden: true });
    const draw = () => {
        const isNeeded = home && library && !canAnswer() && !home.activation?.isLoading;
        if (!isNeeded) set(node, { hidden: true });
        else if (!firstRun) loadFirstRun(draw);
        else {
            firstRun.fillBanner(node);
            set(node, { hidden: false });
        }
    };
    life.add(homeChanged.on(draw));
    life.add(libraryChanged.on(draw));
    draw();
    return { node, end: life.end };
}
