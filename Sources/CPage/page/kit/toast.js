// Short news at the edge of the page, and the two live regions for screen readers.
import { h, fill, text } from "./dom.js";
import { icon } from "./icons.js";
import { t } from "./texts.js";

let polite;
let urgent;

function regions() {
    if (polite) return;
    polite = h("div.sr", { role: "status", "aria-live": "polite" });
    urgent = h("div.sr", { role: "alert" });
    document.body.append(polite, urgent);
}

/// Says a sentence to screen readers only.
export function announce(sentence) {
    regions();
    text(polite, sentence);
}

const openDialogs = () => [...document.querySelectorAll("dialog:modal")];
const place = () => document.getElementById("news");

/// Takes the news out of a dialog that closes.
export function moveToasts(dialog) {
    const list = document.getElementById("toasts");
    if (dialog.contains(list)) place().prepend(list);
}

/// Shows news for some seconds, with one action such as Undo. News with an action stay longer.
export function toast(sentence, { action, run, isError = false } = {}) {
    regions();
    text(isError ? urgent : polite, sentence);
    const close = () => box.remove();
    const box = h("div.toast", { class: isError ? "error" : "" },
        h("p", { dir: "auto" }, sentence),
        action && h("button.quiet", { onclick: () => { close(); run(); } }, action),
        h("button.icon-button", { onclick: close, "aria-label": t("close") }, icon("close")));
    // News stand in the page and cover nothing; only an open dialog can be clicked, so that they stand in it.
    const list = document.getElementById("toasts");
    (openDialogs().at(-1)?.querySelector(".dialog-body") ?? place()).prepend(list);
    list.append(box);
    while (list.children.length > 3) list.firstElementChild.remove();
    setTimeout(close, action || isError ? 12_000 : 5_000);
}

/// Shows the sentence and the remedy of an error.
export function showError(error) {
    console.debug(error);
    toast(error.sentence ?? t("error.page", { reason: error.message }), { isError: true });
}

/// Runs an action of a button: while it runs the button is off, and an error is shown.
export async function perform(button, work) {
    if (button?.getAttribute("aria-busy") === "true") return undefined;
    button?.setAttribute("aria-busy", "true");
    try {
        return await work();
    } catch (error) {
        showError(error);
        return undefined;
    } finally {
        button?.removeAttribute("aria-busy");
    }
}

/// Shows or hides the line at the top of the page, such as that of a lost connection.
export function banner(kind, ...children) {
    const bar = document.getElementById("banner");
    bar.className = kind ?? "";
    fill(bar, ...children);
}
