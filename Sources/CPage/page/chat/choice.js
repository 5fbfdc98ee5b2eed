// The question which model answers, in its place above the field: a button for each model.
import { h } from "../kit/dom.js";
import { icon } from "../kit/icons.js";
import { t } from "../kit/texts.js";

/// Asks in `place` and returns the id of the chosen model; null if the person does not choose.
export function chooseModel(place, models, { text, question } = {}) {
    place.querySelector(":scope > .choice")?.remove();
    return new Promise((resolve) => {
        const end = (id) => { node.remove(); resolve(id); };
        const node = h("section.choice", { "aria-labelledby": "choice-title" },
            h("h2#choice-title", t("choice.title")),
            text && h("p.muted", text),
            question && h("p.choice-question", { dir: "auto" }, question),
            h("div.buttons", models.map((model) => h("button", { type: "button", onclick: () => end(model.id) }, icon("models"), h("span", { dir: "auto" }, model.name)))),
            h("div.buttons", h("a", { href: "#/models" }, t("nav.models")), h("span.spring"), h("button.small.quiet", { type: "button", onclick: () => end(null) }, t("cancel"))));
        place.prepend(node);
        node.querySelector("button")?.focus();
    });
}

/// An end that the person chose: nothing to show.
export class Cancelled extends Error {
    isCancelled = true;
}

/// Runs a call. If the server asks which model answers, the person chooses one for the conversation, and the call is
/// repeated.
export async function withModel(place, settings, call, question) {
    try {
        return await call();
    } catch (error) {
        if (error.code !== "model-not-chosen" || !error.models?.length) throw error;
        const model = await chooseModel(place, error.models, { text: settings.values.model ? t("choice.gone", { name: settings.values.model }) : t("choice.text"), question });
        if (!model) throw new Cancelled();
        await settings.change({ model });
        return withModel(place, settings, call, question);
    }
}
