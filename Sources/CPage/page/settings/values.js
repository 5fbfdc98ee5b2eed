// Settings as controls; a change is saved at once, and a refusal stands beside its control.
import { h, fill, set } from "../kit/dom.js";
import { patch } from "../kit/api.js";
import { formDialog } from "../kit/dialog.js";
import { announce } from "../kit/toast.js";
import { language, t, tOr } from "../kit/texts.js";
import { libraryChanged, rows } from "../data/library.js";

// The changes that are being saved, and how many were begun so far.
const running = new Set();
let begun = 0;

/// Reads settings with `read()` while no change is being saved. A reading beside a change would draw the row anew that is
/// about to say "saved".
export async function readBetweenChanges(read) {
    for (;;) {
        while (running.size > 0) await Promise.allSettled(running);
        const number = begun;
        const found = await read();
        if (number === begun) return found;
    }
}

/// The rows of settings.
export const settingRows = (settings) => settings.map(settingRow);

function settingRow(setting) {
    const id = `setting-${setting.key.replace(/\W/g, "-")}`;
    const problem = h("p.problem", { role: "alert" });
    const saved = h("span.saved", { "aria-hidden": "true" });
    const control = controlOf(setting, id);
    const save = async (value) => {
        begun += 1;
        const change = patch("/settings", { [setting.key]: value });
        running.add(change);
        try {
            const { settings } = await change;
            const fresh = settings?.find(({ key }) => key === setting.key);
            if (fresh) Object.assign(setting, { value: undefined }, fresh);
            fill(problem);
            set(control, { "aria-invalid": null });
            set(reset, { hidden: !isSet() });
            fill(saved, "✓");
            announce(t("saved"));
            setTimeout(() => fill(saved), 1500);
            return true;
        } catch (error) {
            fill(problem, problemText(setting, error));
            set(control, { "aria-invalid": "true" });
        } finally {
            running.delete(change);
        }
    };
    control.addEventListener("change", () => save(valueOf(setting, control)));
    const isSet = () => (setting.value ?? null) !== null;
    // After a reset the control displays the default.
    const reset = h("button.small", {
        type: "button", hidden: !isSet(), "aria-describedby": `${id}-name`,
        onclick: async () => {
            if (!await save(null)) return;
            const fresh = settingRow(setting);
            row.replaceWith(fresh);
            fresh.querySelector(`#${id}`).focus();
        },
    }, t("settings.reset"));
    const hint = [tOr(`setting.${setting.key}.hint`, ""), setting.reopensModels ? t("settings.reopens") : ""].filter(Boolean).join(" ");
    const row = h("div.setting", { class: setting.type === "boolean" ? "switch-row" : "" },
        h("div.setting-words", h("label", { for: id, id: `${id}-name` }, labelOf(setting.key)), hint && h("p.hint", { id: `${id}-hint` }, hint)),
        h("div.setting-control", control, setting.unit && h("span.muted", tOr(`unit.${setting.unit}`, setting.unit)), reset, saved), problem);
    return row;
}

/// The refusal of a value. The page's own sentence tells the kind of value where it has one.
function problemText({ type, range, choices, key }, error) {
    if (error.code !== "invalid-configuration") return error.sentence;
    const values = { minimum: range?.minimum, maximum: range?.maximum, choices: (choices ?? []).join(", ") };
    return tOr(`invalid.${key}`, "") || (tOr(`invalid.${type}`, "") && t(`invalid.${type}`, values)) || error.sentence;
}

/// The models on this device that a setting can name, and the one that it names.
function modelChoices(key, value) {
    const role = key === "visionModel" ? "vision" : null;
    const found = [...rows.values()].filter((row) => row.isUsable && row.role !== "classifier" && (!role || row.role === role || row.badges?.includes("vision")))
        .map((row) => [row.id, row.name]);
    if (value && !found.some(([id]) => id === value)) found.push([value, value]);
    return found;
}

/// A number as people write it in the language of the page.
const shownNumber = (text) => (text !== null && text !== undefined && /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text).toLocaleString(language, { useGrouping: false, maximumFractionDigits: 6 }) : text);

