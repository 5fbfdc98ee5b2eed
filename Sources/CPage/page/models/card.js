// The card of a model: icon, name, badges, description, size, memory, state. The whole card is one button whose action
// is that of the state; the other actions lie beside it.
import { h, fill, set, text } from "../kit/dom.js";
import { icon } from "../kit/icons.js";
import { sentenceOf } from "../kit/refusals.js";
import { t, tOr } from "../kit/texts.js";
import { bytes } from "../kit/format.js";
import { isMoving } from "../data/library.js";
import { bytesText, paceText, phaseText } from "./progress.js";
import { cancel, change, download, pause, select } from "./download.js";
import { manage } from "./manage.js";

/// The state in a few words, in the language of the page.
export function stateText(row) {
    if (row.isBeingDeleted) return t("state.deleting");
    switch (row.state) {
        case "downloading":
        case "waiting": return [phaseText(row), bytesText(row), paceText(row)].filter(Boolean).join(" · ");
        case "update-available": return t("state.update", { version: row.update ?? "" });
        case "failed":
        case "incompatible": return sentenceOf({ code: row.code, message: row.detail });
        case "not-downloaded": return row.keptBytes ? t("state.kept", { bytes: bytes(row.keptBytes) }) : t("state.not-downloaded");
        default:
            if (row.isLoaded) return t("state.loaded");
            return t(row.presence === "bundled" ? "state.bundled" : "state.downloaded");
    }
}

/// A classifier on this device answers no questions: it reads pictures.
const isClassifier = (row) => row.role === "classifier" && row.isUsable && row.state !== "failed";

const isChosen = (row) => row.isSelected || row.isDefault || row.isDefaultVision;

/// Does what a tap on the card does: download, select, lead to the screen that reads pictures, or nothing.
export function tap(row) {
    if (isClassifier(row)) return void (location.hash = "#/read");
    if (row.state === "failed" || row.action === "download") return download(row);
    if (row.action === "select" && !isChosen(row)) return select(row, row.role === "vision" ? "vision" : undefined);
    return undefined;
}

function tapLabel(row) {
    const size = row.sizeBytes ? `, ${bytes(row.sizeBytes)}` : "";
    if (isClassifier(row)) return t("card.read", { name: row.name });
    if (row.state === "failed") return t("card.retry", { name: row.name });
    if (row.action === "download") return t("card.download", { name: row.name, size });
    if (row.action === "select") return t(isChosen(row) ? "card.chosen" : "card.select", { name: row.name });
    return row.name;
}

/// The card of a row: `{ node, update(row) }`. Elements that stay keep their focus.
export function modelCard(row) {
    let current = row;
    const mark = h("span.model-icon");
    const name = h("span.model-name", { dir: "auto" });
    const button = h("button.model-tap", { type: "button", onclick: () => tap(current) }, name);
    const badges = h("span.badges");
    const summary = h("p.model-summary", { dir: "auto" });
    const figures = h("p.model-figures");
    const state = h("p.model-state", { dir: "auto" });
    const status = h("span.model-status");
    const bar = h("div.bar.thin", { "aria-hidden": "true" }, h("div.bar-fill"));
    const actions = h("div.model-actions");
    const more = h("button.icon-button", {
        type: "button", onclick: () => manage(current),
    }, icon("more"));
    const box = h("div.model", { role: "group" }, mark, h("div.model-body", h("h3", button, badges), summary, figures, state, bar, actions),
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
        set(button, {
            "aria-label": tapLabel(next), "aria-pressed": next.action === "select" && !isClassifier(next) ? String(Boolean(isChosen(next))) : null,
            "aria-disabled": next.state === "incompatible" || (isMoving(next) && !next.action) ? "true" : null,
        });
        set(more, { "aria-label": t("card.more", { name: next.name }), title: t("card.more.short") });
        redraw("badges", next.badges.join() + next.format, () => fill(badges, next.badges.map((badge) =>
            h("span.badge", { class: badge }, tOr(`badge.${badge}`, badge))),
            next.format === "mlx" && h("span.badge.mlx", { title: t("badge.mlx.title") }, "MLX")));
        text(summary, next.summary ?? "");
        redraw("figures", `${next.sizeBytes}|${next.memoryBytes}|${next.version}`, () => fill(figures,
            next.sizeBytes && h("span", { title: t("card.size") }, icon("download"), bytes(next.sizeBytes)),
            next.memoryBytes && h("span", { title: t("card.memory") }, icon("memory"), memoryText(next)),
            next.version && h("span.version", [next.version, next.variant].filter(Boolean).join(" · "))));
        text(state, stateText(next));
        redraw("status", `${isMoving(next)}|${next.state}|${isChosen(next)}`, () => fill(status, statusMark(next)));
        set(bar, { hidden: !isMoving(next) });
        bar.firstChild.style.inlineSize = `${(next.progress ?? 0) * 100}%`;
        const kinds = actionKinds(next);
        redraw("actions", kinds.join(), () => fill(actions, kinds.map((kind) => actionButton(kind, () => current))));
    };
    update(row);
    return { node, update };
}

function statusMark(row) {
    if (isMoving(row)) return h("span.spinner");
    if (row.state === "failed") return icon("failed");
    if (isClassifier(row)) return icon("eye");
    if (row.action === "select" || row.isUsable) return isChosen(row) ? icon("downloaded") : icon("circle");
    if (row.action === "download") return icon("not-downloaded");
    return null;
}

/// The actions beside the tap, by the state of a row.
function actionKinds(row) {
    if (row.isBeingDeleted) return [];
    if (isMoving(row)) return ["pause", "cancel"];
    if (row.state === "update-available") return ["update"];
    if (row.state === "failed") return row.keptBytes || row.download ? ["retry", "discard"] : ["retry"];
    if (row.state === "not-downloaded" && row.keptBytes) return ["resume", "discard"];
    return [];
}

/// The text of the button that brings an update, with its size if it is known.
export const updateLabel = ({ update: version, sizeBytes }) => sizeBytes
    ? t("card.update", { version, size: bytes(sizeBytes) }) : t("card.update.plain", { version });

/// The memory that a model needs.
export const memoryText = ({ memoryBytes }) => `${bytes(memoryBytes)} RAM`;

function actionButton(kind, row) {
    const button = (label, run, classes = "") => h("button.small", { type: "button", class: classes, onclick: () => run(row()) }, label);
    switch (kind) {
        case "pause": return button(t("download.pause"), pause);
        case "cancel": return button(t("download.cancel"), cancel);
        case "resume": return button(t("download.resume"), (current) => download(current), "primary");
        case "discard": return button(t("download.discard"), cancel);
        case "retry": return button(t("retry"), (current) => download(current), "primary");
        case "update": return button(updateLabel(row()),
            (current) => download(current), "primary");
        default: return button(kind, (current) => change(current, kind));
    }
}
