// The way from nothing to the first answer, on the page of a new conversation: choose, download, load, ask.
import { h, fill } from "../kit/dom.js";
import { icon } from "../kit/icons.js";
import { sentenceOf } from "../kit/refusals.js";
import { t } from "../kit/texts.js";
import { bytes } from "../kit/format.js";
import { home } from "../data/home.js";
import { isMoving, keptBytes, library, movingRows, rows, usableTextRows } from "../data/library.js";
import { progressView } from "../models/progress.js";
import { memoryText, modelCard, sizeText, stateText } from "../models/card.js";
import { download, select } from "../models/download.js";
import { summaryOf } from "../models/summary.js";

/// The steps in `node`: `{ draw() }`.
export function firstRun(node) {
    let view = null;
    let drawn = "";
    const parts = (step) => {
        const head = [h("img.hero", { src: "/page/icon.svg", alt: "", width: 64, height: 64 }), h("h2", t("welcome.title"))];
        if (step.name === "loading") return [head, h("p.lead", t("welcome.loading", { name: step.row?.name ?? "" })), h("div.bar.unknown", { role: "progressbar", "aria-label": t("welcome.loading", { name: "" }) }, h("div.bar-fill"))];
        if (step.name === "downloading") {
            view = progressView(step.row, { isSheet: true });
            return [head, h("p.lead", t("welcome.meanwhile")), h("div.welcome-card", view.node)];
        }
        return [head, h("p.lead", t("welcome.lead")), offer(step.row), others(step.row)];
    };
    const offer = (row) => row ? h("div.welcome-card",
        h("p.caption", t("welcome.recommended")),
        h("p.name", { dir: "auto" }, row.name),
        summaryOf(row) && h("p.muted", { dir: "auto" }, summaryOf(row)),
        row.catalog && h("p.caption", t("welcome.license", { license: row.catalog.license })),
        h("p.model-figures", row.sizeBytes > 0 && h("span", icon("download"), sizeText(row)), row.memoryBytes > 0 && h("span", icon("memory"), memoryText(row))),
        row.state === "failed" && h("p.note.error", { role: "alert" }, stateText(row)),
        h("button.primary.big", {
            type: "button", onclick: () => (row.isUsable ? select(row) : download(row)),
        }, row.isUsable ? t("welcome.use") : keptBytes(row) ? t("welcome.continue", { bytes: bytes(keptBytes(row)) }) : t("download.model")))
        : h("p.note", library?.offerProblem ? sentenceOf(library.offerProblem) : t("welcome.none"));
    const others = (first) => {
        const rest = [...rows.values()].filter((row) => row.id !== first?.id && row.role === "text" && row.state !== "incompatible" && answers(row)).slice(0, 3);
        const list = h("ul.models", { role: "list" }, rest.map((row) => modelCard(row).node));
        return [
            rest.length > 0 && h("details.more-models", h("summary", t("welcome.others")), list),
            h("p", h("a", { href: "#/models" }, t("welcome.all", { n: rows.size }))),
        ];
    };
    return {
        draw() {
            const step = stepNow();
            const { row } = step;
            const key = `${step.name}|${row?.id ?? ""}|${row?.state ?? ""}|${rows.size}`;
            if (key !== drawn) {
                drawn = key;
                view = null;
                fill(node, parts(step));
            }
            if (row) view?.update(row);
        },
    };
}

/// The step of the first run: `choose`, `downloading` or `loading`.
function stepNow() {
    const [moving] = movingRows();
    if (moving && usableTextRows().length === 0) return { name: "downloading", row: moving };
    const loading = home?.activation?.isLoading ? rows.get(home.activation.text?.id) ?? usableTextRows()[0] : null;
    if (loading || home?.firstRun?.step === "loading") return { name: "loading", row: loading };
    return { name: "choose", row: recommended() };
}

/// Whether a row is for conversations, as far as the catalog tells.
const answers = (row) => !["code", "embeddings"].includes(row.catalog?.kind);

function recommended() {
    // A download that was paused comes first: most of it may be here.
    const begun = [...rows.values()].find((row) => keptBytes(row) && !row.isUsable);
    if (begun) return begun;
    const named = rows.get(home?.firstRun?.recommended);
    if (named) return named;
    const all = [...rows.values()].filter((row) => row.role === "text" && row.state !== "incompatible" && !isMoving(row));
    return all.find((row) => row.isUsable) ?? all.find((row) => row.badges.includes("recommended")) ?? all[0];
}

/// Fills the banner above a conversation without a model that can answer.
export function fillBanner(node) {
    const [moving] = movingRows();
    const row = recommended();
    fill(node, icon("warning"), h("span.grow", t(moving ? "banner.moving" : "banner.none")),
        !moving && row && h("button.small.primary", { type: "button", onclick: () => (row.isUsable ? select(row) : download(row)) },
            row.isUsable ? t("welcome.use") : t("download.model")),
        h("a", { href: "#/models" }, t("nav.models")));
}
