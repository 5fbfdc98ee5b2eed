// Dialogs: a question with named answers, a sheet with any content, and a form made from a list of fields.
import { h, fill } from "./dom.js";
import { icon } from "./icons.js";
import { moveToasts } from "./toast.js";
import { t } from "./texts.js";

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
    dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
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
    return h("input", {
        ...common, type: types[field.type] ?? "text", dir: field.type === "text" ? "auto" : undefined, value: field.value ?? "",
        placeholder: field.placeholder, min: field.minimum, max: field.maximum, step: field.step, list: field.list,
    });
}

/// A labelled row of a form.
export function fieldRow(field, id) {
    const control = input(field, id);
    return h("div.field", { class: field.type === "boolean" ? "switch-row" : "" },
        h("label", { for: id }, field.label),
        control,
        field.hint && h("p.hint", { id: `${id}-hint` }, field.hint));
}

/// The value of a field's input: texts without blanks at their ends, booleans, numbers or null.
export function valueOf(field, control) {
    if (field.type === "boolean") return control.checked;
    if (field.type === "number") return control.value === "" ? null : Number(control.value);
    return field.type === "long" ? control.value : control.value.trim();
}

/// Opens a form. `save(values)` may throw an error: it is shown in the form, which stays open.
export function formDialog({ title, fields, save, saveText = t("save"), extra = [] }) {
    const prefix = `form-${++count}`;
    const problem = h("p.problem", { role: "alert" });
    const form = h("form", { novalidate: false }, fields.map((field) => fieldRow(field, `${prefix}-${field.name}`)), problem);
    const submit = h("button.primary", { type: "submit" }, saveText);
    form.append(h("footer", extra, h("span.spring"), h("button", { type: "button", onclick: () => dialog.close() }, t("cancel")), submit));
    form.addEventListener("submit", async (event) => {
        event.preventDefault();
        submit.setAttribute("aria-busy", "true");
        const values = Object.fromEntries(fields.map((field) => [field.name, valueOf(field, form.elements[field.name])]));
        try {
            await save(values);
            dialog.close();
        } catch (error) {
            fill(problem, error.sentence ?? error.message);
            form.elements[error.field]?.focus();
        } finally {
            submit.removeAttribute("aria-busy");
        }
    });
    const dialog = openDialog({ title, body: form, kind: "form" });
    form.elements[fields[0].name]?.focus();
    return dialog;
}

/// A button that opens a small list of commands: `[{ label, icon, run, isDangerous }]`.
/// `word` is shown beside the symbol.
export function menuButton(label, entries, symbol = "more", word = null) {
    const id = `menu-${++count}`;
    const list = h("div.menu", { id, popover: "auto", role: "menu", "aria-label": label });
    const button = word ? h("button.small", { type: "button", "aria-haspopup": "menu" }, icon(symbol), word)
        : h("button.icon-button", { type: "button", "aria-label": label, title: label, "aria-haspopup": "menu" }, icon(symbol));
    button.addEventListener("click", () => {
        fill(list, (typeof entries === "function" ? entries() : entries).filter(Boolean).map((entry) =>
            h("button", {
                type: "button", role: "menuitem", class: entry.isDangerous ? "danger" : "",
                onclick: () => { list.hidePopover(); entry.run(button); },
            }, entry.icon && icon(entry.icon), entry.label)));
        list.togglePopover();
        const box = button.getBoundingClientRect();
        const size = list.getBoundingClientRect();
        list.style.insetBlockStart = `${Math.max(8, Math.min(box.bottom + 4, innerHeight - size.height - 8))}px`;
        list.style.left = `${Math.max(8, Math.min(box.right - size.width, innerWidth - size.width - 8))}px`;
        list.querySelector("button")?.focus();
    });
    list.addEventListener("keydown", (event) => {
        const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
        if (!step) return;
        event.preventDefault();
        const all = [...list.children];
        all.at((all.indexOf(document.activeElement) + step) % all.length)?.focus();
    });
    list.addEventListener("toggle", (event) => { if (event.newState === "closed" && list.contains(document.activeElement)) button.focus(); });
    return h("span.menu-holder", button, list);
}
