// The question which model answers, in its place above the field: a button for each model.
import { h } from "../kit/dom.js";
import { icon } from "../kit/icons.js";
import { t } from "../kit/texts.js";

/// Ends the question that is open; the words that wait for it go back.
let endOpen = null;

/// Asks in `place` and returns the id of the chosen model; null if the person does not choose.
export function chooseModel(place, models, { text, question } = {}) {
    endOpen?.(null);
    return new Promise((resolve) => {
        const end = (id) => {
            node.remove();
            removeEventListener("hashchange", leave);
            if (endOpen === end) endOpen = null;
            resolve(id);
        };
        const leave = () => end(null);
        endOpen = end;
        addEventListener("hashchange", leave);
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
class Cancelled extends Error {
    isCancelled = true;
}

/// Lets the person choose a model for the conversation after the refusal `error` of a call, and repeats the call.
export async function callWithChoice(error, place, settings, call, question) {
    if (error.code !== "model-not-chosen" || !error.models?.length) throw error;
    const model = await chooseModel(place, error.models, { text: settings.values.model ? t("choice.gone", { name: settings.values.model }) : t("choice.text"), question });
    if (!model) throw new Cancelled();
    await settings.change({ model });
    return call().catch((next) => callWithChoice(next, place, settings, call, question));
}