/// Opens the form of a publisher's list of models, which becomes the settings `origins.NAME` and `trust.NAME`.
export const addPublisher = () => formDialog({
    title: t("publisher.add"),
    fields: [
        { name: "name", label: t("field.name"), type: "text", required: true, hint: t("publisher.name.hint"), placeholder: "example" },
        { name: "url", label: t("publisher.url"), type: "text", required: true, placeholder: "https://example.org/models.json" },
        { name: "root", label: t("publisher.root"), type: "text", hint: t("publisher.root.hint") },
    ],
    save: ({ name, url, root }) => patch("/settings", { [`origins.${name}`]: url, ...(root && { [`trust.${name}`]: root }) }),
});

/// The name of a setting: of the texts, or its key in words.
function labelOf(key) {
    const [, kind, name] = /^(origins|trust|aliases)\.(.+)$/.exec(key) ?? [];
    if (kind) return t(`setting.${kind}.NAME`, { name });
    const [, model] = /^models\.(.+)\.context$/.exec(key) ?? [];
    if (model) return t("setting.models.NAME.context", { name: model });
    const [, upstream, field] = /^upstreams\.(.+)\.([A-Za-z]+)$/.exec(key) ?? [];
    if (upstream) return `${upstream}: ${t(`setting.upstreams.${field}`)}`;
    const words = key.split(".").at(-1).replace(/([a-z])([A-Z])/g, "$1 $2").replaceAll("_", " ").toLowerCase();
    return tOr(`setting.${key}`, words.charAt(0).toUpperCase() + words.slice(1));
}

// Values are texts; an absent one is not set, and the default counts then.
function controlOf({ key, type, value, choices, range, default: standard }, id) {
    const common = { id, "aria-describedby": `${id}-hint` };
    if (type === "boolean") return h("input", { ...common, type: "checkbox", role: "switch", checked: (value ?? standard) === "true" });
    const name = (choice) => tOr(`choice.${key}.${choice}`, tOr(`choice.${choice}`, choice));
    if (key === "defaultModel" || key === "visionModel") {
        const list = h("select", common);
        const draw = (chosen) => fill(list, h("option", { value: "", selected: !chosen }, t("settings.unset")),
            modelChoices(key, chosen).map(([id, label]) => h("option", { value: id, selected: id === chosen }, label)));
        draw(value);
        // The list of models may come after the settings.
        const end = libraryChanged.on(() => { if (list.isConnected) draw(list.value || null); else end(); });
        return list;
    }
    if (type === "choice") {
        return h("select", common,
            h("option", { value: "", selected: !value }, standard ? t("settings.default", { value: name(standard) }) : t("settings.unset")),
            (choices ?? []).map((choice) => h("option", { value: choice, selected: value === choice }, name(choice))));
    }
    if (type === "list" && choices) return checks({ value: value ?? standard, choices }, id);
    if (type === "list") {
        const lines = (value ?? "").split(",").map((line) => line.trim()).filter(Boolean);
        return h("textarea", { ...common, rows: Math.min(6, lines.length + 1), value: lines.join("\n"), placeholder: t("settings.list") });
    }
    const isNumber = type === "integer" || type === "number";
    return h("input", {
        ...common, type: isNumber ? "number" : "text", min: range?.minimum, max: range?.maximum, step: type === "number" ? "any" : undefined,
        value: (value === "always" ? t("settings.forever") : value) ?? "", placeholder: shownNumber(standard) ?? t("settings.unset"), spellcheck: "false", dir: isNumber ? undefined : "auto",
    });
}

// A list of known words: a tick for each. Without a tick the value is `none`.
function checks({ value, choices }, id) {
    const ticked = (value ?? "").split(",").map((word) => word.trim());
    return h("div.checks", { id, role: "group", "aria-labelledby": `${id}-name` }, choices.filter((word) => word !== "none").map((word) =>
        h("label", h("input", { type: "checkbox", value: word, checked: ticked.includes(word) }), tOr(`choice.${word}`, word))));
}

function valueOf(setting, control) {
    if (control.classList.contains("checks")) {
        return [...control.querySelectorAll("input:checked")].map((box) => box.value).join(",") || "none";
    }
    switch (setting.type) {
        case "boolean": return String(control.checked);
        case "list": return control.value.split("\n").map((line) => line.trim()).filter(Boolean).join(",") || null;
        default: {
            const text = control.value.trim();
            return (text.toLowerCase() === t("settings.forever") ? "always" : text) || null;
        }
    }
}
