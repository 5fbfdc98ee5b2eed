// The search of the Hub: the rows of `hearth search`, each with a button that downloads it.
import { fill, h } from "../kit/dom.js";
import { get, post } from "../kit/api.js";
import { icon } from "../kit/icons.js";
import { sentenceOf } from "../kit/refusals.js";
import { bytes, decimal } from "../kit/format.js";
import { language, t } from "../kit/texts.js";
import { announce, perform } from "../kit/toast.js";
import { replies } from "../data/library.js";
import { download } from "./download.js";

/// The results: `{ node, search(words), clear }`.
export function hubResults() {
    const node = h("section.hub", { hidden: true, "aria-label": t("hub.title") });
    let asked = 0;
    const clear = () => {
        asked += 1;
        node.hidden = true;
        fill(node);
    };
    const search = async (words) => {
        if (!words.trim()) return clear();
        const number = ++asked;
        node.hidden = false;
        fill(node, h("h2", t("hub.title")), h("p.muted", { role: "status" }, t("hub.asking"), " ", h("span.spinner")));
        let parts;
        try {
            const reply = await get(`/models/search?q=${encodeURIComponent(words.trim())}`);
            parts = found(reply);
            announce(reply.problem ? sentenceOf(reply.problem) : t("hub.found", { n: reply.hub.length }));
        } catch (error) {
            parts = h("p.note.error", icon("warning"), error.sentence ?? error.message);
        }
        if (number === asked) fill(node, h("h2", t("hub.title")), parts);
        return undefined;
    };
    return { node, search, clear };
}

function found({ hub, catalog, problem, estimates }) {
    if (problem) {
        return [h("p.note.warning", icon("warning"), t(problem.code === "offline" ? "hub.offline" : "hub.unreachable"), " ", sentenceOf(problem)),
            h("p.muted", t("hub.catalog-stays", { n: catalog.length }))];
    }
    if (hub.length === 0) return h("p.muted", t("hub.none"));
    return [
        estimates && h("p.note", t("hub.estimates"), " ", estimates.message),
        h("ul.rows", { role: "list" }, hub.map(hubRow)),
    ];
}

/// The quantization to display: the chosen one, else the smallest.
const shown = (row) => row.quantizations.find(({ name }) => name === row.chosen) ?? row.quantizations[0];

function hubRow(row) {
    const build = shown(row);
    const size = build?.sizeBytes ? t(build.about ? "card.about" : "hub.size", { size: bytes(build.sizeBytes) }) : null;
    const facts = [
        t("hub.downloads", { count: row.downloads.toLocaleString(language, { notation: "compact" }) }),
        t("hub.likes", { count: decimal(row.likes, 0) }),
        (row.license ?? t("hub.no-license")) + (row.gated ? `, ${t("hub.gated")}` : ""),
        [build?.name, size].filter(Boolean).join(", "),
        row.fits === false ? t("hub.too-large") : row.fits ? t("hub.fits") : null,
    ].filter(Boolean);
    const get = h("button.small.primary", {
        type: "button", "aria-label": t("card.download", { name: row.id, size: size ? `, ${size}` : "" }),
        onclick: () => perform(get, async () => {
            const take = replies();
            const reply = await post("/models/add", { reference: row.reference });
            for (const added of reply.rows) take(added);
            if (reply.rows[0]) await download(reply.rows[0]);
        }),
    }, t("card.get"));
    return h("li.row", h("div.grow", h("p.name", { dir: "auto" }, row.id), h("p.caption", { dir: "auto" }, facts.join(" · "))), row.fits !== false && get);
}
