// The calendar: a month to choose from, and the events from the chosen day on.
import { h, fill } from "../kit/dom.js";
import { get } from "../kit/api.js";
import { icon } from "../kit/icons.js";
import { dayKey, dayWithDate, localInput, time } from "../kit/format.js";
import { language, t } from "../kit/texts.js";
import { repetitionField, ruleWords } from "./repetition.js";
import { changes, editRecord, emptyNote, isDay, listChoice, momentDate, ownTimeZone, recordRow, unreadableNote } from "./records.js";

export const canSearch = true;

let month = firstOf(new Date());
let chosen = dayKey(new Date());
// The calendar that is shown; "" for all.
let shownCalendar = "";

function firstOf(date) { return new Date(date.getFullYear(), date.getMonth(), 1); }

/// The days before and after today that a search looks at.
const searched = [365, 430];

/// Draws the month and its events, or the events that contain the words `query`.
export async function draw(body, query = "") {
    const read = () => draw(body, query);
    const today = new Date();
    const from = query ? shifted(today, -searched[0]) : gridStart();
    const until = query ? shifted(today, searched[1]) : new Date(from.getFullYear(), from.getMonth(), from.getDate() + 42);
    const reply = await get(`/stores/calendar?from=${from.toISOString()}&until=${until.toISOString()}&limit=1000&q=${encodeURIComponent(query)}`);
    const calendars = [...new Set(reply.occurrences.map(({ event }) => event.calendar))].sort();
    if (!calendars.includes(shownCalendar)) shownCalendar = "";
    const byDay = new Map();
    for (const occurrence of reply.occurrences) {
        if (shownCalendar && occurrence.event.calendar !== shownCalendar) continue;
        const start = momentDate(occurrence.start);
        const key = dayKey(start);
        byDay.set(key, [...byDay.get(key) ?? [], { ...occurrence, at: start }]);
    }
    const sorted = [...byDay.entries()].sort(([a], [b]) => (a < b ? -1 : 1));
    // A search shows what comes first, and then what has been.
    const now = dayKey(today);
    const days = query ? [...sorted.filter(([key]) => key >= now), ...sorted.filter(([key]) => key < now).reverse()].slice(0, 60)
        : sorted.filter(([key]) => key >= chosen).slice(0, 14);
    const agenda = h("div.agenda", { "aria-live": "polite" }, days.length === 0 ? emptyNote("calendar", query) : days.map(([, list]) => h("section",
        h("h2.day", dayWithDate(list[0].at)),
        h("ul.rows", { role: "list" }, list.sort((a, b) => a.at - b.at).map((occurrence) => eventRow(occurrence, read))))));
    const choice = listChoice(calendars, shownCalendar, (value) => { shownCalendar = value; read(); });
    fill(body, unreadableNote("calendar", reply.unreadable), choice && h("div.chips", choice), query ? agenda : h("div.calendar", monthGrid(from, byDay, read), agenda));
}

function gridStart() {
    const weekStart = language === "en" ? 0 : 1;
    const back = (month.getDay() - weekStart + 7) % 7;
    return new Date(month.getFullYear(), month.getMonth(), 1 - back);
}

function monthGrid(from, byDay, read) {
    const move = (step) => {
        month = new Date(month.getFullYear(), month.getMonth() + step, 1);
        chosen = dayKey(month);
        read();
    };
    const weekday = (index) => new Date(from.getFullYear(), from.getMonth(), from.getDate() + index).toLocaleDateString(language, { weekday: "short" });
    const cells = Array.from({ length: 42 }, (_, index) => {
        const date = new Date(from.getFullYear(), from.getMonth(), from.getDate() + index);
        const key = dayKey(date);
        const count = byDay.get(key)?.length ?? 0;
        return h("button.day-cell", {
            type: "button", class: date.getMonth() === month.getMonth() ? "" : "other", "aria-pressed": String(key === chosen),
            "aria-current": key === dayKey(new Date()) ? "date" : null,
            "aria-label": `${date.toLocaleDateString(language, { day: "numeric", month: "long" })}, ${t("stores.calendar.count", { n: count })}`,
            onclick: () => { chosen = key; read(); },
        }, date.getDate(), count > 0 && h("i.day-dot"));
    });
    return h("section.month", { "aria-label": t("stores.calendar.month") },
        h("div.month-head",
            h("button.icon-button", { type: "button", "aria-label": t("stores.calendar.previous"), onclick: () => move(-1) }, icon("previous")),
            h("h2", month.toLocaleDateString(language, { month: "long", year: "numeric" })),
            h("button.icon-button", { type: "button", "aria-label": t("stores.calendar.next"), onclick: () => move(1) }, icon("next"))),
        h("div.weekdays", { "aria-hidden": "true" }, Array.from({ length: 7 }, (_, index) => h("span", weekday(index)))),
        h("div.day-grid", cells));
}

