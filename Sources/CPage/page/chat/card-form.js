// The editor of an action: a form with the fields of its kind. "Approve" approves what the form shows.
import { formDialog, FieldError } from "../kit/dialog.js";
import { dayKey, localInput } from "../kit/format.js";
import { t, tOr } from "../kit/texts.js";
import { isDay, momentDate } from "../stores/records.js";
import { repetitionField } from "../stores/repetition.js";

const event = ["title", "allDay", "start", "end", "location", "recurrence", "alarmMinutes", "notes"];

// The fields of each kind of action; what a form does not name stays as the model wrote it.
const forms = {
    CALENDAR_ACTION: { create: event, update: event, delete: ["title"], list: ["from", "to"] },
    REMINDER_ACTION: { create: ["title", "due", "isAllDay", "priority", "alarmMinutes"], complete: ["title"], list: [] },
    NOTE_ACTION: { create: ["title", "body"], append: ["title", "body"], search: ["query"] },
    HABIT_ACTION: { define: ["name", "frequency"], log: ["name", "date", "amount"], list: [] },
    WEB_SEARCH: { undefined: ["query"] },
    CONTACTS_SEARCH: { undefined: ["query"] },
};

const required = new Set(["CALENDAR_ACTION.create.title", "CALENDAR_ACTION.create.start", "REMINDER_ACTION.create.title", "HABIT_ACTION.define.name", "HABIT_ACTION.log.name"]);
const times = new Set(["start", "end", "due", "from", "to"]);

/// Opens the form of a card; `approve(payload)` carries the changed values out.
export function editCard(card, approve) {
    const payload = parsed(card.payload);
    const names = payload && forms[card.tag]?.[payload.action];
    if (names?.length > 0) knownForm(card, payload, names, approve);
    else openForm(card, payload ?? {}, approve);
}

function parsed(text) {
    try {
        const value = JSON.parse(text || "{}");
        return typeof value === "object" && value && !Array.isArray(value) ? value : null;
    } catch {
        return null;
    }
}

// A time of the payload for the form. The card has the moment; the payload alone a time on the server's clock.
function timeOf(card, payload, name) {
    const raw = (card.fields ?? []).find((field) => field.name === (name === "end" ? "start" : name))?.raw;
    if (name === "end" && !payload.end) return "";
    const [first, second] = (raw ?? "").split("/");
    let text = (name === "end" ? second : first) || (typeof payload[name] === "string" ? payload[name] : "");
    if (!text) return "";
    // A day of a record's end is the one after the last.
    if (name === "end" && second && isDay(second)) text = payload.end.slice(0, 10);
    const date = momentDate(text);
    if (!date || Number.isNaN(date.getTime())) return "";
    return isDay(text) ? dayKey(date) : localInput(date);
}

const priorityOf = (value) => {
    const number = { high: 1, medium: 5, normal: 5, low: 9 }[value] ?? (Number(value) || 0);
    return String(number === 0 ? 0 : number < 5 ? 1 : number === 5 ? 5 : 9);
};

function fieldOf(card, payload, name) {
    const label = tOr(`card.field.${name}`, tOr(`field.${name}`, name));
    const common = { name, label, required: required.has(`${card.tag}.${payload.action}.${name}`) };
    if (times.has(name)) return { ...common, type: "moment", value: timeOf(card, payload, name) };
    switch (name) {
    case "allDay": return { ...common, label: t("field.all-day"), type: "boolean", value: payload.allDay === true || isDay(timeOf(card, payload, "start")), governs: ["start", "end"] };
    case "isAllDay": return { ...common, label: t("field.all-day"), type: "boolean", value: isDay(timeOf(card, payload, "due")), governs: ["due"] };
    case "recurrence": return { ...repetitionField(payload.recurrence), value: payload.recurrence ?? "" };
    case "alarmMinutes": return { ...common, label: t("field.alarm"), type: "number", minimum: 0, maximum: 40320, value: payload.alarmMinutes };
    case "amount": return { ...common, type: "number", minimum: 0, step: "any", value: payload.amount };
    case "date": return { ...common, type: "day", value: payload.date?.slice(0, 10) };
    case "priority": return { ...common, type: "choice", value: priorityOf(payload.priority), choices: [["0", t("priority.none")], ["1", t("priority.high")], ["5", t("priority.medium")], ["9", t("priority.low")]] };
    case "frequency": return { ...common, type: "choice", value: payload.frequency ?? "daily", choices: [["daily", t("habit.daily")], ["weekly", t("habit.weekly")]] };
    case "body": case "notes": return { ...common, type: "long", value: payload[name] ?? "" };
    default: return { ...common, type: "text", value: payload[name] ?? "" };
    }
}

function knownForm(card, payload, names, approve) {
    const fields = names.map((name) => fieldOf(card, payload, name));
    const before = Object.fromEntries(fields.map(({ name, value, type }) => [name, value ?? (type === "number" ? null : "")]));
    formDialog({
        title: tOr(`action.${card.code}`, t("card.edit.title")), fields, saveText: t("card.edit.save"),
        save: (values) => {
            const changed = { ...payload };
            const isDays = values.allDay ?? values.isAllDay ?? false;
            for (const [name, value] of Object.entries(values)) {
                const isTime = times.has(name);
                const hasTurned = isTime && ["allDay", "isAllDay"].some((box) => box in values && values[box] !== before[box]);
                if (name === "isAllDay" || (value === before[name] && !hasTurned)) continue;
                if (value === "" || value === null) delete changed[name];
                else if (isTime) changed[name] = isDays ? value.slice(0, 10) : `${new Date(value).toISOString().slice(0, 19)}Z`;
                else changed[name] = name === "priority" ? Number(value) : value;
            }
            return approve(JSON.stringify(changed));
        },
    });
}

// An action of an app: the names of its values, or the whole of it.
function openForm(card, payload, approve) {
    const labels = new Map((card.fields ?? []).map((field) => [field.name, field.label]));
    const isObject = (value) => typeof value === "object" && value !== null;
    const fields = (card.editable ?? []).map((name) => ({
        name, label: labels.get(name) ?? tOr(`field.${name}`, name),
        type: ["number", "boolean"].includes(typeof payload[name]) ? typeof payload[name] : ["body", "notes", "note", "text"].includes(name) ? "long" : "text",
        value: isObject(payload[name]) ? JSON.stringify(payload[name]) : payload[name],
    }));
    if (fields.length === 0) fields.push({ name: "payload", label: t("card.payload"), type: "long", value: parsed(card.payload) ? JSON.stringify(payload, null, 2) : card.payload });
    const read = (name, text) => {
        try {
            return JSON.parse(text);
        } catch {
            throw new FieldError(name, t("form.no-json"));
        }
    };
    formDialog({
        title: t("card.edit.title"), fields, saveText: t("card.edit.save"),
        save: async ({ payload: whole, ...values }) => {
            const changed = whole === undefined ? { ...payload } : read("payload", whole);
            for (const [name, value] of Object.entries(values)) {
                if (value === "" || value === null) delete changed[name];
                else changed[name] = isObject(payload[name]) ? read(name, value) : value;
            }
            await approve(JSON.stringify(changed));
        },
    });
}
