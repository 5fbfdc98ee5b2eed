// The list of conversations, newest first.
import { signal } from "../kit/dom.js";
import { gate, on, reset } from "../kit/live.js";

/// The conversations by id.
export const chats = new Map();

/// Emitted when the list has changed.
export const chatsChanged = signal();

const entrance = gate();
let isRead = false;

/// Reads the newest conversations.
export const readChats = () => entrance.read("/chats?limit=200", (reply) => {
    isRead = true;
    chats.clear();
    for (const chat of reply.chats) chats.set(chat.id, chat);
    chatsChanged.emit();
});

on("chat", ({ chat }, id) => entrance.pass(id, () => {
    chats.set(chat.id, chat);
    chatsChanged.emit();
}));

on("chat-removed", ({ id: removed }, id) => entrance.pass(id, () => {
    chats.delete(removed);
    chatsChanged.emit();
}));

reset.on(() => { if (isRead) readChats().catch(() => {}); });

/// The conversations, the last changed first.
export const newestChats = () => [...chats.values()].sort((a, b) => (a.changed < b.changed ? 1 : -1));
