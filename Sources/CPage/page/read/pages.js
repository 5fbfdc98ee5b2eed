// The pages of a reading with a box for each character: green, yellow, red. A box opens the candidates to correct it.
import { h, fill, set } from "../kit/dom.js";
import { t } from "../kit/texts.js";

const percent = (confidence) => (confidence === undefined || confidence === null ? "?" : `${Math.round(confidence * 100)} %`);

/// Shows the pages of a reply; `changed` is called after a correction.
export function pages(reply, preview, changed) {
    const cells = [];
    const panel = h("div.read-panel", { "aria-live": "polite" });

    const name = (character) => t("read.cell", {
        place: cells.indexOf(character) + 1, text: character.corrected ?? (character.text || "□"),
        verdict: t(`read.verdict.${character.corrected ? "corrected" : character.verdict}`), confidence: percent(character.confidence),
    });
    const draw = (character) => {
        character.button.className = `read-cell ${character.corrected ? "corrected" : character.verdict}`;
        set(character.button, { "aria-label": name(character), title: name(character) });
    };
    const choose = (character, text) => {
        character.corrected = text === character.text ? undefined : text;
        draw(character);
        open(character);
        changed();
    };
    const open = (character) => {
        const field = h("input", { value: character.corrected ?? character.text, maxlength: 8, "aria-label": t("read.correct"), lang: "zh" });
        const form = h("form.read-correct", { onsubmit: (event) => { event.preventDefault(); if (field.value.trim()) choose(character, field.value.trim()); } },
            field, h("button", t("save")));
        fill(panel, h("h2", { lang: "zh" }, character.corrected ?? (character.text || "□")), h("p", name(character)),
            h("ul", { role: "list", class: "read-candidates" }, character.candidates.map((candidate) => h("li",
                h("button.small", { type: "button", lang: "zh", onclick: () => choose(character, candidate.label) }, candidate.label, h("span", percent(candidate.confidence)))))),
            form);
    };
    const move = (event, character) => {
        const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
        const next = step && cells[cells.indexOf(character) + step];
        if (!next) return;
        event.preventDefault();
        next.button.focus();
    };

    const figures = reply.pages.map((page) => {
        const node = h("figure.read-page");
        node.style.aspectRatio = `${page.width} / ${page.height}`;
        if (preview) {
            const image = h("img", { src: preview, alt: t("read.scan") });
            image.addEventListener("load", () => {
                // The boxes belong to the straightened page; the picture is turned under them.
                image.style.inlineSize = `${100 * image.naturalWidth / page.width}%`;
                image.style.transform = `translate(-50%, -50%) rotate(${-page.degrees}deg)`;
            });
            node.append(image);
        }
        for (const character of reply.characters.filter((character) => character.page === page.page)) {
            cells.push(character);
            character.button = h("button", { type: "button", onclick: () => open(character), onkeydown: (event) => move(event, character) });
            Object.assign(character.button.style, {
                left: `${100 * character.x / page.width}%`, top: `${100 * character.y / page.height}%`,
                width: `${100 * character.width / page.width}%`, height: `${100 * character.height / page.height}%`,
            });
            node.append(character.button);
        }
        return node;
    });
    for (const character of cells) draw(character);
    return h("div.read-pages", h("p.read-legend", ["accepted", "uncertain", "unverified"].map((verdict) => h("span", { class: `read-key ${verdict}` }, t(`read.verdict.${verdict}`)))),
        h("div", figures), panel);
}
