// The list of conversations: pinned ones first, then those changed last first. Pages are read as they are needed.
import { debounced, signal } from "../kit/dom.js";
import { get } from "../kit/api.js";
import { gate, on, reset } from "../kit/live.js";

/// The conversations that are read, by id.
export const chats = new Map();

/// Emitted when the list has changed.
export const chatsChanged = signal();

/// The shown part: a folder's name or null, and whether archived conversations are meant.
export const shown = { folder: null, archived: false };

/// The folders `{ name, count }`, and the number of archived conversations.
export const folders = { list: [], archivedCount: 0 };

const pageSize = 60;
const entrance = gate();
let isRead = false;
let isReading = false;
let next = null;
let sorted = null;

const changed = () => { sorted = null; chatsChanged.emit(); };

const path = (more = "") => `/chats?limit=${pageSize}${shown.archived ? "&archived=true" : ""}${
    shown.folder === null ? "" : `&folder=${encodeURIComponent(shown.folder)}`}${more}`;

/// Whether a conversation belongs to the shown part.
const fits = (chat) => Boolean(chat.archived) === shown.archived && (shown.folder === null || chat.folder === shown.folder);

function takeFolders(reply) {
    folders.list = reply.folders ?? [];
    folders.archivedCount = reply.archivedCount ?? 0;
}

/// Reads the first page.
export function readChats() {
    isReading = true;
    const asked = path();
    return entrance.read(asked, (reply) => {
        if (asked !== path()) return;
        isRead = true;
        next = reply.next ?? null;
        takeFolders(reply);
        chats.clear();
        for (const chat of reply.chats) chats.set(chat.id, chat);
        changed();
    }).finally(() => {
        isReading = false;
        if (asked !== path()) readChats().catch(() => {});
    });
}

/// Reads the next page, if there are more and none is being read.
export function readMoreChats() {
    if (!next || isReading) return;
    isReading = true;
    const asked = path(`&before=${next}`);
    entrance.read(asked, (reply) => {
        if (asked !== path(`&before=${next}`)) return;
        next = reply.next ?? null;
        for (const chat of reply.chats) chats.set(chat.id, chat);
        changed();
    }).catch(() => {}).finally(() => {
        isReading = false;
        if (!asked.startsWith(path())) readChats().catch(() => {});
    });
}

/// Whether conversations are left to read.
export const hasMoreChats = () => next !== null;

/// Shows a folder, all conversations, or the archived ones.
export function showChats({ folder = null, archived = false }) {
    Object.assign(shown, { folder, archived });
    // A page that is being read is followed by that of the new part.
    if (!isReading) readChats().catch(() => {});
}

const readFolders = debounced(() => get("/chats?limit=1").then((reply) => {
    takeFolders(reply);
    chatsChanged.emit();
}, () => {}), 200);

on("chat", ({ chat }, id) => entrance.pass(id, () => {
    const before = chats.get(chat.id);
    if (fits(chat)) chats.set(chat.id, chat); else chats.delete(chat.id);
    if (chat.folder !== before?.folder || Boolean(chat.archived) !== Boolean(before?.archived)) readFolders();
    changed();
}));

on("chat-removed", ({ id: removed }, id) => entrance.pass(id, () => {
    chats.delete(removed);
    if (folders.list.length > 0 || folders.archivedCount > 0) readFolders();
    changed();
}));

reset.on(() => { if (isRead) readChats().catch(() => {}); });

const order = (a, b) => Number(Boolean(b.pinned)) - Number(Boolean(a.pinned)) || (a.changed < b.changed ? 1 : a.changed > b.changed ? -1 : 0);

/// The conversations that are read, in the order of the list.
export const newestChats = () => { sorted ??= [...chats.values()].sort(order); return sorted; };
