// One message: the question as it was written, or the answer with thinking, cards, notices, sources and its facts.
import { h, fill, keyed, set, text, onFrame } from "../kit/dom.js";
import { icon } from "../kit/icons.js";
import { decimal, percent } from "../kit/format.js";
import { outside, shownAddress } from "../kit/safe.js";
import { reasonOf } from "../kit/refusals.js";
import { showError } from "../kit/toast.js";
import { t, tOr, withWords } from "../kit/texts.js";
import { answerView } from "./answer.js";
import { endingView } from "./ending.js";

/// The view of a message: `{ node, update(message, what) }`. `actions` are the functions of the screen.
export function messageView(message, actions) {
    return message.role === "user" ? questionView(message, actions) : replyView(message, actions);
}

function questionView(message, actions) {
    let current = message;
    let edited = null;
    const words = h("div.bubble-text", { dir: "auto" });
    const pictures = h("div.pictures");
    const bubble = h("div.bubble", pictures, words);
    const bar = h("div.message-bar");
    const node = h("li.message.user", { id: `message-${message.id}` }, h("h2.sr", t("chat.you")), bubble, bar);
    const edit = () => {
        const key = `hearth-edit-${current.id}`;
        const area = h("textarea", {
            rows: 3, dir: "auto", "aria-label": t("chat.edit"), value: sessionStorage.getItem(key) ?? current.content,
            oninput: () => sessionStorage.setItem(key, area.value),
        });
        const end = () => { sessionStorage.removeItem(key); edited = null; fill(bubble, pictures, words); set(bar, { hidden: false }); };
        edited = area;
        // What was written stays in the field until the server has it.
        const save = async () => {
            const value = area.value.trim();
            if (!value || area.readOnly) return;
            area.readOnly = true;
            const isSent = await actions.edit(current, value);
            area.readOnly = false;
            if (isSent) end();
        };
        area.addEventListener("keydown", (event) => {
            if (event.key === "Escape") { event.stopPropagation(); end(); }
            if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
            event.preventDefault();
            save();
        });
        set(bar, { hidden: true });
        fill(bubble, pictures, area, h("div.buttons",
            h("p.hint.grow", t("chat.edit.hint")),
            h("button.small", { type: "button", onclick: end }, t("cancel")),
            h("button.small.primary", { type: "button", onclick: save }, t("chat.edit.send"))));
        area.focus();
    };
    const update = (next) => {
        current = next;
        text(words, next.content);
        set(words, { hidden: !next.content });
        fill(pictures, pictureList(next, actions.chat), documentsOf(next));
        fill(bar, branches(next, actions),
            toolButton("edit", t("chat.edit"), edit),
            toolButton("copy", t("copy"), () => actions.copy(current.content)),
            // A stop before the first word leaves a question without an answer.
            toolButton("again", t("chat.answer"), () => actions.answer(), ".of-last"),
            toolButton("remove", t("chat.delete-from"), () => actions.remove(current)));
    };
    update(message);
    return {
        node, update,
        // Another page may show another branch while a question is being changed: its words go on in the input.
        end: () => { if (edited && !edited.readOnly && edited.value.trim() !== current.content) actions.keepWords(edited.value); },
    };
}

const pictureList = (message, chat) => (message.pictures ?? []).map((picture, index) => {
    const image = h("img.picture", { alt: t("chat.picture", { number: index + 1 }), width: picture.width, height: picture.height });
    import("../kit/files.js").then(({ showPicture }) => showPicture(image, `/chats/${chat}/pictures/${message.id}/${index}`), () => {});
    return image;
});

// The code of documents comes with the first one.
function documentsOf(message) {
    if (!message.attachments?.length) return null;
    const node = h("div.pictures");
    withWords(import("./document.js"), "forms").then(({ documentList }) => fill(node, documentList(message)), () => {});
    return node;
}

function toolButton(symbol, label, run, more = "") {
    return h(`button.icon-button.small${more}`, { type: "button", "aria-label": label, title: label, onclick: run }, icon(symbol));
}

const synthesis = globalThis.speechSynthesis;
const hasVoice = () => Boolean(synthesis?.getVoices().some(({ localService }) => localService));

/// The place of the button that reads aloud, whose code comes once this device has a voice.
function speech(content) {
    const place = Object.assign(h("span.speech-place"), { content });
    if (hasVoice()) drawSpeech(place);
    return place;
}

const drawSpeech = (place) => import("./speech.js").then(({ speechButton }) => place.replaceWith(speechButton(place.content)), () => {});

// The browser looks for voices after it was asked.
hasVoice();
synthesis?.addEventListener?.("voiceschanged", () => {
    if (hasVoice()) for (const place of document.querySelectorAll(".speech-place")) drawSpeech(place);
});

function branches(message, actions) {
    const { index = 0, ids = [] } = message.branch ?? {};
    const count = ids.length;
    if (count < 2) return null;
    const step = (symbol, label, to) => h("button.icon-button.small", {
        type: "button", "aria-label": label, title: label, disabled: !ids[to], onclick: () => actions.branch(ids[to]),
    }, icon(symbol));
    return h("span.branches", { role: "group", "aria-label": t("chat.branches") },
        step("previous", t("chat.branch.previous"), index - 1),
        h("span", t("chat.branch", { index: index + 1, count })),
        step("next", t("chat.branch.next"), index + 1));
}

