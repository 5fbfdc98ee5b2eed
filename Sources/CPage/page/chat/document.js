// The documents of a question in a conversation: a button each, which shows the text that the model was given.
import { h } from "../kit/dom.js";
import { openDialog } from "../kit/dialog.js";
import { fetched } from "../kit/files.js";
import { icon } from "../kit/icons.js";
import { showError } from "../kit/toast.js";
import { t } from "../kit/texts.js";
import { factsText } from "./attach.js";

/// The buttons of a message's documents.
export const documentList = (message) => (message.attachments ?? []).map((facts) =>
    h("button.file-chip", { type: "button", title: t("files.show"), onclick: () => show(facts).catch(showError) },
        icon("notes"), h("span.file-name", { dir: "auto" }, facts.name), h("span.file-facts", factsText(facts))));

async function show(facts) {
    const text = await (await fetched(facts.url.replace(/^\/hearth\/v1/, ""))).text();
    openDialog({ title: facts.name, kind: "wide", body: h("pre.document-text", { tabindex: 0, dir: "auto" }, text || t("files.empty")) });
}
