// The panel with the settings of one conversation. An empty value is that of all conversations.
import { h, fill, set } from "../kit/dom.js";
import { fieldRow, openDialog, valueOf } from "../kit/dialog.js";
import { t, tOr } from "../kit/texts.js";
import { showError } from "../kit/toast.js";
import { decimal } from "../kit/format.js";
import { modelName } from "../data/chat-settings.js";
import { readLibrary, shownName, usableTextRows } from "../data/library.js";

/// Opens the panel for `settings` of data/chat-settings.js.
export async function openSettings(settings) {
    await Promise.all([settings.read(), readLibrary()]).catch(showError);
    const fields = fieldsOf(settings);
    const problems = new Map();
    const form = h("form", { novalidate: true }, h("p.muted", t("chat-settings.text")), fields.map((field) => {
        const row = fieldRow(field, `chat-setting-${field.name}`);
        const problem = h("p.problem", { role: "alert", id: `chat-setting-${field.name}-problem` });
        problems.set(field.name, problem);
        row.append(problem);
        return row;
    }));
    const other = h("p.problem", { role: "alert" });
    const save = h("button.primary", { type: "submit" }, t("save"));
    const reset = h("button", { type: "button", onclick: () => { for (const field of fields) form.elements[field.name].value = ""; } }, t("chat-settings.reset"));
    form.append(other, h("footer", reset, h("span.spring"), h("button", { type: "button", onclick: () => dialog.close() }, t("cancel")), save));
    const show = (error) => {
        const name = error.field?.replace(/^settings\./, "");
        const problem = problems.get(name);
        fill(problem ?? other, tOrSentence(name, error));
        if (!problem) return;
        set(form.elements[name], { "aria-invalid": "true", "aria-errormessage": problem.id });
        form.elements[name].focus();
    };
    form.addEventListener("submit", async (event) => {
        event.preventDefault();
        save.setAttribute("aria-busy", "true");
        fill(other);
        for (const [name, problem] of problems) {
            fill(problem);
            set(form.elements[name], { "aria-invalid": null });
        }
        try {
            await settings.change(changesOf(fields, form));
            dialog.close();
        } catch (error) {
            show(error);
        } finally {
            save.removeAttribute("aria-busy");
        }
    });
    const dialog = openDialog({ title: t("chat-settings.title"), body: form, kind: "form" });
    form.elements[fields[0].name]?.focus();
    return dialog;
}

const tOrSentence = (name, error) => (error.code === "bad-request" && name ? tOr(`chat-settings.${name}.problem`, error.sentence) : error.sentence ?? error.message);

function fieldsOf({ values, defaults, answering, isPrivate }) {
    const usual = (value) => t("chat-settings.default", { value });
    const models = [...usableTextRows().map((row) => [row.id, shownName(row)]), ...(defaults.others ?? []).map(({ id, name }) => [id, name])];
    if (values.model && !models.some(([id]) => id === values.model)) models.push([values.model, t("chat-settings.model.gone", { name: values.model })]);
    const flags = [["true", t("chat-settings.on")], ["false", t("chat-settings.off")]];
    return [
        { name: "model", label: t("chat-settings.model"), type: "choice", value: values.model ?? "", choices: [
            ["", defaults.model ? usual(modelName(defaults.model)) : defaults.cloud && !isPrivate ? usual(defaults.cloud) : t("chat-settings.model.none")], ...models] },
        { name: "instructions", label: t("chat-settings.instructions"), type: "long", value: values.instructions ?? "", hint: t("chat-settings.instructions.hint") },
        { name: "temperature", label: t("chat-settings.temperature"), type: "number", value: values.temperature ?? "", minimum: 0, maximum: 5, step: "any",
            placeholder: defaults.temperature === undefined ? "" : usual(decimal(defaults.temperature, 2)), hint: t("chat-settings.temperature.hint") },
        { name: "maximumNewTokens", label: t("chat-settings.length"), type: "number", value: values.maximumNewTokens ?? "", minimum: 1, maximum: 1_048_576, step: 1,
            placeholder: defaults.maximumNewTokens ? usual(defaults.maximumNewTokens) : t("chat-settings.length.window"), hint: t("chat-settings.length.hint") },
        { name: "form", label: t("chat-settings.form"), type: "choice", value: values.form ?? "", hint: t("chat-settings.form.hint"), choices: [
            ["", t("chat-settings.form.automatic")], ["assistant", t("chat-settings.form.assistant")], ["plain", t("chat-settings.form.plain")]] },
        ...(answering.canThink === false ? [] : [
            { name: "thinks", label: t("chat-settings.thinking"), type: "choice", value: String(values.thinks ?? ""), choices: [["", usual(t(defaults.thinks === false ? "chat-settings.off" : "chat-settings.on"))], ...flags] }]),
        ...(isPrivate || !(defaults.cloud || values.route) ? [] : [
            { name: "route", label: t("chat-settings.route"), type: "choice", value: values.route ?? "", choices: [
                ["", t("chat-settings.route.automatic")], ["local", t("chat-settings.route.local")], ["cloud", t("chat-settings.route.cloud")]] }]),
    ];
}

function changesOf(fields, form) {
    const changes = {};
    for (const field of fields) {
        const control = form.elements[field.name];
        // A number field has no value when its text is no number.
        if (control.validity?.badInput) throw Object.assign(new Error(), { code: "bad-request", field: field.name });
        const value = valueOf(field, control);
        if (value === "" || value === null) changes[field.name] = null;
        else changes[field.name] = field.name === "thinks" ? value === "true" : value;
    }
    return changes;
}
