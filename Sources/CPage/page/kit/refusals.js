// Sentences for refusals and failures of the server. The server's sentences are English; other languages have sentences by
// code in texts/, which are loaded with the first refusal.
import { signal } from "./dom.js";
import { language, t, tOr } from "./texts.js";

let sentences = {};
let loading = null;

/// Emitted when the sentences have come, for what was drawn without them.
export const refusalsLoaded = signal();

/// Loads the sentences of the page's language, once; without them the server's stand.
export async function loadRefusals() {
    if (language === "en") return;
    loading ??= import(`../texts/refusals-${language}.js`).then((module) => {
        sentences = module.default;
        refusalsLoaded.emit();
    }, () => { loading = null; });
    await loading;
}

/// The sentence of a failure `{ code, message, remedy }`, with what to do next.
export function sentenceOf({ code, message, remedy }) {
    loadRefusals();
    if (sentences[code]) return sentences[code];
    if (!remedy || !message || message.includes(remedy)) return message ?? t("error.unknown", { status: code });
    return `${message}${/[.!?…]$/.test(message) ? "" : "."} ${remedy}`;
}

/// Why an engine answers, of `{ reason, reasonText }`. The server's sentence is English, and names more than the page's.
export function reasonOf({ reason, reasonText }) {
    const own = reason ? tOr(`reason.${reason}`, "") : "";
    return (language === "en" ? reasonText || own : own || reasonText) || reason || "";
}
