// The text of a reading, and its files: text, JSON with the corrections, PAGE XML.
import { copyText } from "../kit/clipboard.js";
import { h, text } from "../kit/dom.js";
import { save } from "../kit/files.js";
import { toast } from "../kit/toast.js";
import { t } from "../kit/texts.js";

const shown = (character) => character.corrected ?? (character.text || "□");

/// A name or text without what XML and file systems have no place for: control characters and halves of pairs.
const usable = (words) => words.replace(/[\p{Cc}\p{Cs}]/gu, "\uFFFD");

/// The lines of a reading; pages are an empty line apart.
function lines(reply) {
    return reply.pages.map((page) => {
        const rows = new Map();
        for (const character of reply.characters) {
            if (character.page === page.page) rows.set(character.line, (rows.get(character.line) ?? "") + shown(character));
        }
        return [...rows.values()].join("\n");
    }).join("\n\n");
}

function json(reply) {
    const characters = reply.characters.map(({ button, ...character }) => character);
    return JSON.stringify({ ...reply, characters }, null, 2);
}

/// PAGE XML (primaresearch.org, 2019-07-15) with a region for each page, a line for each column or row, and a glyph for each character.
function xml(reply, name) {
    const space = "http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15";
    const document = window.document.implementation.createDocument(space, "PcGts");
    const add = (parent, tag, attributes = {}, content) => {
        const element = document.createElementNS(space, tag);
        for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, usable(String(value)));
        if (content !== undefined) element.textContent = usable(content);
        parent.append(element);
        return element;
    };
    const corners = ({ x, y, width, height }) => `${x},${y} ${x + width},${y} ${x + width},${y + height} ${x},${y + height}`;
    const around = (characters) => {
        const [x, y] = [Math.min(...characters.map((c) => c.x)), Math.min(...characters.map((c) => c.y))];
        return corners({ x, y, width: Math.max(...characters.map((c) => c.x + c.width)) - x, height: Math.max(...characters.map((c) => c.y + c.height)) - y });
    };
    const said = (parent, content) => add(add(parent, "TextEquiv"), "Unicode", {}, content);
    const facts = add(document.documentElement, "Metadata");
    add(facts, "Creator", {}, "Hearth");
    for (const key of ["Created", "LastChange"]) add(facts, key, {}, new Date().toISOString());
    for (const page of reply.pages) {
        const own = reply.characters.filter((character) => character.page === page.page);
        const node = add(document.documentElement, "Page", { imageFilename: name, imageWidth: page.width, imageHeight: page.height });
        if (own.length === 0) continue;
        const region = add(node, "TextRegion", { id: `p${page.page}` });
        add(region, "Coords", { points: around(own) });
        for (const line of new Set(own.map((character) => character.line))) {
            const members = own.filter((character) => character.line === line);
            const row = add(region, "TextLine", { id: `p${page.page}l${line}` });
            add(row, "Coords", { points: around(members) });
            members.forEach((character, place) => {
                const word = add(row, "Word", { id: `p${page.page}l${line}w${place}` });
                add(word, "Coords", { points: corners(character) });
                said(word, shown(character));
            });
            said(row, members.map(shown).join(""));
        }
    }
    return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(document)}\n`;
}

/// The text with its buttons; `refresh` shows it after a correction.
export function exports(reply, name) {
    const stem = usable(name).replace(/[\\/:]/g, "_").replace(/\.[^.]*$/, "") || "page";
    const output = h("pre.read-text", { tabindex: 0, lang: "zh", "aria-label": t("read.text") });
    const refresh = () => text(output, lines(reply));
    refresh();
    const copy = async () => { await copyText(lines(reply)); toast(t("copied")); };
    return {
        refresh,
        node: h("section.read-output", { "aria-label": t("read.text") }, output, h("div.filter-row",
            h("button", { type: "button", onclick: copy }, t("copy")),
            h("button", { type: "button", onclick: () => save(new Blob([`${lines(reply)}\n`], { type: "text/plain" }), `${stem}.txt`) }, t("read.export.text")),
            h("button", { type: "button", onclick: () => save(new Blob([json(reply)], { type: "application/json" }), `${stem}.json`) }, "JSON"),
            h("button", { type: "button", onclick: () => save(new Blob([xml(reply, name)], { type: "application/xml" }), `${stem}.xml`) }, "PAGE XML"))),
    };
}
