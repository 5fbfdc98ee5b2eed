// Sentences for refusals and failures of the server. The server's sentences are English; other languages have sentences by
// code in texts/, which are loaded after the first paint.
import { language, t, tOr } from "./texts.js";

let sentences = {};

/// Loads the sentences of the page's language.
export async function loadRefusals() {
    if (language !== "en") sentences = (await import(`../texts/refusals-${language}.js`)).default;
}

/// The sentence of a failure `{ code, message, remedy }`, with what to do next.
export function sentenceOf({ code, message, remedy }) {
    if (sentences[code]) return sentences[code];
    if (!remedy || !message || message.includes(remedy)) return message ?? t("error.unknown", { status: code });
    return `${message}${/[.!?…]$/.test(message) ? "" : "."} ${remedy}`;
}

/// Why an engine answers, of `{ reason, reasonText }`. The server's sentence is English, and names more than the page's.
export function reasonOf({ reason, reasonText }) {
    const own = reason ? tOr(`reason.${reason}`, "") : "";
    return (language === "en" ? reasonText || own : own || reasonText) || reason || "";
}
