// Why an answer has no end of its own, and the one button that helps.
import { h } from "../kit/dom.js";
import { icon } from "../kit/icons.js";
import { sentenceOf } from "../kit/refusals.js";
import { t, tOr } from "../kit/texts.js";
import { usableTextRows } from "../data/library.js";

/// The endings that are no failure.
const quiet = ["stopped", "length", "context-full"];

/// The sentence of an ending.
export const endingText = (ending) => tOr(`ending.${ending.code}`, "") || sentenceOf(ending);

/// The line under an answer that is not complete. `actions` are the functions of the screen.
export function endingView(message, actions) {
    const { ending } = message;
    return h("div.note.ending", { class: quiet.includes(ending.code) ? "" : "warning failure", "data-code": ending.code },
        icon(ending.code === "stopped" ? "stop" : "warning"), h("span.grow", { dir: "auto" }, endingText(ending)), help(message, actions));
}

function help(message, actions) {
    const { ending } = message;
    const button = (label, run) => h("button.small.primary", { type: "button", onclick: run }, t(label));
    const models = usableTextRows();
    switch (ending.help) {
    case "continue":
        return ending.code === "interrupted" && message.facts?.source === "cloud" && models.length > 0
            ? button("chat.continue-locally", () => actions.proceed(message, "local"))
            : button("ending.continue", () => actions.proceed(message));
    case "choose-model": return button("ending.choose-model", () => actions.choose(message));
    case "download-model":
        if (models.length > 1) return button("ending.choose-model", () => actions.choose(message));
        return models.length === 1 ? button("retry", () => actions.regenerate(message)) : h("a.button.small.primary", { href: "#/models" }, t("download.model"));
    case "free-memory": return button("ending.free-memory", () => actions.freeMemory(message));
    case "open-settings": return h("a.button.small.primary", { href: "#/settings/cloud" }, t("ending.open-settings"));
    default: return button("retry", () => actions.regenerate(message));
    }
}
