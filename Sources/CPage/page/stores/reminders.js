// The reminders: open ones by due date, the completed ones behind a switch.
import { h, fill, set } from "../kit/dom.js";
import { at, get, patch, post } from "../kit/api.js";
import { day, dayAndTime, dayKey, dayWithDate, localInput } from "../kit/format.js";
import { showError } from "../kit/toast.js";
import { t } from "../kit/texts.js";
import { repetitionField, ruleWords } from "./repetition.js";
import { editRecord, emptyNote, isDay, listChoice, momentDate, offerUndo, ownTimeZone, recordRow, unreadableNote } from "./records.js";

export const canSearch = true;

// What is shown: "open", "today", "late" or "done", and the list; "" for all lists.
let shown = "open";
let shownList = "";

/// Draws the reminders that contain the words `query`.
export async function draw(body, query) {
    const read = () => draw(body, query);
    const reply = await get(`/stores/reminders?limit=1000&completed=${shown === "done"}&q=${encodeURIComponent(query)}`);
    const lists = [...new Set(reply.reminders.map(({ list }) => list))].sort();
    if (!lists.includes(shownList)) shownList = "";
    const order = (reminder) => (shown === "done" ? reminder.completed : reminder.due) ?? "9";
    const list = reply.reminders.filter((reminder) => isWanted(reminder) && (!shownList || reminder.list === shownList))
        .sort((a, b) => (order(a) < order(b) ? -1 : 1));
    if (shown === "done") list.reverse();
    const groups = new Map();
    for (const reminder of list) {
        const name = groupOf(reminder);
        groups.set(name, [...groups.get(name) ?? [], reminder]);
    }
    fill(body, unreadableNote("reminders", reply.unreadable),
        h("div.chips", { role: "group", "aria-label": t("stores.filter") },
            ["open", "today", "late", "done"].map((name) => h("button.chip", {
                type: "button", "aria-pressed": String(shown === name), onclick: () => { shown = name; read(); },
            }, t(name === "done" ? "stores.reminders.completed" : `stores.reminders.show.${name}`))),
            listChoice(lists, shownList, (value) => { shownList = value; read(); })),
        list.length === 0 ? emptyNote("reminders", query) : [...groups].map(([name, members]) => h("section",
            h("h2.day", name), h("ul.rows", { role: "list" }, members.map((reminder) => row(reminder, read))))));
}

const isToday = (due) => dayKey(due) === dayKey(new Date());
const isOverdue = (reminder, due) => due < new Date() && !(isDay(reminder.due) && isToday(due));

function isWanted(reminder) {
    const due = momentDate(reminder.due);
    switch (shown) {
        case "done": return Boolean(reminder.completed);
        case "today": return due && !reminder.completed && (isToday(due) || due < new Date());
        case "late": return due && !reminder.completed && isOverdue(reminder, due);
        default: return !reminder.completed;
    }
}

function groupOf(reminder) {
    if (shown === "done") return dayWithDate(new Date(reminder.completed));
    const due = momentDate(reminder.due);
    if (!due) return t("stores.reminders.no-date");
    return isOverdue(reminder, due) ? t("stores.reminders.late") : dayWithDate(due);
}

function row(reminder, read) {
    const due = momentDate(reminder.due);
    const isLate = due && !reminder.completed && isOverdue(reminder, due);
    const box = h("input.tick", {
        type: "checkbox", checked: Boolean(reminder.completed), "aria-label": t("stores.reminders.complete", { title: reminder.title }),
        onchange: () => {
            const call = box.checked ? post(at("stores", "reminders", reminder.id, "complete")) : patch(at("stores", "reminders", reminder.id), { completed: null });
            call.then((reply) => { offerUndo(t("stores.reminders.done"), reply.action, read); read(); }, (error) => { set(box, { checked: !box.checked }); showError(error); });
        },
    });
    const view = recordRow({
        before: box, title: reminder.title,
        caption: [due && (isDay(reminder.due) ? day(due) : dayAndTime(due)), reminder.recurrence && ruleWords(reminder.recurrence), reminder.list].filter(Boolean).join(" · "),
        after: [isLate && h("span.badge.late", t("stores.reminders.late")), reminder.priority > 0 && reminder.priority < 5 && h("span.badge", t("stores.reminders.high"))],
        open: () => edit(reminder, read),
    });
    view.classList.toggle("done", Boolean(reminder.completed));
    return view;
}

/// Opens the form of a new reminder, with the values of a draft if there is one.
export const add = (read, draft, onclose) => edit(null, read, draft, onclose);

function edit(reminder, read, draft = reminder, onclose) {
    const due = momentDate(draft?.due);
    const wasDay = isDay(draft?.due);
    const before = !due ? "" : wasDay ? dayKey(due) : localInput(due);
    editRecord({
        store: "reminders", id: reminder?.id, read, onclose,
        title: t(reminder ? "stores.reminders.edit" : "stores.reminders.add"),
        fields: [
            { name: "title", label: t("field.title"), type: "text", value: draft?.title, required: true },
            { name: "due", label: t("field.due"), type: "moment", value: before },
            { name: "isAllDay", label: t("field.all-day"), type: "boolean", value: wasDay, governs: ["due"] },
            repetitionField(draft?.recurrence),
            { name: "priority", label: t("field.priority"), type: "choice", value: String(reminder?.priority ?? 0), choices: [["0", t("priority.none")], ["1", t("priority.high")], ["5", t("priority.medium")], ["9", t("priority.low")]] },
        ],
        toBody: ({ title, due: date, isAllDay, priority, recurrence }) => ({
            title, priority: Number(priority),
            ...(date && (!reminder || date !== before) && (isAllDay ? { due: date.slice(0, 10) } : { due: new Date(date).toISOString(), timeZone: reminder?.timeZone ?? ownTimeZone() })),
            ...(!date && reminder?.due && { due: null }),
            ...(recurrence !== (reminder?.recurrence ?? "") && { recurrence: recurrence || null }),
        }),
    });
}
