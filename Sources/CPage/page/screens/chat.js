// The screen of one conversation, or of a new one.
import { debounced, h, fill, keyed, lifetime, set } from "../kit/dom.js";
import { at, patch, post, remove } from "../kit/api.js";
import { copyText } from "../kit/clipboard.js";
import { on } from "../kit/live.js";
import { icon } from "../kit/icons.js";
import { announce, reader, showError } from "../kit/toast.js";
import { loadWords, t, withWords } from "../kit/texts.js";
import { Thread } from "../data/thread.js";
import { canAnswer, home, homeChanged } from "../data/home.js";
import { libraryChanged, shownName, usableTextRows } from "../data/library.js";
import { settingsOf } from "../data/chat-settings.js";
import { chatHeader } from "../chat/header.js";
import { composer } from "../chat/composer.js";
import { endingText } from "../chat/ending.js";
import { modelBanner, welcome } from "../chat/welcome.js";

let isLoadAsked = false;

/// Loads the model while the first question is written, so that its answer begins sooner.
function loadEarly() {
    const { text, isLoading } = home?.activation ?? {};
    if (isLoadAsked || !text || text.isLoaded || isLoading) return;
    isLoadAsked = true;
    post("/activation/load").catch(() => {}).finally(() => { setTimeout(() => { isLoadAsked = false; }, 60_000); });
}

let draft = null;

/// Lets the server read the question while it is written, so that its answer begins sooner.
function readEarly(chat, text) {
    const isDue = !draft;
    draft = { ...(chat && { chat }), text: text.startsWith("/") ? "" : text };
    if (!isDue) return;
    setTimeout(() => {
        post("/chats/prewarm", draft).catch(() => {});
        draft = null;
    }, 400);
}

const loadChoice = () => withWords(import("../chat/choice.js"), "forms");

/// Runs a call. If the server asks which model answers, the person chooses one for the conversation, and the call is
/// repeated.
const withModel = (place, settings, call, question) => call().catch(async (error) => {
    if (error.code !== "model-not-chosen") throw error;
    const { callWithChoice } = await loadChoice();
    return callWithChoice(error, place, settings, call, question);
});

/// The questions that were sent before a model was ready; they survive a reload.
const waitingKey = "hearth-waiting-question";

/// Shows the conversation `id`, or a new one without it.
export function show(main, [id]) {
    const life = lifetime();
    const thread = id ? new Thread(id) : null;
    if (thread) life.add(() => thread.end());
    const log = h("ol.log", { role: "list", "aria-label": t("chat.log") });
    const scroller = h("div.scroller", { tabindex: -1 }, h("h2.sr", t("chat.log")), log);
    let isAtEnd = Boolean(thread);
    const stick = (isAsked) => {
        if (isAsked) isAtEnd = true;
        if (isAtEnd) scroller.scrollTop = scroller.scrollHeight;
    };
    const jump = h("button.jump", { type: "button", hidden: true, "aria-label": t("chat.jump"), title: t("chat.jump"), onclick: () => stick(true) }, icon("down"));
    const settings = settingsOf(thread);
    const field = composer({
        key: id ?? "new", placeholder: t(home && !canAnswer() ? "composer.early" : "composer.placeholder"),
        send: (question) => {
            stick(true);
            const sendIt = (words) => send(thread, words, settings, field.node);
            // A command has a slash, though most texts with a slash have none.
            if (!question.text.includes("/")) return sendIt(question);
            return loadCommands().then(({ obey }) => obey({ thread, question, field, sendIt, regenerate }));
        },
        stop: () => post(at("chats", id, "stop")).catch(showError),
        room: () => thread?.context?.length ?? null,
        leavesTo: () => (settings.answering.source === "cloud" && !settings.isPrivate ? settings.answering.name ?? home?.route?.cloud?.model ?? t("route.cloud") : null),
        commands: (area, done) => loadCommands().then(({ menuOf }) => menuOf({ thread, area, done, regenerate })),
        isLocal: async (text) => text.includes("/") && (await loadCommands()).readCommand(text) !== null,
        begun: (text) => { loadEarly(); readEarly(id, text); },
        think: (isOn) => settings.change({ thinks: isOn }).catch(showError),
    });
    const offer = () => field.setAbilities({ ...settings.answering, thinks: settings.values.thinks ?? settings.defaults.thinks });
    life.add(settings.changed.on(offer));
    const head = chatHeader(thread, settings);
    const banner = thread ? modelBanner() : null;
    life.add(head.end);
    life.add(() => banner?.end());
    main.append(head.node, h("div.chat", banner?.node, scroller, jump, field.node, h("p.hint.under", t("composer.hint"))));
    life.add(dropAnywhere(main, field));
    // Where a question goes may change while its files wait.
    life.add(homeChanged.on(() => field.refresh()));

    if (thread) followThread(life, { thread, log, scroller, stick, unstick: () => { isAtEnd = false; }, field, head, settings });
    else {
        settings.read().catch(() => {});
        life.add(on("engine", debounced(() => settings.read().catch(() => {}), 300)));
        const view = welcome((text) => field.setText(text));
        scroller.append(view.node);
        life.add(view.end);
        head.update();
        life.add(homeChanged.on(() => {
            field.setPlaceholder(t(canAnswer() ? "composer.placeholder" : "composer.early"));
            drawWaiting(scroller);
            sendWaiting(settings, field.node);
        }));
        drawWaiting(scroller);
        sendWaiting(settings, field.node);
    }
    if (matchMedia("(hover: hover)").matches) field.focus();
    let lastTop = 0;
    scroller.addEventListener("scroll", () => {
        // Only a person scrolls up; the text itself grows downwards.
        const isNearEnd = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 48;
        if (isNearEnd) isAtEnd = true;
        else if (scroller.scrollTop < lastTop - 2) isAtEnd = false;
        lastTop = scroller.scrollTop;
        set(jump, { hidden: isAtEnd });
    }, { passive: true });
    const sizes = new ResizeObserver(() => stick());
    sizes.observe(log);
    sizes.observe(scroller);
    life.add(() => sizes.disconnect());
    return life.end;
}

