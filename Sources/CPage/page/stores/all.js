// All kinds of records in one list, by kind: what comes next without words, and what contains the words.
import { h, fill } from "../kit/dom.js";
import { get } from "../kit/api.js";
import { icon } from "../kit/icons.js";
import { day, dayAndTime } from "../kit/format.js";
import { t } from "../kit/texts.js";
import { emptyNote, isDay, momentDate } from "./records.js";

export const canSearch = true;

/// The most records of a kind.
const limit = 8;
// The kinds that are left out.
const hidden = new Set();

const named = (time) => { const date = momentDate(time); return date ? (isDay(time) ? day(date) : dayAndTime(date)) : ""; };
const inDays = (days) => new Date(Date.now() + days * 86_400_000).toISOString();

/// Each kind reads its records as `{ title, caption }`.
const kinds = {
    async calendar(words) {
        const { occurrences } = await get(`/stores/calendar?from=${inDays(words ? -365 : 0)}&until=${inDays(words ? 430 : 30)}&limit=${limit}&q=${words}`);
        return occurrences.map(({ event, start }) => ({ title: event.title, caption: [named(start), event.location].filter(Boolean).join(" · ") }));
    },
    async reminders(words) {
        const { reminders } = await get(`/stores/reminders?limit=${limit}&q=${words}`);
        return reminders.map(({ title, due, list }) => ({ title, caption: [named(due), list].filter(Boolean).join(" · ") }));
    },
    async notes(words) {
        const { notes } = await get(`/stores/notes?limit=${limit}&q=${words}`);
        return notes.map(({ title, changed }) => ({ title, caption: day(new Date(changed)) }));
    },
    async contacts(words) {
        const { contacts } = await get(`/stores/contacts?limit=${limit}&q=${words}`);
        return contacts.map(({ name, organization, numbers }) => ({ title: name, caption: [organization, numbers?.[0]?.value].filter(Boolean).join(" · ") }));
    },
    async habits(words) {
        const { habits } = await get(`/stores/habits?limit=${limit}&q=${words}`);
        return habits.map(({ name, frequency }) => ({ title: name, caption: t(`habit.${frequency}`) }));
    },
};

/// Draws the records of all kinds that contain the words `query`.
export async function draw(body, query) {
    const read = () => draw(body, query);
    const shown = Object.keys(kinds).filter((kind) => !hidden.has(kind));
    const found = await Promise.all(shown.map(async (kind) => [kind, await kinds[kind](encodeURIComponent(query))]));
    const sections = found.filter(([, list]) => list.length > 0).map(([kind, list]) => h("section",
        h("h2.day", t(`stores.${kind}`)),
        h("ul.rows", { role: "list" }, list.map(({ title, caption }) => h("li.row", h("span.row-icon", icon(kind)),
            h("a.row-open", { href: `#/stores/${kind}/${encodeURIComponent(title)}` },
                h("span.name", { dir: "auto" }, title), caption && h("span.caption", { dir: "auto" }, caption)))))));
    fill(body,
        h("div.chips", { role: "group", "aria-label": t("stores.kinds") }, Object.keys(kinds).map((kind) => h("button.chip", {
            type: "button", "aria-pressed": String(!hidden.has(kind)),
            onclick: () => { if (!hidden.delete(kind)) hidden.add(kind); read(); },
        }, icon(kind), t(`stores.${kind}`)))),
        sections.length > 0 ? sections : emptyNote("all", query));
}
