// The commands of a conversation in the list: rename, pin, archive, move, export, delete.
import { h } from "../kit/dom.js";
import { at, patch, remove } from "../kit/api.js";
import { download } from "../kit/files.js";
import { ask, formDialog } from "../kit/dialog.js";
import { perform, showError, toast } from "../kit/toast.js";
import { t } from "../kit/texts.js";
import { folders } from "../data/chats.js";

const change = (chat, values) => patch(at("chats", chat.id), values);

export const rename = (chat) => formDialog({
    title: t("chat.rename"),
    fields: [{ name: "title", label: t("chat.title"), type: "text", value: chat.title ?? "", hint: t("chat.rename.hint") }],
    save: ({ title }) => change(chat, { title }),
});

export const pin = (chat, button) => perform(button, () => change(chat, { pinned: !chat.pinned }));

export const archive = (chat, button) => perform(button, async () => {
    await change(chat, { archived: !chat.archived });
    toast(t(chat.archived ? "chats.unarchived" : "chats.archived.done"), {
        action: t("undo"), run: () => change(chat, { archived: Boolean(chat.archived) }).catch(showError),
    });
});

/// Asks for a folder: a new name, or one of the present.
export function move(chat) {
    const names = h("datalist", { id: "folder-names" }, folders.list.map(({ name }) => h("option", { value: name })));
    const dialog = formDialog({
        title: t("chats.move.title"),
        fields: [{ name: "folder", label: t("chats.folder.name"), type: "text", value: chat.folder ?? "", hint: t("chats.folder.hint"), list: "folder-names" }],
        save: ({ folder }) => change(chat, { folder }),
    });
    dialog.append(names);
}

const exportAs = (chat, format) => download(`${at("chats", chat.id, "export")}?format=${format}`).catch(showError);

export const exportMarkdown = (chat) => exportAs(chat, "markdown");

export const exportJSON = (chat) => exportAs(chat, "json");

export async function erase(chat, button) {
    const isSure = await ask({ title: t("chat.delete"), text: t("chat.delete.text", { title: chat.title || t("chat.untitled") }), yes: t("delete"), isDangerous: true });
    if (!isSure) return;
    await perform(button, async () => {
        await remove(at("chats", chat.id));
        toast(t("chat.deleted"));
        document.querySelector(".chat-list-head input")?.focus();
        if (location.hash.split("/at/")[0] === `#/chat/${encodeURIComponent(chat.id)}`) location.hash = "#/chat";
    });
}
