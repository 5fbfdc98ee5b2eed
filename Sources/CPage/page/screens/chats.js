// The list of conversations: beside every screen if there is room, a screen of its own on a narrow page.
import { h, fill, set, text } from "../kit/dom.js";
import { icon } from "../kit/icons.js";
import { menuButton } from "../kit/menu.js";
import { day, span } from "../kit/format.js";
import { showError } from "../kit/toast.js";
import { t } from "../kit/texts.js";
import { windowed } from "../kit/window.js";
import { chatEntries } from "../chat/entries.js";
import { chatsChanged, folders, hasMoreChats, newestChats, readMoreChats, showChats, shown } from "../data/chats.js";

/// Shows the list as a screen.
export function show(main) {
    const list = chatList();
    main.append(h("div.page.chats-page", h("header.page-head", h("h1.grow", t("chats.title"))), list));
    return list.end;
}

/// The list with search, filter and the button for a new conversation.
export function chatList() {
    const list = h("ul.chat-list", { role: "list" });
    const scroller = h("div.chat-scroll", list);
    const none = h("p.caption", { role: "status", hidden: true });
    const filter = h("select", { "aria-label": t("chats.filter"), hidden: true, onchange: () => choose(filter.value) });
    // The code of the search comes with its first word.
    let found = { hits: null };
    let isEnded = false;
    const begin = () => import("../chat/finder.js").then(({ finder }) => {
        if (!isEnded && !found.end) found = finder(words, head, (isNew) => { if (isNew) scroller.scrollTop = 0; draw(); });
    }, (error) => {
        words.addEventListener("input", begin, { once: true });
        showError(error);
    });
    const words = h("input", { type: "search", placeholder: t("chats.search"), "aria-label": t("chats.search") });
    words.addEventListener("input", begin, { once: true });
    const head = h("div.chat-list-head", words, h("a.icon-button", { href: "#/chat", "aria-label": t("chat.new"), title: t("chat.new") }, icon("plus")));
    const node = h("div.chat-list-box", head, filter, none, scroller);
    const rows = windowed(scroller, list, rowView, () => { if (found.hits) found.more(); else readMoreChats(); });
    const draw = () => {
        drawFilter(filter, Boolean(found.hits));
        const items = found.hits ? found.hits.map(hitItem) : grouped(newestChats());
        rows.draw(items);
        set(none, { hidden: items.length > 0 || (found.hits ? !found.isRead : hasMoreChats()) });
        text(none, t(found.hits ? "chats.no-hit" : shown.archived || shown.folder !== null ? "chats.none-here" : "chats.none"));
    };
    const mark = () => {
        for (const link of list.querySelectorAll("a")) set(link, { "aria-current": isOpen(link) ? "page" : null });
    };
    const end = chatsChanged.on(() => { if (node.isConnected || !node.parentNode) draw(); });
    addEventListener("hashchange", mark);
    draw();
    node.end = () => { isEnded = true; end(); rows.end(); found.end?.(); removeEventListener("hashchange", mark); };
    return node;
}

const isOpen = (link) => link.hash.split("/at/")[0] === location.hash.split("/at/")[0];

// Filter

const choose = (value) => showChats(value === "archived" ? { archived: true } : value === "all" ? {} : { folder: value.slice(1) });

// A search finds the conversations of all folders.
function drawFilter(select, isSearching) {
    const isOffered = !isSearching && (folders.list.length > 0 || folders.archivedCount > 0 || shown.archived || shown.folder !== null);
    set(select, { hidden: !isOffered });
    const names = folders.list.map(({ name, count }) => [`/${name}`, t("chats.folder", { name, count })]);
    const value = shown.archived ? "archived" : shown.folder === null ? "all" : `/${shown.folder}`;
    if (shown.folder !== null && !names.some(([name]) => name === value)) names.push([value, t("chats.folder", { name: shown.folder, count: 0 })]);
    const options = [["all", t("chats.all")], ...names, ["archived", t("chats.archived", { count: folders.archivedCount })]];
    const drawn = JSON.stringify(options);
    if (select.dataset.drawn !== drawn) fill(select, options.map(([name, label]) => h("option", { value: name }, label)));
    select.dataset.drawn = drawn;
    select.value = value;
}

// Rows

/// The conversations with a line before each group: pinned, then by date.
function grouped(chats) {
    const items = [];
    let last = null;
    for (const chat of chats) {
        const group = chat.pinned ? t("chats.pinned") : span(new Date(chat.changed));
        if (group !== last) items.push({ key: `group ${group}`, height: 2, group });
        last = group;
        items.push({ key: chat.id, height: 3.5, chat, number: items.length + 1 });
    }
    return items;
}

const hitItem = (hit) => ({ key: `hit ${hit.chat.id}`, height: 3.5, chat: hit.chat, hit });

const rowView = (item) => (item.group ? groupView(item) : chatView(item));

function groupView({ key }) {
    const node = h("li.chat-group", { "data-key": key });
    return { node, update: ({ group }) => text(node, group) };
}

function chatView({ key }) {
    let current = null;
    const name = h("span.chat-name", { dir: "auto" });
    const caption = h("span.caption.excerpt", { dir: "auto" });
    const dot = h("span.live-dot", { title: t("chat.answering") });
    const link = h("a.chat-link", name, caption, dot);
    let menu = null;
    const node = h("li.chat-row", { "data-key": key }, link);
    const update = ({ chat, hit }) => {
        if (!menu || current?.title !== chat.title) {
            menu?.remove();
            menu = menuButton(t("chats.menu", { title: chat.title || t("chat.untitled") }), () => chatEntries(current));
            node.append(menu);
        }
        current = chat;
        const at = hit?.message ? `/at/${encodeURIComponent(hit.message)}` : "";
        set(link, { href: `#/chat/${encodeURIComponent(chat.id)}${at}` });
        text(name, chat.title || t("chat.untitled"));
        text(caption, hit ? hitCaption(hit) : [chat.isPrivate && t("chat.private"), shown.folder === null && chat.folder, day(new Date(chat.changed))].filter(Boolean).join(" · "));
        set(dot, { hidden: !chat.isAnswering });
        set(link, { "aria-current": isOpen(link) ? "page" : null });
    };
    return { node, update };
}

const hitCaption = ({ chat, count, excerpt }) => [chat.archived && t("chats.archived.mark"), count > 1 && t("chats.hits", { n: count }), excerpt].filter(Boolean).join(" · ");
