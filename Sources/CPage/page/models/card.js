// The card of a model: icon, name, badges, description, size, memory, state. The whole card selects a model that is here;
// the other actions are buttons on it.
import { h, fill, set, text } from "../kit/dom.js";
import { icon } from "../kit/icons.js";
import { sentenceOf } from "../kit/refusals.js";
import { t, tOr } from "../kit/texts.js";
import { showError } from "../kit/toast.js";
import { bytes } from "../kit/format.js";
import { isMoving, isPaused, keptBytes } from "../data/library.js";
import { phaseText } from "./progress.js";
import { cancel, change, download, select } from "./download.js";
import { summaryOf } from "./summary.js";

/// The state in a few words, in the language of the page. The figures of a download on its way stand in its progress.
export function stateText(row) {
    if (row.isBeingDeleted) return t("state.deleting");
    const kept = keptBytes(row);
    switch (row.state) {
        case "downloading":
        case "waiting": return isPaused(row) ? pausedText(row, kept) : phaseText(row);
        case "update-available": return kept ? pausedText(row, kept) : t("state.update", { version: row.update ?? "" });
        case "failed":
        case "incompatible": return sentenceOf({ code: row.code, message: row.detail });
        case "not-downloaded": return kept ? pausedText(row, kept) : t("state.not-downloaded");
        default:
            if (row.isLoaded) return t("state.loaded");
            return t(row.presence === "bundled" ? "state.bundled" : "state.downloaded");
    }
}

const pausedText = (row, kept) => (row.state === "waiting" ? `${t("phase.paused")} · ` : "") + t("state.kept", { bytes: bytes(kept) });

/// A classifier on this device answers no questions: it reads pictures.
const isClassifier = (row) => row.role === "classifier" && row.isUsable && row.state !== "failed";

const isChosen = (row) => row.isSelected || row.isDefault || row.isDefaultVision;

/// Whether the whole card is a button: it selects a model, or leads to the screen that reads pictures. What brings bytes
/// over the network is a button of its own.
const canTap = (row) => isClassifier(row) || (row.action === "select" && !row.isBeingDeleted);

function tap(row) {
    if (isClassifier(row)) location.hash = "#/read";
    else if (!isChosen(row)) select(row, row.role === "vision" ? "vision" : undefined);
}

const tapLabel = (row) => (isClassifier(row) ? t("card.read", { name: row.name })
    : t(isChosen(row) ? "card.chosen" : "card.select", { name: row.name }));

