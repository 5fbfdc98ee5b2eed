// The import of conversations of a file, and what came of it.
import { h, fill } from "../kit/dom.js";
import { icon } from "../kit/icons.js";
import { upload } from "../kit/api.js";
import { t, tOr } from "../kit/texts.js";

const limit = 200 * 1024 * 1024;
let isRunning = false;

/// Imports the file and shows the result in `place`.
export async function importChats(file, place) {
    const { name } = file;
    if (isRunning) return;
    if (file.size > limit) {
        fill(place, h("p.note.error", { dir: "auto" }, t("data.import.too-large", { name })));
        return;
    }
    isRunning = true;
    fill(place, h("p.note", { dir: "auto" }, h("span.spinner"), t("data.import.running", { name })));
    try {
        const type = name.toLowerCase().endsWith(".zip") ? "application/zip" : "application/json";
        fill(place, summary(name, await upload("/data/chats/import", new Blob([file], { type }))));
    } catch (error) {
        fill(place, h("p.note.error", { dir: "auto" }, icon("warning"), error.sentence ?? error.message));
    } finally {
        isRunning = false;
    }
}

function summary(name, { imported, updated, skipped, refused, refusals }) {
    const lines = [
        t("data.import.imported", { n: imported }),
        updated > 0 && t("data.import.updated", { n: updated }),
        skipped > 0 && t("data.import.skipped", { n: skipped }),
    ].filter(Boolean);
    return [
        h("p.name", { dir: "auto" }, t("data.import.done", { name })),
        h("ul.import-result", lines.map((line) => h("li", line)),
            refused > 0 && h("li", t("data.import.refused", { n: refused }),
                h("ul", refusals.map(({ number, code, message }) => h("li", { dir: "auto" }, t("data.import.refusal", { number, reason: tOr(`import.${code}`, message) })))))),
        imported + updated > 0 && h("a.button.small", { href: "#/chats" }, t("data.import.show")),
    ];
}
