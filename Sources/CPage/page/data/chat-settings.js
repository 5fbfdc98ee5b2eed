// The settings of one conversation, or of the new one that is yet to begin.
import { signal } from "../kit/dom.js";
import { at, patch, post } from "../kit/api.js";
import { home } from "./home.js";
import { library, rows, shownName } from "./library.js";

/// The settings chosen for the new conversation survive a reload.
const newKey = "hearth-new-settings";

/// The settings of `thread`, or of a new conversation without it: `values` that it sets, the `defaults` of the others, and
/// `answering`, the model that would answer. `change(values)` refuses a value with the error's `field`.
export function settingsOf(thread) {
    return thread ? keptSettings(thread) : newSettings();
}

function keptSettings(thread) {
    return {
        changed: thread.facts,
        get values() { return thread.settings ?? {}; },
        get defaults() { return thread.defaults ?? {}; },
        get answering() { return thread.next ?? {}; },
        get isPrivate() { return Boolean(thread.chat?.isPrivate); },
        read: () => thread.read(),
        async change(settings) {
            await patch(at("chats", thread.id), { settings });
            await thread.read();
        },
    };
}

function newSettings() {
    const changed = signal();
    let reply = {};
    let values = JSON.parse(sessionStorage.getItem(newKey) ?? "{}");
    const take = (next) => {
        reply = next;
        values = next.settings;
        if (Object.keys(values).length > 0) sessionStorage.setItem(newKey, JSON.stringify(values));
        else sessionStorage.removeItem(newKey);
        changed.emit();
    };
    const check = async (settings) => take(await post("/chats/settings", { settings }));
    return {
        changed,
        get values() { return values; },
        get defaults() { return reply.defaults ?? { model: library?.selected, cloud: home?.route?.cloud?.model, forceLocal: home?.route?.forceLocal }; },
        get answering() { return reply.answering ?? { source: home?.route?.source ?? "local" }; },
        isPrivate: false,
        read: () => check(values).catch((error) => {
            // The model that was chosen is gone.
            if (!error.field) throw error;
            return check({});
        }),
        change: (settings) => check({ ...values, ...settings }),
        /// The new conversation has begun with them.
        clear() {
            values = {};
            sessionStorage.removeItem(newKey);
        },
    };
}

/// The name of the model with an id, as the library shows it.
export const modelName = (id) => (rows.has(id) ? shownName(rows.get(id)) : id);
