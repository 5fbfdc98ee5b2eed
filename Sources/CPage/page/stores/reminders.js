// The reminders: open ones by due date, the completed ones behind a switch.
import { h, fill, set } from "../kit/dom.js";
import { at, get, patch, post } from "../kit/api.js";
import { day, dayAndTime, localInput } from "../kit/format.js";
import { showError } from "../kit/toast.js";
import { t } from "../kit/texts.js";
import { editRecord, emptyNote, isDay, momentDate, offerUndo, ownTimeZone, recordRow, unreadableNote } from "./records.js";

export const canSearch = true;

let showsCompleted = false;

/// Draws the reminders that contain the words `query`.
export async function draw(body, query) {
    const read = () => draw(body, query);
    const reply = await get(`/stores/reminders?completed=${showsCompleted}&q=${encodeURIComponent(query)}`);
    const order = (reminder) => reminder.due ?? "9";
    const list = [...reply.reminders].sort((a, b) => Boolean(a.completed) - Boolean(b.completed) || (order(a) < order(b) ? -1 : 1));
    fill(body, unreadableNote(reply.unreadable),
        h("button.chip", { type: "button", "aria-pressed": String(showsCompleted), onclick: () => { showsCompleted = !showsCompleted; read(); } }, t("stores.reminders.completed")),
        list.length === 0 ? emptyNote("reminders", query) : h("ul.rows", { role: "list" }, list.map((reminder) => row(reminder, read))));
}

function row(reminder, read) {
    const due = momentDate(reminder.due);
    const isLate = due && !reminder.completed && due < new Date() && !(isDay(reminder.due) && day(due) === day(new Date()));
    const box = h("input.tick", {
        type: "checkbox", checked: Boolean(reminder.completed), "aria-label": t("stores.reminders.complete", { title: reminder.title }),
        onchange: () => {
            const call = box.checked ? post(at("stores", "reminders", reminder.id, "complete")) : patch(at("stores", "reminders", reminder.id), { completed: null });
            call.then((reply) => { offerUndo(t("stores.reminders.done"), reply.action, read); read(); }, (error) => { set(box, { checked: !box.checked }); showError(error); });
        },
    });
    const view = recordRow({
        before: box, title: reminder.title,
        caption: [due && (isDay(reminder.due) ? day(due) : dayAndTime(due)), reminder.list].filter(Boolean).join(" · "),
        after: [isLate && h("span.badge.late", t("stores.reminders.late")), reminder.priority > 0 && reminder.priority < 5 && h("span.badge", t("stores.reminders.high"))],
        open: () => edit(reminder, read),
    });
    view.classList.toggle("done", Boolean(reminder.completed));
    return view;
}

/// Opens the form of a new reminder.
export const add = (read) => edit(null, read);

function edit(reminder, read) {
    const due = momentDate(reminder?.due);
    const before = due ? localInput(due) : "";
    editRecord({
        store: "reminders", id: reminder?.id, read,
        title: t(reminder ? "stores.reminders.edit" : "stores.reminders.add"),
        fields: [
            { name: "title", label: t("field.title"), type: "text", value: reminder?.title, required: true },
            { name: "due", label: t("field.due"), type: "moment", value: before },
            { name: "priority", label: t("field.priority"), type: "choice", value: String(reminder?.priority ?? 0), choices: [["0", t("priority.none")], ["1", t("priority.high")], ["5", t("priority.medium")], ["9", t("priority.low")]] },
        ],
        toBody: ({ title, due: date, priority }) => ({
            title, priority: Number(priority),
            ...(date && date !== before && { due: new Date(date).toISOString(), timeZone: reminder?.timeZone ?? ownTimeZone() }),
            ...(!date && reminder?.due && { due: null }),
        }),
    });
}
