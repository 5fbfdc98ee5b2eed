// The notes as cards, newest first.
import { h, fill } from "../kit/dom.js";
import { get } from "../kit/api.js";
import { day } from "../kit/format.js";
import { t } from "../kit/texts.js";
import { editRecord, emptyNote } from "./records.js";

export const canSearch = true;

/// Draws the notes that contain the words `query`.
export async function draw(body, query) {
    const read = () => draw(body, query);
    const { notes } = await get(`/stores/notes?limit=500&q=${encodeURIComponent(query)}`);
    fill(body, notes.length === 0 ? emptyNote("notes", query) : h("ul.note-grid", { role: "list" }, notes.map((note) => h("li",
        h("button.note-card", { type: "button", onclick: () => edit(note, read) },
            h("span.name", { dir: "auto" }, note.title),
            h("span.note-body", { dir: "auto" }, note.body),
            h("span.caption", day(new Date(note.changed))))))));
}

/// Opens the form of a new note, with the values of a draft if there is one.
export const add = (read, draft, onclose) => edit(null, read, draft, onclose);

function edit(note, read, draft = note, onclose) {
    editRecord({
        store: "notes", id: note?.id, read, onclose,
        title: t(note ? "stores.notes.edit" : "stores.notes.add"),
        fields: [
            { name: "title", label: t("field.title"), type: "text", value: draft?.title, required: true },
            { name: "body", label: t("field.text"), type: "long", value: draft?.body ?? draft?.text },
        ],
    });
}
