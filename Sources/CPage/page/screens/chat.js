// The screen of one conversation, or of a new one.
import { debounced, h, lifetime, set } from "../kit/dom.js";
import { at, patch, post, remove } from "../kit/api.js";
import { on } from "../kit/live.js";
import { icon } from "../kit/icons.js";
import { showError } from "../kit/toast.js";
import { t, withWords } from "../kit/texts.js";
import { canAnswer, home, homeChanged } from "../data/home.js";
import { settingsOf } from "../data/chat-settings.js";
import { chatHeader } from "../chat/header.js";
import { composer } from "../chat/composer.js";
import { modelBanner, welcome } from "../chat/welcome.js";
import { withModel } from "../chat/with-model.js";

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

/// The questions that were sent before a model was ready; they survive a reload.
const waitingKey = "hearth-waiting-question";

let conversation = null;

const loadConversation = () => withWords(import("../chat/conversation.js"), "answer").then((module) => { conversation = module; });

/// Loads what the conversation `id` needs.
export const prepare = ([id]) => (id ? loadConversation() : undefined);

/// Shows the conversation `id`, or a new one without it. A conversation has to be prepared.
export function show(main, [id]) {
    const life = lifetime();
    const thread = id ? conversation.openThread(id, life) : null;
    const log = h("ol.log", { role: "list", "aria-label": t("chat.log") });
    const scroller = h("div.scroller", { tabindex: -1 }, h("h2.sr", t("chat.log")), log);
    let isAtEnd = Boolean(thread);
    const stick = (isAsked) => {
        if (isAsked) isAtEnd = true;
        if (isAtEnd) scroller.scrollTop = scroller.scrollHeight;
    };
    keepAtEnd = stick;
    const sizes = new ResizeObserver(() => stick());
    const jump = h("button.jump", { type: "button", hidden: true, "aria-label": t("chat.jump"), title: t("chat.jump"), onclick: () => stick(true) }, icon("down"));
    const settings = settingsOf(thread);
    const field = composer({
        key: id ?? "new", placeholder: t(home && !canAnswer() ? "composer.early" : "composer.placeholder"),
        send: (question) => {
            stick(true);
            const sendIt = ({ text, pictures = [], documents = [] }) => {
                const body = { text, ...(pictures.length > 0 && { pictures }), ...(documents.length > 0 && { documents }) };
                return thread ? conversation.sendIn(thread, body, settings, field.node) : begin(body, settings, field.node);
            };
            // A command has a slash, though most texts with a slash have none.
            if (!question.text.includes("/")) return sendIt(question);
            return loadCommands().then(({ obey }) => obey({ thread, question, field, sendIt }));
        },
        stop: () => post(at("chats", id, "stop")).catch(showError),
        room: () => thread?.context?.length ?? null,
        leavesTo: () => (settings.answering.source === "cloud" && !settings.isPrivate ? settings.answering.name ?? home?.route?.cloud?.model ?? t("route.cloud") : null),
        commands: (area, done) => loadCommands().then(({ menuOf }) => menuOf({ thread, area, done })),
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

    if (thread) conversation.followThread(life, { thread, log, scroller, stick, unstick: () => { isAtEnd = false; }, field, head, settings });
    else {
        settings.read().catch(() => {});
        life.add(on("engine", debounced(() => settings.read().catch(() => {}), 300)));
        const view = welcome((text) => field.setText(text));
        scroller.append(view.node);
        sizes.observe(view.node);
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
    sizes.observe(log);
    sizes.observe(scroller);
    life.add(() => sizes.disconnect());
    return life.end;
}

/// The commands, whose code comes with the first `/`.
const loadCommands = () => withWords(import("../chat/obey.js"), "forms");

// A question of a new conversation; without a model it waits until one is loaded.
async function begin(body, settings, place) {
    if (home && !canAnswer()) {
        // One question waits; the next one stays in the field.
        if (sessionStorage.getItem(waitingKey)) return "undone";
        sessionStorage.setItem(waitingKey, JSON.stringify(body));
        drawWaiting(document.querySelector(".scroller"));
        return undefined;
    }
    // The code of answers comes while the question is on its way.
    loadConversation().then(() => conversation.loadViews()).catch(() => {});
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
    return undefined;
}

let keepAtEnd;
let isSending = false;

function sendWaiting(settings, place) {
    const kept = sessionStorage.getItem(waitingKey);
    if (!kept || !canAnswer() || isSending) return;
    isSending = true;
    // It is kept until the server has it.
    begin(JSON.parse(kept), settings, place).catch((error) => {
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
    // The welcome above it may fill the screen, or grow.
    keepAtEnd(true);
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
