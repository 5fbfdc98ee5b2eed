// The commands of a conversation in menus; their dialogs are loaded when they are used.
import { showError } from "../kit/toast.js";
import { t, withWords } from "../kit/texts.js";

const run = (name, chat) => (button) => withWords(import("./arrange.js"), "forms").then((commands) => commands[name](chat, button)).catch(showError);

/// Pin, archive and move. A private conversation is not kept, and has no place.
const placeEntries = (chat) => (chat.isPrivate ? [] : [
    { label: t(chat.pinned ? "chats.unpin" : "chats.pin"), icon: "pin", run: run("pin", chat) },
    { label: t(chat.archived ? "chats.unarchive" : "chats.archive"), icon: "archive", run: run("archive", chat) },
    { label: t("chats.move"), icon: "folder", run: run("move", chat) },
]);

/// All commands of a conversation in a list.
export const chatEntries = (chat) => [
    { label: t("chat.rename"), icon: "edit", run: run("rename", chat) },
    ...placeEntries(chat),
    { label: t("chat.export.markdown"), icon: "export", run: run("exportMarkdown", chat) },
    { label: t("chat.export.json"), icon: "export", run: run("exportJSON", chat) },
    { label: t("chat.delete"), icon: "remove", isDangerous: true, run: run("erase", chat) },
];
