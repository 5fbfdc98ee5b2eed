// What all stores share: saving with undo, deleting, rows, and the note about records that cannot be read.
import { h } from "../kit/dom.js";
import { at, get, patch, post, remove } from "../kit/api.js";
import { icon } from "../kit/icons.js";
import { formDialog, openDialog } from "../kit/dialog.js";
import { perform, showError, toast } from "../kit/toast.js";
import { t, tOr } from "../kit/texts.js";

/// Says that a change is done and offers to undo it.
export function offerUndo(sentence, action, read) {
    toast(sentence, action && {
        action: t("undo"),
        run: () => post(at("actions", action, "undo")).then(() => { toast(t("undone")); read(); }, showError),
    });
}

/// The fields that differ from the record; of a new record those with a value.
export function changes(record, values) {
    const isEmpty = (value) => value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0);
    const same = (a, b) => (isEmpty(a) && isEmpty(b)) || JSON.stringify(a) === JSON.stringify(b);
    return Object.fromEntries(Object.entries(values).filter(([name, value]) => (record ? !same(record[name], value) : !isEmpty(value))));
}

/// Opens the form of a record, new without `id`. `toBody` makes the body of the call from the values of the form;
/// `onclose(isSaved)` is called at the end.
export function editRecord({ store, id, title, fields, toBody = (values) => values, read = () => {}, onclose }) {
    const dialog = formDialog({
        title, fields, onclose,
        save: async (values) => {
            const body = toBody(values);
            const reply = id ? await patch(at("stores", store, id), body) : await post(at("stores", store), body);
            offerUndo(t("stores.saved"), reply.action, read);
            read();
        },
        extra: id ? [h("button.danger", {
            type: "button", onclick: () => remove(at("stores", store, id)).then((reply) => {
                dialog.close();
                offerUndo(t("stores.deleted"), reply.action, read);
                read();
            }, showError),
        }, icon("remove"), t("delete"))] : [],
    });
    return dialog;
}

/// The note about files of the store that are not readable; they are left as they are. Its button lists the problems.
export function unreadableNote(store, unreadable) {
    if (!(unreadable > 0)) return false;
    const show = h("button", { type: "button", onclick: () => perform(show, async () => {
        const { problems } = await get(at("stores", store, "problems"));
        showProblems(problems);
    }) }, t("stores.problems.show"));
    return h("p.note.warning", icon("warning"), h("span.grow", t("stores.unreadable", { n: unreadable })), show);
}

/// Opens the list of records that cannot be read, or that are shown otherwise than the program that wrote them shows them.
export function showProblems(problems) {
    openDialog({
        title: t("stores.problems.title"),
        body: [
            h("p", t("stores.problems.text")),
            h("ul.rows", { role: "list" }, problems.map(({ code, line, id, title, reason, file }) => h("li.row", h("span.row-icon", icon("warning")),
                h("span.row-open",
                    h("span.name", { dir: "auto" }, title || id || t("stores.problems.unnamed")),
                    h("span.caption", { dir: "auto" }, tOr(`stores.problem.${code}`, reason)),
                    h("span.caption", { dir: "auto" }, file ?? (line ? t("stores.problems.line", { n: line }) : "")))))),
        ],
    });
}

/// The choice between the calendars or lists `names`; false if there is only one.
export function listChoice(names, chosen, change) {
    return names.length > 1 && h("select.list-choice", { "aria-label": t("stores.collection"), onchange: (event) => change(event.target.value) },
        h("option", { value: "", selected: !chosen }, t("stores.collection.all")),
        names.map((name) => h("option", { value: name, selected: name === chosen }, name || t("stores.collection.none"))));
}

/// The text of an empty store.
export const emptyNote = (store, query) => h("div.empty-state", icon(store),
    h("p", t(query ? "stores.no-hit" : `stores.${store}.none`)), !query && h("p.hint", t(`stores.${store}.hint`)));

/// A row that opens its record.
export const recordRow = ({ symbol, title, caption, detail, open, before, after }) => h("li.row", before ?? h("span.row-icon", icon(symbol)),
    h("button.row-open", { type: "button", onclick: open },
        h("span.name", { dir: "auto" }, title), caption && h("span.caption", { dir: "auto" }, caption),
        detail && h("span.caption.clamp", { dir: "auto" }, detail)), after);

/// Whether a time of a record is a whole day, such as `2026-11-25`.
export const isDay = (time) => time?.length === 10;

/// The time of a record as a local date; whole days are days, not moments.
export function momentDate(time) {
    if (!time) return null;
    if (!isDay(time)) return new Date(time);
    const [year, month, day] = time.split("-").map(Number);
    return new Date(year, month - 1, day);
}

export const ownTimeZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone;
