// Typed words without a model: the form of a record filled with them, and searches whose results stand above the field.
import { h, fill, debounced, set } from "../kit/dom.js";
import { get, post } from "../kit/api.js";
import { icon } from "../kit/icons.js";
import { outside } from "../kit/safe.js";
import { announce } from "../kit/toast.js";
import { language, t } from "../kit/texts.js";
import { home, readHome } from "../data/home.js";
import { ownTimeZone, recordRow } from "../stores/records.js";
import { recordKinds } from "./commands.js";

const stores = {
    calendar: () => import("../stores/calendar.js"), reminders: () => import("../stores/reminders.js"),
    notes: () => import("../stores/notes.js"), habits: () => import("../stores/habits.js"), contacts: () => import("../stores/contacts.js"),
};

/// Opens the form of a record with what the words say. Returns whether it was saved.
export async function openDraft({ name, words, isGerman }) {
    const [store, draft] = await Promise.all([
        stores[recordKinds[name]](),
        words ? post("/stores/drafts", { kind: name, text: words, now: new Date().toISOString(), zone: ownTimeZone(), language: isGerman ? "de" : language }) : undefined,
    ]);
    return new Promise((resolve) => { store.add(() => {}, draft, resolve); });
}

/// Shows a search and its results at the top of `host`, in place of an earlier one.
export function openSearch(name, words, host) {
    host.querySelector(".found")?.remove();
    const id = "found-words";
    const list = h("div.found-list");
    const field = h("input", { id, type: "search", value: words, "aria-label": t(`found.${name}`), placeholder: t(`found.${name}`), autocomplete: "off" });
    const panel = h("section.found", { "aria-label": t(`found.${name}`) },
        h("header", icon(name === "web" ? "web" : "contacts"), field,
            h("button.icon-button", { type: "button", "aria-label": t("close"), onclick: () => { panel.remove(); document.querySelector(".composer textarea")?.focus(); } }, icon("close"))),
        list);
    panel.addEventListener("keydown", (event) => { if (event.key === "Escape") panel.querySelector("header .icon-button").click(); });
    host.prepend(panel);
    let last = 0;
    const search = async () => {
        const query = field.value.trim();
        const number = ++last;
        if (!query) {
            fill(list);
            return;
        }
        set(list, { "aria-busy": "true" });
        try {
            const found = await (name === "web" ? webResults(query) : contactResults(query, search));
            if (number !== last) return;
            fill(list, found.node);
            announce(t("found.count", { n: found.count }));
        } catch (error) {
            if (number === last) fill(list, error.code === "search-off" ? searchOff() : h("p.note.error", { role: "alert" }, icon("warning"), error.sentence ?? error.message));
        } finally {
            if (number === last) set(list, { "aria-busy": null });
        }
    };
    if (name === "web") field.addEventListener("keydown", (event) => { if (event.key === "Enter") search(); });
    else field.addEventListener("input", debounced(search, 200));
    if (name === "web" && home && !home.search) {
        // The settings may have changed since.
        readHome().then(() => (home.search ? search() : fill(list, searchOff())), () => search());
    } else search();
    if (!words) field.focus();
}

/// The sentence that says how the search of the web is switched on, with its button.
const searchOff = () => h("p.note", icon("web"), h("span.grow", t("found.web-off")), h("a.button.small.primary", { href: "#/settings/tools" }, t("found.web-on")));

const none = () => h("p.muted", t("stores.no-hit"));

async function webResults(query) {
    const { results, provider } = await post("/search", { query });
    return {
        count: results.length,
        node: [results.length === 0 ? none() : h("ol.found-results", results.map(({ title, excerpt, url }) => {
            const address = url ? outside(url) : null;
            return h("li",
                address ? h("a", { href: address.href, target: "_blank", rel: "noopener noreferrer nofollow", dir: "auto" }, title || address.host) : h("strong", { dir: "auto" }, title),
                address && h("span.caption", address.host), h("p", { dir: "auto" }, excerpt));
        })), h("p.hint", t("found.from", { provider }))],
    };
}

async function contactResults(query, again) {
    const { contacts } = await get(`/stores/contacts?limit=20&q=${encodeURIComponent(query)}`);
    return {
        count: contacts.length,
        node: contacts.length === 0 ? none() : h("ul.rows", { role: "list" }, contacts.map((contact) => recordRow({
            symbol: "contacts", title: contact.name,
            caption: [contact.organization, ...[...contact.numbers, ...contact.mails].map(({ label, value }) => (label ? `${value} (${label})` : value))].filter(Boolean).join(" · "),
            detail: contact.note,
            open: () => stores.contacts().then((store) => store.open(contact, again)),
        }))),
    };
}
