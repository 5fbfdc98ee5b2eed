// A conversation on the screen: its messages, what their buttons do, and sending a question in it.
import { h, fill, keyed } from "../kit/dom.js";
import { at, post, remove } from "../kit/api.js";
import { copyText } from "../kit/clipboard.js";
import { icon } from "../kit/icons.js";
import { announce, showError } from "../kit/toast.js";
import { refusalsLoaded } from "../kit/refusals.js";
import { t, withWords } from "../kit/texts.js";
import { Thread } from "../data/thread.js";
import { libraryChanged, shownName, usableTextRows } from "../data/library.js";
import { endingText } from "./ending.js";
import { reader } from "./answer.js";
import { loadChoice, withModel } from "./with-model.js";

/// Loads the code that draws messages.
export const loadViews = () => Promise.all([import("./message.js"), import("./lazy.js")]);

/// The conversation `id`, until `life` ends.
export function openThread(id, life) {
    const thread = new Thread(id);
    life.add(() => thread.end());
    return thread;
}

/// Shows the messages of `thread` in `log`, and follows them until `life` ends.
export function followThread(life, { thread, log, scroller, stick, unstick, field, head, settings }) {
    const voice = reader();
    const actions = { ...messageActions(thread, settings, field.node), keepWords: field.addText };
    const drawAll = () => {
        keyed(log, thread.messages, (message) => message.id, lazy.view);
        // The others are drawn when they come near.
        for (const { id } of thread.messages.slice(-6)) log.views.get(id).draw();
    };
    let lazy = null;
    let wasAnswering = false;
    const drawFacts = () => {
        head.update();
        const isAnswering = Boolean(thread.chat?.isAnswering);
        field.setBusy(isAnswering);
        if (isAnswering && !wasAnswering) announce(t("chat.answering"));
        if (wasAnswering !== isAnswering) {
            wasAnswering = isAnswering;
            const last = thread.messages.at(-1);
            if (last) log.views?.get(last.id)?.update(last, "whole");
            if (!isAnswering && last?.ending) announce(endingText(last.ending));
        }
        document.title = `${thread.chat?.title || t("chat.untitled")} · Hearth`;
    };
    const showMessage = (wanted) => {
        const index = thread.messages.findIndex(({ id }) => id === wanted);
        unstick();
        if (index < 0) return stick(true);
        for (const { id } of thread.messages.slice(Math.max(0, index - 2), index + 4)) log.views.get(id).draw();
        const { node } = log.views.get(wanted);
        node.classList.add("found");
        // Messages that are drawn around it move it, until the person scrolls.
        const place = new ResizeObserver(() => node.scrollIntoView());
        place.observe(log);
        const leave = () => place.disconnect();
        life.add(leave);
        for (const name of ["wheel", "touchstart", "pointerdown", "keydown"]) scroller.addEventListener(name, leave, { once: true, passive: true });
        setTimeout(leave, 2000);
        return undefined;
    };
    life.add(thread.changed.on((message, what) => {
        log.views?.get(message.id)?.update(message, what);
        if (what === "text" || what === "whole") voice.hear(message.content, !thread.answering);
    }));
    life.add(thread.reordered.on(() => { if (lazy) drawAll(); }));
    life.add(thread.facts.on(drawFacts));
    life.add(thread.gone.on(() => field.node.before(h("div.note.warning.gone", { role: "alert" }, icon("warning"),
        h("span.grow", t(thread.chat?.isPrivate ? "chat.gone.private" : "chat.gone.elsewhere")), h("a.button.small.primary", { href: "#/chat" }, t("chat.new"))))));
    const drawEndings = () => {
        for (const message of thread.messages) if (message.ending) log.views?.get(message.id)?.update(message, "whole");
    };
    life.add(libraryChanged.on(drawEndings));
    life.add(refusalsLoaded.on(drawEndings));
    Promise.all([loadViews(), thread.read()]).then(([[{ messageView }, { lazyMessages }]]) => {
        lazy = lazyMessages(scroller, (message) => messageView(message, actions));
        life.add(lazy.end);
        drawAll();
        drawFacts();
        if (!location.hash.includes("/at/")) stick(true);
        const last = thread.messages.at(-1);
        if (last?.role === "assistant" && !thread.answering) voice.hear("", true);
        if (location.hash.includes("/at/")) showMessage(decodeURIComponent(location.hash.split("/at/")[1]));
    }, (error) => {
        fill(log, h("li.empty", error.code === "not-found" ? t("chat.gone") : error.sentence ?? error.message));
    });
}

function messageActions(thread, settings, place) {
    const call = (action, body) => post(at("chats", thread.id, action), body).catch(showError);
    /// A call that begins an answer; undefined if it does not begin. `question` is shown while a model is chosen.
    const begin = (action, body, question) => withModel(place, settings, () => post(at("chats", thread.id, action), body), question)
        .catch((error) => { if (!error.isCancelled) showError(error); });
    const again = (message) => begin("regenerate", message ? { message: message.id } : {});
    return {
        chat: thread.id,
        isAnswering: (message) => thread.answering?.id === message.id,
        edit: async (message, text) => {
            const turn = await begin("edit", { message: message.id, text }, text);
            // The new branch is on its way; the old question leaves at once.
            if (turn && turn.question && !thread.messages.some(({ id }) => id === turn.question)) thread.cutBefore(message.id);
            return Boolean(turn);
        },
        answer: () => again(),
        regenerate: again,
        proceed: (message, source) => begin("continue", { message: message.id, ...(source && { source }) }),
        choose: async (message) => {
            const { chooseModel } = await loadChoice();
            const model = await chooseModel(place, usableTextRows().map((row) => ({ id: row.id, name: shownName(row) })), { text: endingText(message.ending) });
            if (!model) return;
            await settings.change({ model }).then(() => again(message), showError);
        },
        freeMemory: (message) => post("/activation/unload").then(() => again(message), showError),
        answerNow: () => call("answer-now", {}),
        copy: (text) => copyText(text).then(() => announce(t("copied")), showError),
        branch: async (message) => {
            const reply = await call("show", { message });
            if (reply) await thread.read();
        },
        remove: async (message) => {
            const { ask } = await withWords(import("../kit/dialog.js"), "forms");
            const isSure = await ask({ title: t("chat.delete-from"), text: t("chat.delete-from.text"), yes: t("delete"), isDangerous: true });
            if (isSure) await remove(at("chats", thread.id, "messages", message.id)).catch(showError);
        },
        card: async (message, card, name, body) => {
            const path = at("chats", thread.id, "cards", card) + (name === "decide" ? "" : `/${name}`);
            const reply = await post(path, body ?? {});
            if (reply.card) {
                const index = message.cards.findIndex(({ id }) => id === card);
                if (index >= 0) message.cards[index] = reply.card;
                thread.changed.emit(message, "cards");
            }
        },
    };
}

/// Sends a question in a conversation. If the connection breaks, the conversation tells whether the question has arrived.
export async function sendIn(thread, body, settings, place) {
    const lastQuestion = () => thread.messages.findLast((message) => message.role === "user");
    const before = lastQuestion()?.id;
    try {
        await withModel(place, settings, () => post(at("chats", thread.id, "messages"), body), body.text);
    } catch (error) {
        if (!error.isConnection) throw error;
        await thread.read().catch(() => { throw error; });
        const last = lastQuestion();
        if (last?.id === before || last?.content !== body.text) throw error;
    }
}
