// The list of conversations: beside every screen if there is room, a screen of its own on a narrow page.
import { h, fill, keyed, set, text, debounced } from "../kit/dom.js";
import { icon } from "../kit/icons.js";
import { get } from "../kit/api.js";
import { day } from "../kit/format.js";
import { showError } from "../kit/toast.js";
import { t } from "../kit/texts.js";
import { chatsChanged, newestChats } from "../data/chats.js";

/// Shows the list as a screen.
export function show(main) {
    main.append(h("div.page", h("header.page-head", h("h1.grow", t("chats.title"))), chatList()));
}

/// The list with search and the button for a new conversation.
export function chatList() {
    const list = h("ul.chat-list", { role: "list" });
    const words = h("input", { type: "search", placeholder: t("chats.search"), "aria-label": t("chats.search"), oninput: () => search() });
    const none = h("p.caption", { hidden: true });
    const node = h("div.chat-list-box",
        h("div.chat-list-head", words, h("a.icon-button", { href: "#/chat", "aria-label": t("chat.new"), title: t("chat.new") }, icon("plus"))),
        none, list);
    const draw = () => {
        if (words.value.trim()) return;
        const chats = newestChats();
        keyed(list, chats, (chat) => chat.id, chatRow);
        set(none, { hidden: chats.length > 0 });
        text(none, t("chats.none"));
    };
    const search = debounced(async () => {
        const query = words.value.trim();
        if (!query) {
            list.views?.clear();
            fill(list);
            return draw();
        }
        try {
            const { hits } = await get(`/chats/search?q=${encodeURIComponent(query)}`);
            if (words.value.trim() !== query) return undefined;
            list.views?.clear();
            fill(list, hits.map((hit) => h("li", h("a.chat-link", { href: `#/chat/${encodeURIComponent(hit.chat.id)}/at/${encodeURIComponent(hit.message)}` },
                h("span.chat-name", { dir: "auto" }, hit.chat.title || t("chat.untitled")),
                h("span.caption.excerpt", { dir: "auto" }, hit.excerpt)))));
            set(none, { hidden: hits.length > 0 });
            text(none, t("chats.no-hit"));
        } catch (error) {
            showError(error);
        }
        return undefined;
    }, 250);
    const mark = () => {
        for (const link of list.querySelectorAll("a")) set(link, { "aria-current": isOpen(link) ? "page" : null });
    };
    const end = chatsChanged.on(() => { if (node.isConnected || !node.parentNode) { draw(); mark(); } else end(); });
    addEventListener("hashchange", mark);
    draw();
    mark();
    return node;
}

const isOpen = (link) => link.hash.split("/at/")[0] === location.hash.split("/at/")[0];

function chatRow(chat) {
    const name = h("span.chat-name", { dir: "auto" });
    const caption = h("span.caption");
    const dot = h("span.live-dot", { title: t("chat.answering") });
    const link = h("a.chat-link", { href: `#/chat/${encodeURIComponent(chat.id)}` }, name, caption, dot);
    const update = (next) => {
        text(name, next.title || t("chat.untitled"));
        text(caption, [next.isPrivate ? t("chat.private") : "", day(new Date(next.changed))].filter(Boolean).join(" · "));
        set(dot, { hidden: !next.isAnswering });
        set(link, { "aria-current": isOpen(link) ? "page" : null });
    };
    update(chat);
    return { node: h("li", link), update };
}
