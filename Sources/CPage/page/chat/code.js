// Colours code: the library is loaded when the first finished block with a named language is on the screen.
// A language is never guessed.
import { sanitise } from "./sanitise.js";

const addresses = globalThis.trustedTypes?.createPolicy("hearth", {
    createScriptURL: (address) => {
        if (address === "/page/lib/highlight.js") return address;
        throw new TypeError("not a script of this page");
    },
});

let loading = null;

function load() {
    loading ??= new Promise((resolve, reject) => {
        const script = document.createElement("script");
        script.src = addresses ? addresses.createScriptURL("/page/lib/highlight.js") : "/page/lib/highlight.js";
        script.onload = () => resolve(globalThis.hljs);
        script.onerror = () => { loading = null; reject(new Error("highlight.js")); };
        document.head.append(script);
    });
    return loading;
}

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
    const library = await load();
    if (!library.getLanguage(language)) return;
    const { value } = library.highlight(language, code.textContent, true);
    code.replaceChildren(sanitise(value, { tags: ["span"], attributes: ["class"] }));
}
