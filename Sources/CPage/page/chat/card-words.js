// The words of a card in the language of the page, made from its codes; an action of an app has its own words.
import { language, t, tOr } from "../kit/texts.js";
import { momentDate, isDay } from "../stores/records.js";

/// What the action does.
export const titleOf = (card) => (card.code ? tOr(`action.${card.code}`, card.title) : card.title);

/// The name of a value.
export const labelOf = (card, field) => (card.code ? tOr(`card.field.${card.code}.${field.name}`, tOr(`card.field.${field.name}`, field.label)) : field.label);

const dayForm = { weekday: "short", day: "numeric", month: "short", year: "numeric" };
const timeForm = { hour: "numeric", minute: "2-digit" };

/// A time or a day.
function timeWords(text) {
    const date = momentDate(text);
    return date.toLocaleString(language, isDay(text) ? dayForm : { ...dayForm, ...timeForm });
}

/// A time with its end; the end of whole days is the day after the last.
function periodWords(text) {
    const [start, end] = text.split("/");
    if (!end) return timeWords(start);
    const [from, until] = [momentDate(start), momentDate(end)];
    if (isDay(start)) until.setDate(until.getDate() - 1);
    return new Intl.DateTimeFormat(language, isDay(start) ? dayForm : { ...dayForm, ...timeForm }).formatRange(from, until);
}

function alarmWords(minutes) {
    if (minutes === 0) return t("alarm.now");
    const [unit, count] = minutes % 1440 === 0 ? ["days", minutes / 1440] : minutes % 60 === 0 ? ["hours", minutes / 60] : ["minutes", minutes];
    return t(`alarm.${unit}`, { n: count });
}

/// The text of a value; a promise for a repetition, whose words are loaded when they are needed.
export function valueOf(field) {
    const { name, raw, value } = field;
    if (!raw) return value;
    try {
        switch (name) {
        case "start": return periodWords(raw);
        case "due": case "end": case "from": case "to": case "date": return timeWords(raw);
        case "recurrence": return import("../stores/repetition.js").then(({ ruleWords }) => ruleWords(raw));
        case "alarmMinutes": return alarmWords(Number(raw));
        case "priority": return t(`priority.${Number(raw) < 5 ? "high" : Number(raw) === 5 ? "medium" : "low"}`);
        case "frequency": return t(`habit.${raw}`);
        case "amount": return Number(raw).toLocaleString(language);
        default: return value;
        }
    } catch {
        return value;
    }
}

/// The note: its sentences in the language of the page, if all of them have names; otherwise as the server wrote it.
export function noteOf(card) {
    const remarks = card.remarks ?? [];
    if (remarks.map((remark) => remark.text).join(" ") !== (card.note ?? "")) return card.note ?? "";
    return remarks.map((remark) => {
        const values = remark.values ?? [];
        if (remark.code === "same-time") return sameTime(values);
        return tOr(`remark.${remark.code}`, remark.text).replace("{value}", () => values.join(", "));
    }).join(" ");
}

// Titles and times in turn, and the number of further events behind them.
function sameTime(values) {
    const more = values.length % 2 === 1 ? Number(values.at(-1)) : 0;
    const events = Array.from({ length: Math.floor(values.length / 2) }, (_, index) => `${values[2 * index] || t("action.events")} (${periodWords(values[2 * index + 1])})`);
    return t(more > 0 ? "remark.same-time.more" : "remark.same-time", { events: events.join("; "), more });
}
