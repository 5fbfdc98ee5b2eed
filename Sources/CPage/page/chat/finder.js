// The search of conversations: its fields, its hits and their pages.
import { h, debounced, set } from "../kit/dom.js";
import { get } from "../kit/api.js";
import { on } from "../kit/live.js";
import { showError } from "../kit/toast.js";
import { t } from "../kit/texts.js";

/// The search of the field `words`, with fields for the days below `head`: `{ hits, isRead, more(), end() }`;
/// `hits` is null without a search. `draw(isNew)` is called after each change,
/// with true after the first page of a search and after its end.
export function finder(words, head, draw) {
    const from = h("input", { type: "date", oninput: () => later() });
    const until = h("input", { type: "date", oninput: () => later() });
    const dates = h("div.chat-dates", { hidden: true }, h("label", t("chats.from"), from), h("label", t("chats.until"), until));
    head.after(dates);
    const state = { hits: null, isRead: false, more };
    // A hit that is renamed, moved or removed meanwhile.
    const change = (next) => { if (state.hits) { state.hits = next(state.hits); draw(); } };
    const ends = [
        on("chat", ({ chat }) => change((hits) => hits.map((hit) => (hit.chat.id === chat.id ? { ...hit, chat } : hit)))),
        on("chat-removed", ({ id }) => change((hits) => hits.filter((hit) => hit.chat.id !== id))),
    ];
    state.end = () => { for (const end of ends) end(); };
    let number = 0;
    let next = null;
    const later = debounced(find, 20);
    const path = () => {
        const query = new URLSearchParams({ q: words.value.trim(), limit: 30 });
        if (from.value) query.set("from", new Date(`${from.value}T00:00`).toISOString());
        if (until.value) {
            const end = new Date(`${until.value}T00:00`);
            end.setDate(end.getDate() + 1);
            query.set("until", end.toISOString());
        }
        return `/chats/search?${query}`;
    };
    async function read(more, take) {
        const mine = ++number;
        next = null;
        try {
            const reply = await get(path() + more);
            if (mine !== number) return;
            next = reply.next ?? null;
            take(reply.hits);
            state.isRead = true;
            draw(more === "");
        } catch (error) {
            if (mine === number) showError(error);
        }
    }
    async function find() {
        const isAsked = words.value.trim() !== "";
        set(dates, { hidden: !isAsked });
        if (isAsked) return read("", (hits) => { state.hits = hits; });
        number += 1;
        Object.assign(state, { hits: null, isRead: false });
        draw(true);
        return undefined;
    }
    function more() {
        if (next) read(`&before=${next}`, (hits) => { state.hits = [...state.hits, ...hits]; });
    }
    words.addEventListener("input", later);
    later();
    return state;
}
