// An action of an answer: its values, the question whether to carry it out, its result, and undo.
import { h, fill, set, text } from "../kit/dom.js";
import { icon } from "../kit/icons.js";
import { menuButton } from "../kit/menu.js";
import { outside } from "../kit/safe.js";
import { perform, showError } from "../kit/toast.js";
import { t, tOr } from "../kit/texts.js";
import { labelOf, noteOf, titleOf, valueOf } from "./card-words.js";

const symbols = {
    CALENDAR_ACTION: "calendar", REMINDER_ACTION: "reminders", NOTE_ACTION: "notes", CONTACTS_SEARCH: "contacts",
    HABIT_ACTION: "habits", WEB_SEARCH: "web",
};

/// Why an action is not on offer: nothing can come of its card.
const unoffered = new Set(["private-search", "no-search", "not-offered", "no-such-action"]);

/// The view of a card: `{ node, update(card) }`. `act(name, body)` calls the server: decide, perform or undo.
export function cardView(card, act) {
    let current = card;
    const state = h("span.card-state");
    const title = h("h3", { dir: "auto" });
    const fields = h("dl.facts");
    const items = h("ul.card-items", { role: "list" });
    const note = h("p.hint", { dir: "auto" });
    const buttons = h("div.buttons");
    const node = h("section.card", { "aria-label": t("card.action") },
        h("header", h("span.card-icon", icon(symbols[card.tag] ?? "check")), title, state), fields, items, note, buttons);
    const update = (next) => {
        current = next;
        node.dataset.state = next.isWaiting ? "waiting" : next.state;
        text(title, titleOf(next));
        text(state, next.isWaiting ? t("card.state.waiting") : tOr(`card.state.${next.state}`, next.state));
        fill(fields, (next.fields ?? []).map((field) => [h("dt", labelOf(next, field)),
            h("dd", { dir: "auto" }, worded(field), field.source && h("span.badge.origin", { title: t("card.origin.title") }, field.source))]));
        fill(items, (next.items ?? []).map((item) => h("li", { dir: "auto" }, itemTitle(item), item.detail && h("span.muted", item.detail))));
        text(note, noteOf(next));
        set(note, { hidden: !next.note });
        fill(buttons, actionsOf(next, act, () => current));
    };
    update(card);
    return { node, update };
}

function worded(field) {
    const value = valueOf(field);
    if (typeof value === "string") return value;
    const node = h("span", field.value);
    value.then((words) => text(node, words), () => {});
    return node;
}

function itemTitle(item) {
    const url = item.url ? outside(item.url) : null;
    if (!url) return h("strong", item.title);
    return h("a", { href: url.href, target: "_blank", rel: "noopener noreferrer nofollow", title: url.href }, item.title);
}

function actionsOf(card, act, newest) {
    const button = (label, name, body, classes = "") => {
        const made = h("button.small", { type: "button", class: classes, onclick: () => perform(made, () => act(name, body)) }, label);
        return made;
    };
    const approve = (name) => (payload) => act(name, name === "decide" ? { decision: "approve", payload } : { payload, isApproved: true });
    const edit = (name) => (card.editable?.length > 0 || card.payload) && h("button.small", {
        type: "button", onclick: () => import("./card-form.js").then(({ editCard }) => editCard(newest(), approve(name)), showError),
    }, t("card.edit"));
    if (card.isWaiting) {
        return [
            button(t("card.approve"), "decide", { decision: "approve" }, "primary"),
            button(t("card.decline"), "decide", { decision: "decline" }),
            edit("decide"),
            menuButton(t("card.more-decisions"), [
                { label: t("card.approve-chat"), icon: "check", run: (at) => perform(at, () => act("decide", { decision: "approve-for-conversation" })) },
                { label: t("card.approve-always"), icon: "shield", run: (at) => perform(at, () => act("decide", { decision: "always" })) },
            ]),
        ];
    }
    if ((card.remarks ?? []).some(({ code }) => unoffered.has(code))) return null;
    if (card.canUndo) return [button(t("undo"), "undo")];
    if (["declined", "failed", "not-carried-out", "undone"].includes(card.state)) return [button(t("card.perform"), "perform", {}), edit("perform")];
    return null;
}
