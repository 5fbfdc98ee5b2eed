// Copies texts. Browsers give pages of plain http no clipboard API: there, a hidden field is selected and copied.
import { h } from "./dom.js";
import { t } from "./texts.js";

/// Copies a text; throws an error with a sentence if the browser refuses.
export async function copyText(text) {
    if (navigator.clipboard?.writeText) {
        try {
            return await navigator.clipboard.writeText(text);
        } catch {
            // A page without the permission can still copy a selection.
        }
    }
    copySelection(text);
}

function copySelection(text) {
    const before = document.activeElement;
    // The field lies in the open dialog: a field behind it cannot get the focus.
    const place = [...document.querySelectorAll("dialog[open]")].at(-1) ?? document.body;
    const field = h("textarea.sr", { readonly: true, "aria-hidden": "true", tabindex: -1 });
    field.value = text;
    place.append(field);
    field.select();
    field.setSelectionRange(0, text.length);
    let isCopied = false;
    try {
        isCopied = document.execCommand("copy");
    } finally {
        field.remove();
        before?.focus?.({ preventScroll: true });
    }
    if (!isCopied) throw new Error(t("copy.refused"));
}
