// The pages of a reading with a box for each character: green, yellow, red. A box opens the candidates to correct it.
import { h, fill, set, text as write } from "../kit/dom.js";
import { icon } from "../kit/icons.js";
import { t } from "../kit/texts.js";
import { crop } from "./crop.js";

const percent = (confidence) => (confidence === undefined || confidence === null ? "?" : `${Math.round(confidence * 100)} %`);
const verdicts = ["accepted", "uncertain", "verified", "unverified", "corrected"];
/// The least width of a usual box in pixels: what a finger hits. A page with smaller ones is wider than the window and scrolls.
const leastBox = 24;
const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/// The character whose box an arrow key leads to: the nearest in that direction, on the same page if there is one.
function neighbour(cells, from, [right, down]) {
    let best = null;
    let least = Infinity;
    for (const other of cells) {
        if (other === from || other.page !== from.page) continue;
        const x = other.x + other.width / 2 - from.x - from.width / 2;
        const y = other.y + other.height / 2 - from.y - from.height / 2;
        const [ahead, aside] = [x * right + y * down, Math.abs(x * down) + Math.abs(y * right)];
        if (ahead <= 0 || aside > ahead || ahead + 2 * aside >= least) continue;
        [best, least] = [other, ahead + 2 * aside];
    }
    if (best || down === 0) return best;
    const others = cells.filter((other) => (down > 0 ? other.page > from.page : other.page < from.page));
    return down > 0 ? others[0] : others.at(-1);
}

/// Shows the pages of a reply; `changed` is called after a correction.
export function pages(reply, preview, changed) {
    const cells = reply.characters;
    const places = new Map(cells.map((character, place) => [character, place + 1]));
    const panel = h("section.read-panel", { "aria-label": t("read.panel"), hidden: true });
    const text = (character) => character.corrected ?? (character.text || "□");
    const verdict = (character) => (character.corrected ? "corrected" : character.verdict);
    const name = (character) => t("read.cell", {
        place: places.get(character), text: text(character), verdict: t(`read.verdict.${verdict(character)}`), confidence: percent(character.confidence),
    });
    const draw = (character) => {
        character.button.className = `read-cell ${verdict(character)}`;
        set(character.button, { "aria-label": name(character), title: name(character) });
        // Without the picture under it, a box shows what was read.
        if (!preview) write(character.button, text(character));
    };
    // One box is a stop of the Tab key; the arrow keys lead to the others.
    let stop = null;
    const focused = (character) => {
        if (stop) stop.button.tabIndex = -1;
        stop = character;
        character.button.tabIndex = 0;
    };
    const close = (character) => {
        set(panel, { hidden: true });
        set(character.button, { "aria-expanded": "false" });
        character.button.focus();
    };
    const choose = (character, word) => {
        character.corrected = word === character.text ? undefined : word;
        draw(character);
        close(character);
        changed();
    };
    const open = (character, isByKey) => {
        // Some browsers do not focus a button that is clicked.
        focused(character);
        for (const other of cells) set(other.button, { "aria-expanded": String(other === character) });
        const field = h("input", { value: text(character), maxlength: 16, "aria-label": t("read.correct"), lang: "zh", autocomplete: "off" });
        const form = h("form.read-correct", { onsubmit: (event) => { event.preventDefault(); if (field.value.trim()) choose(character, field.value.trim()); } },
            field, h("button", t("save")));
        fill(panel,
            h("div.read-panel-head", preview && crop(preview, reply.pages.find((page) => page.page === character.page), character),
                h("h2", { lang: "zh" }, text(character)), h("p.grow", name(character)),
                h("button.icon-button", { type: "button", "aria-label": t("close"), onclick: () => close(character) }, icon("close"))),
            h("ul", { role: "list", class: "read-candidates" }, character.candidates.map((candidate) => h("li",
                h("button.small", { type: "button", lang: "zh", onclick: () => choose(character, candidate.label) }, candidate.label, h("span", percent(candidate.confidence)))))),
            form);
        set(panel, { hidden: false });
        // The panel lies over the end of the page: the box must stay in sight.
        character.button.scrollIntoView({ block: "nearest", inline: "nearest" });
        if (isByKey) panel.querySelector(".read-candidates button, input")?.focus();
    };
    panel.addEventListener("keydown", (event) => { if (event.key === "Escape" && stop) close(stop); });
    const move = (event, character) => {
        const next = event.key in arrows ? neighbour(cells, character, arrows[event.key]) : { Home: cells[0], End: cells.at(-1) }[event.key];
        if (!next) return;
        event.preventDefault();
        next.button.focus();
    };

    const figures = reply.pages.map((page) => {
        const own = cells.filter((character) => character.page === page.page);
        const node = h("figure.read-page");
        const usual = own.map((character) => character.width).sort((a, b) => a - b)[own.length >> 1] ?? page.width;
        node.style.aspectRatio = `${page.width} / ${page.height}`;
        node.style.inlineSize = `max(100%, ${Math.ceil(leastBox * page.width / usual)}px)`;
        if (preview) {
            const image = h("img", { src: preview, alt: t("read.scan") });
            image.addEventListener("load", () => {
                // The boxes belong to the straightened page; the picture is turned under them.
                image.style.inlineSize = `${100 * image.naturalWidth / page.width}%`;
                image.style.transform = `translate(-50%, -50%) rotate(${-page.degrees}deg)`;
            });
            node.append(image);
        }
        for (const character of own) {
            character.button = h("button", {
                type: "button", lang: "zh", tabindex: -1, "aria-expanded": "false", onclick: (event) => open(character, event.detail === 0),
                onkeydown: (event) => move(event, character), onfocus: () => focused(character),
            });
            Object.assign(character.button.style, {
                left: `${100 * character.x / page.width}%`, top: `${100 * character.y / page.height}%`,
                width: `${100 * character.width / page.width}%`, height: `${100 * character.height / page.height}%`,
                fontSize: `${70 * character.width / page.width}cqw`,
            });
            draw(character);
            node.append(character.button);
        }
        return h("div.read-scroll", { dir: "ltr" }, node);
    });
    if (cells.length > 0) focused(cells[0]);
    return h("div.read-pages", h("p.read-legend", verdicts.map((word) => h("span", { class: `read-key ${word}` }, t(`read.verdict.${word}`)))),
        figures, panel);
}
