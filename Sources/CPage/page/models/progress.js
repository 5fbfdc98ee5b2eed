// A download as people see it: name, cancel, bar, percentage, bytes, rate, time left. Used in lists, as a sheet, and in
// the navigation.
import { debounced, fill, h, set, text } from "../kit/dom.js";
import { icon } from "../kit/icons.js";
import { t } from "../kit/texts.js";
import { bytes, decimal, percent, seconds } from "../kit/format.js";
import { openDialog } from "../kit/dialog.js";
import { announce } from "../kit/toast.js";
import { isMoving, keptBytes, libraryChanged, movingRows, rowChanged } from "../data/library.js";
import { cancel, download, pause } from "./download.js";

/// The phase of a download in a word: "Downloading", "Verifying", "Waiting: Wi-Fi required".
export function phaseText(row) {
    const { phase = "downloading", attempt, attempts, waitingFor, repeatedBytes } = row.download ?? {};
    if (phase === "retrying") return t("phase.retrying", { attempt: attempt ?? 2, attempts: attempts ?? 3 });
    if (row.state === "waiting" && waitingFor) return t("phase.waiting-for", { reason: t(`phase.hold.${waitingFor}`) });
    if (row.state === "waiting" && phase !== "paused") return t("phase.waiting");
    if (repeatedBytes && ["connecting", "downloading"].includes(phase)) return t("phase.again");
    return t(`phase.${phase}`);
}

/// Bytes of bytes, such as `812.0 MB of 1.9 GB`.
export function bytesText(row) {
    const { completedBytes, repeatedBytes = 0, totalBytes } = row.download ?? {};
    if (completedBytes === undefined) return "";
    const total = totalBytes ?? row.sizeBytes;
    const done = bytes(Math.max(0, completedBytes - repeatedBytes));
    return total ? t("download.bytes", { done, total: bytes(total) }) : done;
}

/// Rate and time left, such as `3.2 MB/s, 8 seconds left`.
export function paceText(row) {
    const { bytesPerSecond, secondsLeft } = row.download ?? {};
    return [
        bytesPerSecond ? `${bytes(bytesPerSecond)}/s` : null,
        secondsLeft !== undefined && secondsLeft !== null ? t("download.left", { time: seconds(secondsLeft) }) : null,
    ].filter(Boolean).join(", ");
}

/// The progress view: `{ node, update(row) }`. With `isSheet` its buttons have words.
export function progressView(row, { isSheet = false } = {}) {
    let current = row;
    let told = -1;
    const caption = h("p.caption");
    const name = h("p.name", { dir: "auto" });
    const bar = h("div.bar", { role: "progressbar", "aria-valuemin": 0, "aria-valuemax": 100 }, h("div.bar-fill"));
    const part = h("span");
    const size = h("span");
    const pace = h("p.caption.pace");
    const cancelButton = h("button", {
        type: "button", class: isSheet ? "" : "icon-button", "aria-label": t("download.cancel"), title: t("download.cancel"),
        onclick: () => cancel(current),
    }, isSheet ? t("download.cancel") : icon("close"));
    const pauseButton = h("button", {
        type: "button", class: isSheet ? "" : "icon-button", onclick: () => (isMoving(current) ? pause(current) : download(current)),
    });
    const node = h("section.progress", { class: isSheet ? "in-sheet" : "", "aria-label": t("phase.downloading") },
        h("div.progress-head", h("div.grow", caption, name), !isSheet && [pauseButton, cancelButton]),
        bar,
        h("div.progress-foot", part, size),
        pace,
        isSheet && h("div.buttons", pauseButton, h("span.spring"), cancelButton));
    const update = (next) => {
        current = next;
        const fraction = next.progress ?? 0;
        const isKnown = next.progress !== null && next.progress !== undefined;
        text(caption, phaseText(next));
        text(name, next.name);
        text(part, isKnown ? percent(fraction) : "");
        text(size, bytesText(next) || bytes(next.sizeBytes));
        text(pace, paceText(next) || " ");
        bar.firstChild.style.inlineSize = `${fraction * 100}%`;
        bar.classList.toggle("unknown", !isKnown);
        set(bar, { "aria-valuenow": isKnown ? Math.floor(fraction * 100) : null, "aria-label": next.name });
        const label = t(isMoving(next) ? "download.pause" : "download.resume");
        if (pauseButton.dataset.label !== label) {
            pauseButton.dataset.label = label;
            set(pauseButton, { "aria-label": label, title: label });
            fill(pauseButton, isSheet ? label : icon(isMoving(next) ? "pause" : "play"));
        }
        // Screen readers hear every tenth.
        const tenth = Math.floor(fraction * 10);
        if (tenth > told && told >= 0) announce(t("download.spoken", { name: next.name, percent: tenth * 10 }));
        told = next.download?.repeatedBytes ? tenth : Math.max(told, tenth);
    };
    update(row);
    return { node, update };
}

/// Opens the sheet of a download; it closes when the download ends.
export function openSheet(row) {
    const view = progressView(row, { isSheet: true });
    const ends = [rowChanged.on((next) => {
        if (next.id !== row.id) return;
        if (["downloaded", "not-downloaded", "failed"].includes(next.state) && !keptBytes(next)) dialog.close();
        else view.update(next);
    })];
    const dialog = openDialog({
        title: t("download.title"), kind: "sheet", body: view.node, onclose: () => { for (const end of ends) end(); },
    });
}

/// The button in the navigation that shows the farthest download on every screen that does not display it anyway.
export function downloadPill() {
    const label = h("span");
    const ring = h("span.ring");
    const pill = h("button.pill", { type: "button", hidden: true, onclick: () => { const [row] = movingRows(); if (row) openSheet(row); } }, ring, label);
    const update = () => {
        const [row] = movingRows();
        const isShown = !row || document.querySelector("#main section.progress") !== null;
        set(pill, { hidden: isShown });
        if (isShown) return;
        text(label, t("download.pill", { name: row.name, percent: percent(row.progress ?? 0) }));
        ring.style.setProperty("--part", `${(row.progress ?? 0) * 100}%`);
    };
    // The screens are drawn after the row and the address have changed.
    const updateSoon = debounced(update, 50);
    rowChanged.on(updateSoon);
    libraryChanged.on(updateSoon);
    addEventListener("screenshown", updateSoon);
    updateSoon();
    return pill;
}

/// The downloads on their way, as a list of progress views: `{ node, end }`.
export function activeDownloads() {
    const node = h("div.active-downloads");
    const views = new Map();
    const update = () => {
        const moving = movingRows();
        for (const [id, view] of views) {
            if (moving.some((row) => row.id === id)) continue;
            view.node.remove();
            views.delete(id);
        }
        for (const row of moving) {
            const view = views.get(row.id);
            if (view) view.update(row);
            else {
                const made = progressView(row);
                views.set(row.id, made);
                node.append(made.node);
            }
        }
    };
    const ends = [rowChanged.on((row) => { if (isMoving(row) || views.has(row.id)) update(); }), libraryChanged.on(update)];
    update();
    return { node, end: () => { for (const end of ends) end(); } };
}