/// The card of a row: `{ node, update(row) }`. Elements that stay keep their focus.
export function modelCard(row) {
    let current = row;
    const mark = h("span.model-icon");
    const name = h("span.model-name", { dir: "auto" });
    const button = h("button.model-tap", { type: "button", onclick: () => tap(current) });
    const badges = h("span.badges");
    const summary = h("p.model-summary", { dir: "auto" });
    const figures = h("p.model-figures");
    const state = h("p.model-state", { dir: "auto" });
    const status = h("span.model-status");
    const actions = h("div.model-actions");
    const more = h("button.icon-button", {
        type: "button", onclick: () => import("./manage.js").then(({ manage }) => manage(current), showError),
    }, icon("more"));
    const box = h("div.model", { role: "group" }, mark, h("div.model-body", h("h3", name, button, badges), summary, figures, state, actions),
        h("div.model-side", status, more));
    const node = h("li", box);
    const drawn = {};
    const redraw = (part, key, draw) => {
        if (drawn[part] === key) return;
        drawn[part] = key;
        draw();
    };
    const update = (next) => {
        current = next;
        box.dataset.state = next.state;
        box.classList.toggle("chosen", Boolean(isChosen(next)));
        box.classList.toggle("incompatible", next.state === "incompatible");
        set(box, { "aria-label": next.name, "aria-disabled": next.state === "incompatible" ? "true" : null });
        redraw("mark", next.state, () => fill(mark, icon(next.state)));
        text(name, next.name);
        text(button, next.name);
        set(name, { hidden: canTap(next) });
        set(button, {
            hidden: !canTap(next), "aria-label": canTap(next) ? tapLabel(next) : null,
            "aria-pressed": next.action === "select" && !isClassifier(next) ? String(Boolean(isChosen(next))) : null,
        });
        set(more, { "aria-label": t("card.more", { name: next.name }), title: t("card.more.short") });
        redraw("badges", `${next.badges.join()}|${next.format}|${next.catalog?.kind}|${next.catalog?.tools}`, () => fill(badges,
            next.badges.map((badge) => h("span.badge", { class: badge }, tOr(`badge.${badge}`, badge))),
            ["code", "embeddings"].includes(next.catalog?.kind) && h("span.badge", t(`badge.${next.catalog.kind}`)),
            next.catalog?.tools === "yes" && h("span.badge", { title: t("badge.tools.title") }, t("badge.tools")),
            next.format === "mlx" && h("span.badge.mlx", { title: t("badge.mlx.title") }, "MLX")));
        text(summary, summaryOf(next));
        redraw("figures", `${next.sizeBytes}|${next.memoryBytes}|${next.version}|${next.presence}`, () => fill(figures,
            next.sizeBytes > 0 && h("span", { title: t("card.size") }, icon("download"), sizeText(next)),
            next.memoryBytes > 0 && h("span", { title: t("card.memory") }, icon("memory"), memoryText(next)),
            next.catalog?.tokensPerSecond > 0 && next.catalog.fits && h("span", t("card.speed", { n: Math.round(next.catalog.tokensPerSecond) })),
            next.catalog && h("span", { title: t("manage.license") }, next.catalog.license),
            h("span.version", [isFromCatalog(next) ? null : next.version, next.variant].filter(Boolean).join(" · "))));
        text(state, stateText(next));
        redraw("status", `${isMoving(next)}|${next.state}|${isChosen(next)}`, () => fill(status, statusMark(next)));
        const kinds = actionKinds(next);
        redraw("actions", `${kinds.join()}|${next.name}|${next.update}|${next.sizeBytes}`, () => fill(actions, kinds.map((kind) => actionButton(kind, () => current))));
    };
    update(row);
    return { node, update };
}

function statusMark(row) {
    if (isMoving(row)) return h("span.spinner");
    if (row.state === "failed") return icon("failed");
    if (isClassifier(row)) return icon("eye");
    if (row.action === "select" || row.isUsable) return isChosen(row) ? icon("downloaded") : icon("circle");
    return null;
}

/// The actions beside the tap, by the state of a row. A download on its way has its actions in its progress.
function actionKinds(row) {
    if (row.isBeingDeleted || isMoving(row)) return [];
    if (row.state === "failed") return row.keptBytes || row.download ? ["retry", "discard"] : ["retry"];
    if (keptBytes(row)) return ["resume", "discard"];
    if (row.state === "update-available") return ["update"];
    return row.action === "download" ? ["download"] : [];
}

/// Whether the facts of a row are those of the catalog: estimates.
const isFromCatalog = (row) => Boolean(row.catalog) && row.presence === "none" && !row.download && !row.keptBytes;

/// The size of a download; of a model of the catalog an estimate.
export const sizeText = (row) => (isFromCatalog(row) ? t("card.about", { size: bytes(row.sizeBytes) }) : bytes(row.sizeBytes));

/// The text of the button that brings an update, with its size if it is known.
export const updateLabel = ({ update: version, sizeBytes }) => sizeBytes
    ? t("card.update", { version, size: bytes(sizeBytes) }) : t("card.update.plain", { version });

/// The memory that a model needs.
export const memoryText = ({ memoryBytes }) => `${bytes(memoryBytes)} RAM`;

function actionButton(kind, row) {
    const button = (label, run, classes = "", name = null) =>
        h("button.small", { type: "button", class: classes, "aria-label": name, onclick: () => run(row()) }, label);
    const { name, sizeBytes } = row();
    switch (kind) {
        case "download": return button(t("card.get"), (current) => download(current), "primary",
            t("card.download", { name, size: sizeBytes ? `, ${sizeText(row())}` : "" }));
        case "resume": return button(t("download.resume"), (current) => download(current), "primary");
        case "discard": return button(t("download.discard"), cancel);
        case "retry": return button(t("retry"), (current) => download(current), "primary", t("card.retry", { name }));
        case "update": return button(updateLabel(row()),
            (current) => download(current), "primary");
        default: return button(kind, (current) => change(current, kind));
    }
}
