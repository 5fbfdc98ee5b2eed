// The habits with their last days; a tap on a day logs it.
import { h, fill } from "../kit/dom.js";
import { at, get, post } from "../kit/api.js";
import { icon } from "../kit/icons.js";
import { dayKey } from "../kit/format.js";
import { language, t } from "../kit/texts.js";
import { perform } from "../kit/toast.js";
import { editRecord, emptyNote, offerUndo } from "./records.js";

export const canSearch = false;

/// Draws the habits.
export async function draw(body) {
    const read = () => draw(body);
    const { habits } = await get("/stores/habits");
    fill(body, habits.length === 0 ? emptyNote("habits") : h("ul.rows", { role: "list" }, habits.map((habit) => row(habit, read))));
}

function row(habit, read) {
    const days = Array.from({ length: 7 }, (_, index) => {
        const date = new Date();
        date.setDate(date.getDate() - 6 + index);
        return date;
    });
    return h("li.row.habit",
        h("span.row-icon", icon("habits")),
        h("button.row-open", { type: "button", onclick: () => edit(habit, read) },
            h("span.name", { dir: "auto" }, habit.name),
            h("span.caption", `${t(`habit.${habit.frequency}`)} · ${t(`habit.streak.${habit.frequency}`, { n: habit.currentStreak })}`)),
        h("div.habit-days", { role: "group", "aria-label": t("habit.days", { name: habit.name }) }, days.map((date) => dayButton(habit, date, read))));
}

function dayButton(habit, date, read) {
    const key = dayKey(date);
    const amount = habit.log?.[key] ?? 0;
    const button = h("button.habit-day", {
        type: "button", "aria-pressed": String(amount > 0),
        "aria-label": `${date.toLocaleDateString(language, { weekday: "long", day: "numeric", month: "long" })}`,
        onclick: () => perform(button, async () => {
            const reply = await post(at("stores", "habits", habit.id, "log"), { day: key, amount: amount > 0 ? 0 : 1 });
            offerUndo(t(amount > 0 ? "habit.unlogged" : "habit.logged", { name: habit.name }), reply.action, read);
            await read();
        }),
    }, h("span", date.toLocaleDateString(language, { weekday: "narrow" })), amount > 0 ? icon("check") : h("i"));
    return button;
}

/// Opens the form of a new habit, with the values of a draft if there is one.
export const add = (read, draft, onclose) => edit(null, read, draft && { ...draft, name: draft.title }, onclose);

function edit(habit, read, draft = habit, onclose) {
    editRecord({
        store: "habits", id: habit?.id, read, onclose,
        title: t(habit ? "stores.habits.edit" : "stores.habits.add"),
        fields: [
            { name: "name", label: t("field.name"), type: "text", value: draft?.name, required: true },
            { name: "frequency", label: t("field.frequency"), type: "choice", value: draft?.frequency ?? "daily", choices: [["daily", t("habit.daily")], ["weekly", t("habit.weekly")]] },
        ],
    });
}
