// Dialogs: a question with named answers, a sheet with any content, and a form made from a list of fields.
import { h, fill, set } from "./dom.js";
import { icon } from "./icons.js";
import { moveToasts, showError } from "./toast.js";
import { loadWords, t, tOr } from "./texts.js";

let count = 0;

// Another screen has other dialogs: Back closes those of the screen that is left.
addEventListener("hashchange", () => { for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close(); });

/// Opens a dialog and returns it. Escape, the close button and `dialog.close()` end it; the focus goes back.
export function openDialog({ title, body, buttons = [], kind = "", onclose }) {
    const id = `dialog-${++count}`;
    const dialog = h("dialog", { class: kind, "aria-labelledby": id },
        h("header",
            h("h2", { id, dir: "auto" }, title),
            h("button.icon-button", { type: "button", "aria-label": t("close"), onclick: () => dialog.close() }, icon("close"))),
        h("div.dialog-body", body),
        buttons.length > 0 && h("footer", buttons));
    // Text that is marked from a field out onto the backdrop closes nothing.
    let isPressed = false;
    dialog.addEventListener("pointerdown", (event) => { isPressed = event.target === dialog; });
    dialog.addEventListener("click", (event) => { if (event.target === dialog && isPressed) dialog.close(); });
    dialog.addEventListener("close", () => {
        moveToasts(dialog);
        dialog.remove();
        onclose?.();
    });
    document.body.append(dialog);
    dialog.showModal();
    return dialog;
}

/// Asks a question and returns whether the answer was yes. The safe answer has the focus.
export function ask({ title, text, yes, no = t("cancel"), isDangerous = false }) {
    return new Promise((resolve) => {
        let answer = false;
        const end = (value) => { answer = value; dialog.close(); };
        const decline = h("button", { type: "button", onclick: () => end(false) }, no);
        const dialog = openDialog({
            title,
            kind: "question",
            body: h("p", { dir: "auto" }, text),
            buttons: [decline, h("button.primary", { type: "button", class: isDangerous ? "danger" : "", onclick: () => end(true) }, yes)],
            onclose: () => resolve(answer),
        });
        decline.focus();
    });
}

/// Makes the input of a field `{ name, label, type, value, choices, required, hint, placeholder }`.
export function input(field, id) {
    const common = { id, name: field.name, required: field.required || undefined, "aria-describedby": field.hint ? `${id}-hint` : undefined };
    if (field.type === "choice") {
        return h("select", { ...common }, field.choices.map((choice) => {
            const [value, label] = Array.isArray(choice) ? choice : [choice, choice];
            return h("option", { value, selected: value === (field.value ?? "") }, label);
        }));
    }
    if (field.type === "long") return h("textarea", { ...common, rows: 6, dir: "auto", value: field.value ?? "", placeholder: field.placeholder });
    if (field.type === "boolean") return h("input", { ...common, type: "checkbox", role: "switch", checked: Boolean(field.value) });
    const types = { text: "text", number: "number", day: "date", moment: "datetime-local", mail: "email", secret: "password" };
    const isDay = field.type === "moment" && field.value?.length === 10;
    return h("input", {
        ...common, type: isDay ? "date" : types[field.type] ?? "text", dir: field.type === "text" ? "auto" : undefined, value: field.value ?? "",
        placeholder: field.placeholder, min: field.minimum, max: field.maximum, step: field.step, list: field.list,
    });
}

/// A labelled row of a form. A field with `make(id)` brings its own parts: `{ node, value() }`.
export function fieldRow(field, id) {
    const problem = h("p.problem", { id: `${id}-problem` });
    if (field.make) {
        const made = field.make(id);
        return Object.assign(h("div.field", made.node, problem), { control: made.node, read: made.value, problem });
    }
    const control = input(field, id);
    const row = h("div.field", { class: field.type === "boolean" ? "switch-row" : "" },
        h("label", { for: id }, field.label),
        control,
        field.hint && h("p.hint", { id: `${id}-hint` }, field.hint),
        problem);
    return Object.assign(row, { control, read: () => valueOf(field, control), problem });
}

/// The value of a field's input: texts without blanks at their ends, booleans, numbers or null.
export function valueOf(field, control) {
    if (field.type === "boolean") return control.checked;
    if (field.type === "number") return control.value === "" ? null : Number(control.value);
    return field.type === "long" ? control.value : control.value.trim();
}

