// Carries out the commands of the field for questions.
import { at, post } from "../kit/api.js";
import { ask } from "../kit/dialog.js";
import { showError } from "../kit/toast.js";
import { t, withWords } from "../kit/texts.js";
import { home } from "../data/home.js";
import { erase, exportJSON, exportMarkdown, rename } from "./arrange.js";
import { commandMenu, commandName, readCommand, recordKinds } from "./commands.js";

export { readCommand };

/// The menu above the field `area`; `done(run)` is called with what the chosen command does.
export const menuOf = ({ thread, area, done }) => commandMenu(area, commands(thread), done, (name) => name !== "web" || Boolean(home?.search));

const loadWordsOfRecords = () => withWords(import("./words.js"), "stores");

/// Carries out a text with a command and returns "command", or "undone" for one that was not carried out, whose words come
/// back into the field. A text without one is sent by `sendIt(question)`.
export async function obey({ thread, question, field, sendIt }) {
    const command = readCommand(question.text);
    if (!command) return sendIt(question);
    const { name, words } = command;
    if (recordKinds[name]) {
        const { openDraft } = await loadWordsOfRecords();
        return (await openDraft(command)) ? "command" : "undone";
    }
    if (name === "contact" || name === "web") {
        const { openSearch } = await loadWordsOfRecords();
        openSearch(name, words, field.node);
        return "command";
    }
    if (!name) {
        const isText = await ask({ title: t("command.unknown.title", { name: command.typed }), text: t("command.unknown"), yes: t("command.unknown.send") });
        return isText ? sendIt(question) : "undone";
    }
    return run(thread, name, words, ({ text }) => sendIt({ ...question, text }));
}

async function run(thread, name, words, sendIt) {
    if (["new", "private"].includes(name)) {
        if (!words && name === "new") { location.hash = "#/chat"; return "command"; }
        if (name === "new" && !thread) return sendIt({ text: words });
        const { chat } = await post("/chats", name === "private" ? { isPrivate: true } : {});
        if (words) await post(at("chats", chat.id, "messages"), { text: words });
        location.hash = `#/chat/${encodeURIComponent(chat.id)}`;
        return "command";
    }
    const found = commands(thread).find((command) => command.name === name);
    if (!found) {
        const sentence = t("command.needs-chat", { name: commandName(name) });
        throw Object.assign(new Error(sentence), { sentence });
    }
    await found.run(words);
    return "command";
}

/// The commands without words.
function commands(thread) {
    return [
        { name: "new", icon: "plus", run: () => { location.hash = "#/chat"; } },
        { name: "private", icon: "eye", run: async () => {
            const { chat } = await post("/chats", { isPrivate: true });
            location.hash = `#/chat/${encodeURIComponent(chat.id)}`;
        } },
        { name: "models", icon: "models", run: () => { location.hash = "#/models"; } },
        ...(thread ? [
            { name: "retry", icon: "again", run: () => post(at("chats", thread.id, "regenerate")).catch(showError) },
            { name: "rename", icon: "edit", run: () => rename(thread.chat) },
            { name: "export", icon: "export", run: (words) => (words?.toLowerCase() === "json" ? exportJSON : exportMarkdown)(thread.chat) },
            { name: "delete", icon: "remove", run: () => erase(thread.chat) },
        ] : []),
    ];
}