function eventRow(occurrence, read) {
    const { event, at } = occurrence;
    const isAllDay = isDay(occurrence.start);
    const end = isAllDay ? null : momentDate(occurrence.end);
    return recordRow({
        before: h("span.row-time", isAllDay ? t("stores.calendar.all-day") : [h("span", time(at)), end && h("span", time(end))]),
        title: event.title,
        caption: [event.location, event.calendar].filter(Boolean).join(" · "),
        detail: event.notes,
        after: [event.recurrence && h("span.badge", { title: ruleWords(event.recurrence) }, t("stores.calendar.repeats")), event.isInvitation && h("span.badge", t("stores.calendar.invitation"))],
        open: () => edit(event, read),
    });
}

const shifted = (date, days) => new Date(date.getFullYear(), date.getMonth(), date.getDate() + days, date.getHours(), date.getMinutes());

/// Opens the form of a new event, with the values of a draft if there is one.
export const add = (read, draft, onclose) => edit(null, read, draft, onclose);

function edit(event, read, draft = event, onclose) {
    const begin = draft?.start ? momentDate(draft.start) : new Date(`${chosen}T${String(new Date().getHours() + 1).padStart(2, "0").slice(-2)}:00`);
    const start = Number.isNaN(begin.getTime()) ? new Date() : begin;
    const isAllDay = isDay(draft?.start);
    // The end of a whole day is the midnight behind it; people name the last day.
    const end = !draft?.end ? new Date(start.getTime() + (isAllDay ? 0 : 3_600_000)) : isAllDay ? shifted(momentDate(draft.end), -1) : momentDate(draft.end);
    const shown = isAllDay ? dayKey : localInput;
    // Words without a time leave it to the person.
    const isOpen = draft && !draft.start;
    const given = { start: isOpen ? "" : shown(start), end: isOpen ? "" : shown(end) };
    const moment = (value) => new Date(value).toISOString();
    editRecord({
        store: "calendar", id: event?.id, read, onclose,
        title: t(event ? "stores.calendar.edit" : "stores.calendar.add"),
        fields: [
            { name: "title", label: t("field.title"), type: "text", value: draft?.title, required: true },
            { name: "isAllDay", label: t("field.all-day"), type: "boolean", value: isAllDay, governs: ["start", "end"] },
            { name: "start", label: t("field.start"), type: "moment", value: given.start, required: true },
            { name: "end", label: t("field.end"), type: "moment", value: given.end },
            repetitionField(draft?.recurrence),
            { name: "location", label: t("field.location"), type: "text", value: draft?.location },
            { name: "alarmMinutes", label: t("field.alarm"), type: "number", value: draft?.alarmMinutes, minimum: 0 },
            { name: "notes", label: t("field.notes"), type: "long", value: draft?.notes ?? draft?.text },
        ],
        toBody: (values) => {
            const { isAllDay: _, start: from, end: until, ...words } = values;
            const hasMoved = !event || values.start !== given.start || values.end !== given.end || values.isAllDay !== isAllDay;
            const atNoon = (day) => new Date(`${day.slice(0, 10)}T12:00`);
            const times = () => (values.isAllDay
                ? { start: from.slice(0, 10), end: dayKey(shifted(atNoon(until || from), 1)) }
                : { start: moment(from), timeZone: event?.timeZone ?? ownTimeZone(), ...(until && { end: moment(until) }) });
            return { ...changes(event, words), ...(hasMoved && times()) };
        },
    });
}