function followThread(life, { thread, log, scroller, stick, unstick, field, head, settings }) {
    const voice = reader();
    const actions = messageActions(thread, settings, field.node);
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
    life.add(libraryChanged.on(() => {
        for (const message of thread.messages) if (message.ending) log.views?.get(message.id)?.update(message, "whole");
    }));
    withWords(Promise.all([import("../chat/message.js"), import("../chat/lazy.js"), thread.read()]), "answer").then(([{ messageView }, { lazyMessages }]) => {
        lazy = lazyMessages(scroller, (message) => messageView(message, actions));
        life.add(lazy.end);
        drawAll();
        drawFacts();
        if (!location.hash.includes("/at/")) stick(true);
        const last = thread.messages.at(-1);
        if (last?.role === "assistant" && !thread.answering) voice.hear("", true);
        if (location.hash.includes("/at/")) showMessage(decodeURIComponent(location.hash.split("/at/")[1]));
    }, async (error) => {
        await loadWords("answer").catch(() => {});
        fill(log, h("li.empty", error.code === "not-found" ? t("chat.gone") : error.sentence ?? error.message));
    });
}

const regenerate = (thread, message) => post(at("chats", thread.id, "regenerate"), message ? { message } : {}).catch(showError);

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

/// The commands, whose code comes with the first `/`.
const loadCommands = () => withWords(import("../chat/obey.js"), "forms");

/// Sends a question. If the connection breaks, the conversation tells whether the question has arrived.
async function send(thread, { text, pictures = [], documents = [] }, settings, place) {
    const body = { text, ...(pictures.length > 0 && { pictures }), ...(documents.length > 0 && { documents }) };
    if (!thread) return begin(body, settings, place);
    try {
        await withModel(place, settings, () => post(at("chats", thread.id, "messages"), body), body.text);
    } catch (error) {
        if (!error.isConnection) throw error;
        await thread.read().catch(() => { throw error; });
        const last = thread.messages.findLast((message) => message.role === "user");
        if (last?.content !== body.text) throw error;
    }
    return undefined;
}

// A question of a new conversation; without a model it waits until one is loaded.
async function begin(body, settings, place) {
    if (home && !canAnswer()) {
        sessionStorage.setItem(waitingKey, JSON.stringify(body));
        drawWaiting(document.querySelector(".scroller"));
        return;
    }
    let chat = null;
    const own = {
        get values() { return settings.values; },
        change: async (values) => {
            await settings.change(values);
            await patch(at("chats", chat.id), { settings: values });
        },
    };
    try {
        await withModel(place, own, async () => {
            chat ??= (await post("/chats", { settings: settings.values })).chat;
            return post(at("chats", chat.id, "messages"), body);
        }, body.text);
    } catch (error) {
        // Nothing was said in it.
        if (chat && !error.isConnection) remove(at("chats", chat.id)).catch(() => {});
        throw error;
    }
    sessionStorage.removeItem(waitingKey);
    settings.clear();
    location.hash = `#/chat/${encodeURIComponent(chat.id)}`;
}

let isSending = false;

function sendWaiting(settings, place) {
    const kept = sessionStorage.getItem(waitingKey);
    if (!kept || !canAnswer() || isSending) return;
    isSending = true;
    sessionStorage.removeItem(waitingKey);
    begin(JSON.parse(kept), settings, place).catch((error) => {
        sessionStorage.setItem(waitingKey, kept);
        if (!error.isCancelled) showError(error);
    }).finally(() => { isSending = false; });
}

function drawWaiting(scroller) {
    scroller?.querySelector(".waiting-question")?.remove();
    const kept = sessionStorage.getItem(waitingKey);
    if (!kept || !scroller) return;
    scroller.append(h("div.waiting-question.message.user",
        h("div.bubble", h("div.bubble-text", { dir: "auto" }, JSON.parse(kept).text)),
        h("p.hint", { role: "status" }, t("composer.waiting"), " ",
            h("button.small", { type: "button", onclick: () => { sessionStorage.removeItem(waitingKey); drawWaiting(scroller); } }, t("cancel")))));
    // The welcome above it may fill the screen.
    scroller.scrollTop = scroller.scrollHeight;
}

// A file may be dropped anywhere on the screen, not only on the field.
function dropAnywhere(main, field) {
    const over = (event) => { if ([...event.dataTransfer.types].includes("Files")) event.preventDefault(); };
    const drop = (event) => {
        if (event.defaultPrevented || event.dataTransfer.files.length === 0) return;
        event.preventDefault();
        field.addFiles(event.dataTransfer.files);
    };
    main.addEventListener("dragover", over);
    main.addEventListener("drop", drop);
    return () => {
        main.removeEventListener("dragover", over);
        main.removeEventListener("drop", drop);
    };
}
