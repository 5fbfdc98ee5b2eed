// Theme and language of the page; both are kept in this browser.
import { h, fill } from "../kit/dom.js";
import { language, languages, setLanguage, t } from "../kit/texts.js";
import { setTheme, theme } from "../kit/theme.js";

/// The panel.
export function appearance() {
    const notices = h("div.setting-control");
    const drawNotices = () => {
        // Over plain http, browsers allow notifications on this machine alone.
        const state = !("Notification" in window) || !isSecureContext ? "impossible" : Notification.permission;
        fill(notices, state === "default" ? h("button#notices.small", { type: "button", onclick: () => Notification.requestPermission().then(drawNotices) }, t("look.notices.allow"))
            : h("output#notices.muted", t(`look.notices.${state}`)));
    };
    drawNotices();
    const row = (id, label, control) => h("div.setting", h("div.setting-words", h("label", { for: id }, label)), h("div.setting-control", control));
    return {
        node: h("div.settings",
            row("theme", t("look.theme"), h("select#theme", { onchange: (event) => setTheme(event.target.value) },
                ["", "light", "dark"].map((name) => h("option", { value: name, selected: theme() === name }, t(`look.theme.${name || "system"}`))))),
            row("language", t("look.language"), h("select#language", { onchange: (event) => setLanguage(event.target.value) },
                Object.entries(languages).map(([tag, name]) => h("option", { value: tag, selected: tag === language, lang: tag }, name)))),
            h("div.setting", h("div.setting-words", h("label", { for: "notices" }, t("look.notices")), h("p.hint", t("look.notices.hint"))), notices),
            h("div.setting", h("div.setting-words", h("label", { for: "shortcut-sheet" }, t("shortcuts.title"))), h("div.setting-control",
                h("button#shortcut-sheet.small", { type: "button", onclick: () => import("../kit/shortcut-sheet.js").then(({ openSheet }) => openSheet()) }, t("shortcuts.sheet"))))),
    };
}