/// A wrong value of a form: the sentence is shown at the field `field`.
export class FieldError extends Error {
    constructor(field, sentence) {
        super(sentence);
        this.field = field;
    }
}

// What the browser objects to, in words; empty for nothing.
function objection(control) {
    const validity = control.validity;
    if (!validity || validity.valid) return "";
    if (validity.badInput) return t(control.type === "number" ? "form.no-number" : "form.no-time");
    if (validity.valueMissing) return t("form.missing");
    if (validity.rangeUnderflow) return t("form.too-small", { value: Number(control.min) });
    if (validity.rangeOverflow) return t("form.too-large", { value: Number(control.max) });
    return control.validationMessage;
}

// Shows times as days while the switch of a field is on; the time of day comes back with the times.
function governTimes(fields, rows) {
    for (const field of fields.filter(({ governs }) => governs)) {
        const box = rows.get(field.name).control;
        const times = new Map();
        const change = () => {
            for (const name of field.governs) {
                const control = rows.get(name).control;
                const { value } = control;
                if (value.length > 10) times.set(name, value.slice(10));
                const type = box.checked ? "date" : "datetime-local";
                if (control.type === type) continue;
                control.type = type;
                control.value = !value ? "" : box.checked ? value.slice(0, 10) : `${value.slice(0, 10)}${times.get(name) ?? "T09:00"}`;
            }
        };
        box.addEventListener("change", change);
        change();
    }
}

/// Opens a form. `save(values)` may throw an error: it is shown at its field or below, and the form stays open with
/// everything that was written. `onclose(isSaved)` is called at the end.
export function formDialog({ title, fields, save, saveText = t("save"), extra = [], note, onclose }) {
    // Its sentences about wrong values.
    loadWords("forms").catch(() => {});
    const prefix = `form-${++count}`;
    const problem = h("p.problem", { role: "alert" });
    const rows = new Map(fields.map((field) => [field.name, fieldRow(field, `${prefix}-${field.name}`)]));
    const form = h("form", { novalidate: true }, note && h("p.hint", note), [...rows.values()], problem);
    const submit = h("button.primary", { type: "submit" }, saveText);
    let isSaved = false;
    governTimes(fields, rows);
    const mark = (name, sentence) => {
        const row = rows.get(name);
        if (!row) return false;
        fill(row.problem, sentence);
        set(row.control, { "aria-invalid": sentence ? "true" : null, "aria-errormessage": sentence ? row.problem.id : null });
        return true;
    };
    const focus = (name) => {
        const { control } = rows.get(name);
        (control.matches("input, select, textarea") ? control : control.querySelector("input, select"))?.focus();
    };
    form.append(h("footer", extra, h("span.spring"), h("button", { type: "button", onclick: () => dialog.close() }, t("cancel")), submit));
    form.addEventListener("submit", async (event) => {
        event.preventDefault();
        if (submit.getAttribute("aria-busy") === "true") return;
        fill(problem);
        let first = null;
        for (const field of fields) {
            const row = rows.get(field.name);
            const inputs = field.make ? [...row.control.querySelectorAll("input")].filter((part) => !part.closest("[hidden]")) : [row.control];
            const sentence = inputs.map(objection).find(Boolean) ?? "";
            mark(field.name, sentence);
            if (sentence) first ??= field.name;
        }
        if (first) {
            focus(first);
            return;
        }
        submit.setAttribute("aria-busy", "true");
        try {
            await save(Object.fromEntries(fields.map((field) => [field.name, rows.get(field.name).read()])));
            isSaved = true;
            dialog.close();
        } catch (error) {
            const sentence = tOr(`refusal.${error.code}.${error.field}`, error.sentence ?? error.message);
            if (!dialog.isConnected) showError(error);
            else if (mark(error.field, sentence)) {
                fill(problem, h("span.sr", sentence));
                focus(error.field);
            } else fill(problem, sentence);
        } finally {
            submit.removeAttribute("aria-busy");
        }
    });
    const dialog = openDialog({ title, body: form, kind: "form", onclose: () => onclose?.(isSaved) });
    focus(fields[0].name);
    return dialog;
}
