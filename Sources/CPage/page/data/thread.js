// One conversation: its messages, kept equal to the server's by events.
import { debounced, signal } from "../kit/dom.js";
import { at, get } from "../kit/api.js";
import { gate, on, reset } from "../kit/live.js";

export class Thread {
    /// Emitted as `changed(message, what)`; `what` is "text", "thinking", "phase", "cards" or "whole".
    changed = signal();
    /// Emitted when messages were added, removed or read anew.
    reordered = signal();
    /// Emitted when the title, the context or the state of answering has changed.
    facts = signal();
    /// Emitted once when the conversation was deleted elsewhere, or ended with the server.
    gone = signal();

    chat = null;
    messages = [];
    context = null;
    /// The settings of the conversation, the values of those that it does not set, and the model that answers next.
    settings = {};
    defaults = {};
    next = {};
    isGone = false;
    #gate = gate();
    #ends = [];

    constructor(id) {
        this.id = id;
        const listen = (name, take) => this.#ends.push(on(name, (data, event) => {
            if ((data.chat?.id ?? data.chat) !== this.id) return;
            this.#gate.pass(event, () => { if (this.chat) take(data); });
        }));
        listen("chat", ({ chat }) => {
            const hasEnded = this.chat.isAnswering && !chat.isAnswering;
            this.chat = chat;
            this.facts.emit();
            if (hasEnded) this.#readContext();
        });
        listen("message", ({ message }) => this.#place(message));
        listen("message-removed", ({ message }) => {
            const index = this.messages.findIndex(({ id }) => id === message);
            if (index >= 0) this.messages.splice(index);
            this.reordered.emit();
        });
        listen("phase", (data) => this.#with(data, "phase", (message) => { message.phase = data; }));
        listen("thinking", (data) => this.#with(data, "thinking", (message) => {
            message.phase = null;
            message.isThinking = true;
            this.#grow(message, "thinkingContent", data);
        }));
        listen("thinking-ended", (data) => this.#with(data, "thinking", (message) => { message.isThinking = false; }));
        listen("text", (data) => this.#with(data, "text", (message) => {
            message.phase = null;
            this.#grow(message, "content", data);
        }));
        listen("cleared", (data) => this.#with(data, "text", (message) => { message.content = ""; }));
        listen("card", (data) => this.#with(data, "cards", (message) => {
            const index = message.cards.findIndex(({ id }) => id === data.card.id);
            if (index >= 0) message.cards[index] = data.card; else message.cards.push(data.card);
        }));
        listen("notice", (data) => this.#with(data, "cards", (message) => {
            if (!message.notices.includes(data.text)) message.notices.push(data.text);
        }));
        for (const name of ["branch", "chat-settings"]) listen(name, () => this.read().catch(() => {}));
        this.#ends.push(reset.on(() => this.read().catch(() => {})));
        // A model that is loaded tells what it can.
        this.#ends.push(on("engine", debounced(() => { if (this.chat && !this.chat.isAnswering && !this.isGone) this.#readContext(); }, 300)));
        this.#ends.push(on("chat-removed", ({ id: removed }) => { if (removed === this.id) this.#end(); }));
    }

    /// Reads the conversation anew.
    async read() {
        try {
            return await this.#gate.read(at("chats", this.id), (reply) => this.#take(reply));
        } catch (error) {
            if (this.chat && error.status === 404) this.#end();
            throw error;
        }
    }

    /// Shows the conversation up to a message only; what follows belongs to another branch.
    cutBefore(id) {
        const index = this.messages.findIndex((message) => message.id === id);
        if (index < 0) return;
        this.messages.splice(index);
        this.reordered.emit();
    }

    // What is on the screen stays: it may be all that is left.
    #end() {
        if (this.isGone) return;
        this.isGone = true;
        if (this.chat) this.chat.isAnswering = false;
        for (const message of this.messages) this.changed.emit(message, "whole");
        this.gone.emit();
        this.facts.emit();
    }

    #take(reply) {
        this.chat = reply.chat;
        this.context = reply.context ?? this.context;
        this.#takeSettings(reply);
        this.messages = reply.messages;
        if (reply.phase && this.answering) this.answering.phase = reply.phase;
        this.reordered.emit();
        this.facts.emit();
    }

    #takeSettings({ settings, defaults, answering }) {
        this.settings = settings ?? {};
        this.defaults = defaults ?? {};
        this.next = answering ?? {};
    }

    /// The answer that is being written, or undefined.
    get answering() {
        const last = this.messages.at(-1);
        return this.chat?.isAnswering && last?.role === "assistant" ? last : undefined;
    }

    end() {
        for (const end of this.#ends.splice(0)) end();
    }

    #place(message) {
        const index = this.messages.findIndex(({ id }) => id === message.id);
        if (index >= 0) {
            message.phase = message.facts ? null : this.messages[index].phase;
            this.messages[index] = message;
            this.changed.emit(message, "whole");
        } else if ((message.parent ?? null) === (this.messages.at(-1)?.id ?? null)) {
            this.messages.push(message);
            this.reordered.emit();
        } else {
            // A message of another branch: its place is known to the server only.
            this.read().catch(() => {});
        }
    }

    #with({ message: id }, what, change) {
        const message = this.messages.findLast((candidate) => candidate.id === id);
        if (!message) return;
        change(message);
        this.changed.emit(message, what);
    }

    // The offset makes an event that was already included harmless; a gap shows that something was missed.
    #grow(message, name, { offset, delta }) {
        const before = message[name] ?? "";
        if (offset > before.length) this.read().catch(() => {});
        else message[name] = offset === before.length ? before + delta : before.slice(0, offset) + delta;
    }

    async #readContext() {
        const reply = await get(at("chats", this.id)).catch(() => null);
        if (!reply) return;
        this.context = reply.context;
        this.#takeSettings(reply);
        this.facts.emit();
    }
}
