// Theme and language of the page; both are kept in this browser.
import { h } from "../kit/dom.js";
import { language, languages, setLanguage, t } from "../kit/texts.js";
import { setTheme, theme } from "../kit/theme.js";

/// The panel.
export function appearance() {
    const row = (id, label, control) => h("div.setting", h("div.setting-words", h("label", { for: id }, label)), h("div.setting-control", control));
    return {
        node: h("div.settings",
            row("theme", t("look.theme"), h("select#theme", { onchange: (event) => setTheme(event.target.value) },
                ["", "light", "dark"].map((name) => h("option", { value: name, selected: theme() === name }, t(`look.theme.${name || "system"}`))))),
            row("language", t("look.language"), h("select#language", { onchange: (event) => setLanguage(event.target.value) },
                Object.entries(languages).map(([tag, name]) => h("option", { value: tag, selected: tag === language, lang: tag }, name))))),
    };
}
