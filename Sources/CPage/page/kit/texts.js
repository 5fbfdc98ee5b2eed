// The language of the page: one file of texts for each language, chosen by the setting or by the browser.
export const languages = { en: "English", de: "Deutsch" };

let texts = {};
let plural = new Intl.PluralRules("en");

/// The chosen language, `en` or `de`.
export let language = "en";

/// Loads the texts that every screen needs. The setting `hearth-language` wins over the languages of the browser.
export async function loadTexts() {
    const known = (tag) => languages[tag.slice(0, 2)] && tag.slice(0, 2);
    const kept = localStorage.getItem("hearth-language");
    language = (kept && known(kept)) || navigator.languages.map(known).find(Boolean) || "en";
    texts = (await import(`../texts/${language}.js`)).default;
    plural = new Intl.PluralRules(language);
    document.documentElement.lang = language;
}

const loading = new Map();

/// Loads the words of parts of the page, each once: "answer", "forms", "models", "read", "settings", "stores".
export const loadWords = (...parts) => Promise.all(parts.map((part) => {
    if (!loading.has(part)) {
        loading.set(part, import(`../texts/${part}-${language}.js`).then((module) => { Object.assign(texts, module.default); }));
        loading.get(part).catch(() => loading.delete(part));
    }
    return loading.get(part);
}));

/// A module with the words that it needs: `withWords(import("./card.js"), "forms")`.
export const withWords = (module, ...parts) => Promise.all([module, loadWords(...parts)]).then(([loaded]) => loaded);

/// Remembers a language, "" for that of the browser, and shows the page in it.
export function setLanguage(tag) {
    if (tag) localStorage.setItem("hearth-language", tag); else localStorage.removeItem("hearth-language");
    location.reload();
}

/// The text of a key with its `{values}`. If a value `n` is given, `key.one` or `key.other` is chosen by it.
export function t(key, values = {}) {
    const form = "n" in values ? texts[`${key}.${plural.select(values.n)}`] ?? texts[`${key}.other`] : undefined;
    const pattern = form ?? texts[key] ?? key;
    return pattern.replace(/\{(\w+)\}/g, (whole, name) => {
        const value = values[name];
        if (value === undefined || value === null) return whole;
        return typeof value === "number" ? value.toLocaleString(language) : value;
    });
}

/// The text of a key if there is one, otherwise `other`.
export function tOr(key, other) {
    return key in texts ? texts[key] : other;
}