function replyView(message, actions) {
    let current = message;
    const phase = h("p.phase", { hidden: true });
    const thinking = thinkingView(actions);
    const answer = answerView();
    const cards = h("div.cards");
    const notices = h("div.notes");
    const sources = h("div.sources");
    const bar = h("div.message-bar");
    const node = h("li.message.assistant", { id: `message-${message.id}` },
        h("h2.sr", t("chat.assistant")), thinking.node, phase, answer.node, cards, sources, notices, bar);

    // The code of cards comes with the first one.
    let cardView = null;
    const drawCards = () => {
        const list = current.cards ?? [];
        if (cardView) keyed(cards, list, (card) => card.id, (card) => cardView(card, (name, body) => actions.card(current, card.id, name, body)));
        else if (list.length > 0) withWords(import("./card.js"), "forms").then((module) => { cardView = module.cardView; drawCards(); }, showError);
    };
    const drawRest = () => {
        const isAnswering = actions.isAnswering(current);
        const found = foundPages(current);
        drawCards();
        fill(notices, (current.notices ?? []).map((notice) => h("p.note", { dir: "auto" }, notice)),
            !isAnswering && current.ending && endingView(current, actions));
        fill(sources, found.length > 0 && [
            h("h3", t("chat.sources")),
            h("ol", found.map((source) => h("li", { dir: "auto" }, sourceLink(source)))),
        ]);
        fill(bar, isAnswering ? null : [
            branches(current, actions),
            toolButton("copy", t("copy"), () => actions.copy(current.content)),
            current.content && speech(() => current.content),
            toolButton("again", t("chat.regenerate"), () => actions.regenerate(current)),
            factsLine(current.facts, current.ending),
        ]);
    };
    const update = (next, what = "whole") => {
        current = next;
        const isAnswering = actions.isAnswering(next);
        node.classList.toggle("answering", isAnswering);
        answer.show(next.content, !isAnswering);
        thinking.update(next, isAnswering);
        const shown = isAnswering && !next.content && !next.thinkingContent ? phaseText(next.phase) : "";
        set(phase, { hidden: !shown });
        if (shown && phase.dataset.shown !== shown) {
            phase.dataset.shown = shown;
            fill(phase, h("span.dots", h("i"), h("i"), h("i")), shown);
        }
        if (what === "whole" || what === "cards") drawRest();
    };
    update(message);
    return { node, update };
}

function phaseText(phase) {
    if (!phase) return t("phase.chat.waiting");
    const { phase: name, doneTokens: done = 0, totalTokens: total } = phase;
    if (name === "prefill" && total) return t("phase.chat.prefill", { done, total });
    const fraction = phase.fraction !== undefined && phase.fraction !== null ? ` ${percent(phase.fraction)}` : "";
    return t(`phase.chat.${name}`) + fraction;
}

// Folded, the last line of the thinking is live; unfolded, all of it.
function thinkingView(actions) {
    const line = h("span.thinking-line", { dir: "auto" });
    const label = h("span");
    const all = h("div.thinking-text", { dir: "auto" });
    const skip = h("button.small", { type: "button", onclick: () => actions.answerNow() }, t("chat.answer-now"));
    const node = h("details.thinking", { hidden: true }, h("summary", icon("thought"), label, line), all, skip);
    let content = "";
    let isThinking = false;
    const draw = onFrame(() => {
        set(node, { hidden: !content && !isThinking });
        text(label, t(isThinking ? "chat.thinking" : "chat.thoughts"));
        text(line, isThinking ? content.trimEnd().slice(-160).split("\n").at(-1) : "");
        if (node.open) text(all, content);
        set(skip, { hidden: !isThinking });
    });
    node.addEventListener("toggle", draw);
    return {
        node,
        update(message, isAnswering) {
            const next = isAnswering && Boolean(message.isThinking);
            if (message.thinkingContent === content && next === isThinking) return;
            content = message.thinkingContent ?? "";
            isThinking = next;
            draw();
        },
    };
}

/// The results of the searches that the answer rests on.
const foundPages = (message) => (message.cards ?? []).filter(({ tag, state }) => tag === "WEB_SEARCH" && state === "done")
    .flatMap(({ items }) => items);

function sourceLink(source) {
    const url = source.url ? outside(source.url) : null;
    if (!url) return source.title;
    return [h("a", { href: url.href, target: "_blank", rel: "noopener noreferrer nofollow", title: url.href }, source.title),
        h("span.link-address", { dir: "ltr" }, ` (${shownAddress(url)})`)];
}

/// The finish reasons that say nothing to people.
const normalEnds = ["end", "stop", "stop-string", "tool-calls"];

/// Where an answer was computed and why, and how fast.
function factsLine(facts, ending) {
    if (!facts) return null;
    if (facts.reason === "imported") {
        return h("span.facts-line", h("span.badge.route", { title: reasonOf(facts) }, t("route.imported")), h("span", { dir: "auto" }, facts.model));
    }
    const { decodeTokensPerSecond: rate, firstTokenSeconds: first } = facts.timings ?? {};
    const tokens = facts.usage?.generatedTokens;
    const parts = [
        facts.model,
        rate && t("facts.rate", { rate: decimal(rate) }),
        first !== undefined && t("facts.first", { seconds: decimal(first, 2) }),
        tokens && t("facts.tokens", { n: tokens }),
        !ending && facts.finish && !normalEnds.includes(facts.finish) && tOr(`finish.${facts.finish}`, facts.finish),
    ].filter(Boolean);
    return h("span.facts-line",
        facts.source && h("span.badge.route", { class: facts.source, title: reasonOf(facts) },
            icon(facts.source === "cloud" ? "cloud" : "device"), t(`route.${facts.source}`)),
        h("span", { dir: "auto" }, parts.join(" · ")));
}

