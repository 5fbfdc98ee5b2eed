// The contacts by name.
import { h, fill } from "../kit/dom.js";
import { get } from "../kit/api.js";
import { t } from "../kit/texts.js";
import { changes, editRecord, emptyNote, recordRow, unreadableNote } from "./records.js";

export const canSearch = true;

const initials = (name) => [...name.matchAll(/(?:^|\s)(\p{L})/gu)].map(([, letter]) => letter).slice(0, 2).join("").toUpperCase() || "·";

/// Draws the contacts that contain the words `query`.
export async function draw(body, query) {
    const read = () => draw(body, query);
    const reply = await get(`/stores/contacts?q=${encodeURIComponent(query)}`);
    const list = [...reply.contacts].sort((a, b) => a.name.localeCompare(b.name));
    fill(body, unreadableNote("contacts", reply.unreadable), list.length === 0 ? emptyNote("contacts", query)
        : h("ul.rows", { role: "list" }, list.map((contact) => recordRow({
            before: h("span.avatar", { "aria-hidden": "true" }, initials(contact.name)),
            title: contact.name,
            caption: [contact.organization, ...contact.numbers.map(({ value }) => value), ...contact.mails.map(({ value }) => value)].filter(Boolean).join(" · "),
            detail: contact.note,
            open: () => edit(contact, read),
        }))));
}

/// Opens the form of a new contact.
export const add = (read) => edit(null, read);

/// Opens the form of a contact.
export const open = (contact, read) => edit(contact, read);

// Labels of numbers and mails stay with the value that they have in the same line.
const lines = (entries) => (entries ?? []).map((entry) => (entry.label ? `${entry.label}: ${entry.value}` : entry.value)).join("\n");

const labelled = (text) => text.split("\n").map((line) => line.trim()).filter(Boolean).map((line) => {
    const [, label, value] = /^([^:@\d]{1,20}):\s*(.+)$/.exec(line) ?? [];
    return label ? { label, value } : { label: "", value: line };
});

function edit(contact, read) {
    editRecord({
        store: "contacts", id: contact?.id, read,
        title: t(contact ? "stores.contacts.edit" : "stores.contacts.add"),
        fields: [
            { name: "name", label: t("field.name"), type: "text", value: contact?.name, required: true },
            { name: "nicknames", label: t("field.nicknames"), type: "text", value: (contact?.nicknames ?? []).join(", ") },
            { name: "numbers", label: t("field.numbers"), type: "long", value: lines(contact?.numbers), hint: t("field.numbers.hint") },
            { name: "mails", label: t("field.mails"), type: "long", value: lines(contact?.mails) },
            { name: "organization", label: t("field.organization"), type: "text", value: contact?.organization },
            { name: "birthday", label: t("field.birthday"), type: "text", value: contact?.birthday, hint: t("field.birthday.hint") },
            { name: "note", label: t("field.notes"), type: "long", value: contact?.note },
        ],
        toBody: (values) => changes(contact, {
            ...values, numbers: labelled(values.numbers),
            nicknames: values.nicknames.split(",").map((name) => name.trim()).filter(Boolean),
            mails: labelled(values.mails),
        }),
    });
}
