// The list of conversations, newest first.
import { signal } from "../kit/dom.js";
import { get } from "../kit/api.js";
import { on, reset } from "../kit/live.js";

/// The conversations by id.
export const chats = new Map();

/// Emitted when the list has changed.
export const chatsChanged = signal();

let isRead = false;

/// Reads the newest conversations.
export async function readChats() {
    const reply = await get("/chats?limit=200");
    isRead = true;
    chats.clear();
    for (const chat of reply.chats) chats.set(chat.id, chat);
    chatsChanged.emit();
}

on("chat", ({ chat }) => {
    chats.set(chat.id, chat);
    chatsChanged.emit();
});

on("chat-removed", ({ id }) => {
    chats.delete(id);
    chatsChanged.emit();
});

reset.on(() => { if (isRead) readChats().catch(() => {}); });

/// The conversations, the last changed first.
export const newestChats = () => [...chats.values()].sort((a, b) => (a.changed < b.changed ? 1 : -1));
