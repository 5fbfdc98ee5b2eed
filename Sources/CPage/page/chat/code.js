// Colours code: the library is loaded when the first finished block with a named language is on the screen.
// A language is never guessed.
import { library } from "../kit/library.js";
import { sanitise } from "./sanitise.js";

const languages = new WeakMap();
const watcher = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
        if (!isIntersecting) continue;
        watcher.unobserve(target);
        colour(target, languages.get(target)).catch(() => {});
    }
});

/// Colours a block once it is on the screen.
export function colourWhenSeen(code, language) {
    // Above this length the colours would cost more than a frame.
    if (code.textContent.length > 30_000) return;
    languages.set(code, language.toLowerCase());
    watcher.observe(code);
}

async function colour(code, language) {
    const highlighter = await library("highlight.js");
    if (!highlighter.getLanguage(language)) return;
    const { value } = highlighter.highlight(language, code.textContent, true);
    code.replaceChildren(sanitise(value, { tags: ["span"], attributes: ["class"] }));
}
