// The documents of the question that is written: each a chip with its name, its facts, its progress and what went wrong.
import { h, fill, keyed, set } from "../kit/dom.js";
import { ApiError, at, remove } from "../kit/api.js";
import { bytes, percent } from "../kit/format.js";
import { icon } from "../kit/icons.js";
import { t } from "../kit/texts.js";
import { sendFile } from "../kit/upload.js";
import { library } from "../data/library.js";

/// What the server takes: bytes of a file, documents of a message, pages if all are asked for.
const most = { bytes: 50 * 1024 * 1024, files: 10, pages: 5000 };

/// The chips in `node`: `{ add(files), take(), giveBack(files), isEmpty, count, isReady }`. `changed()` is called when they change;
/// `room()` returns the tokens of the context window, if it is known; `leavesTo()` the name of the cloud's model, if the
/// question goes there.
export function attachments(node, { changed, room, leavesTo }) {
    let files = [];
    let count = 0;
    const list = h("div.files", { role: "list", "aria-label": t("files.title") });
    const note = h("p.hint.files-note", { role: "status", hidden: true });
    node.append(list, note);

    const draw = () => {
        keyed(list, files, (file) => file.key, (file) => chip(file, { drop, send }));
        const cloud = files.length > 0 ? leavesTo() : null;
        set(note, { hidden: !cloud });
        if (cloud) fill(note, icon("cloud"), t("files.leave", { model: cloud }));
        changed();
    };
    const drop = (file) => {
        files = files.filter((other) => other !== file);
        file.call?.stop();
        if (file.facts) remove(at("documents", file.facts.id)).catch(() => {});
        draw();
    };
    const send = (file, pages) => {
        if (file.facts) remove(at("documents", file.facts.id)).catch(() => {});
        Object.assign(file, { facts: null, error: null, fraction: 0 });
        const query = `?name=${encodeURIComponent(file.name.slice(-500))}${pages ? `&pages=${pages}` : ""}`;
        const call = file.call = sendFile(`/documents${query}`, file.blob, (fraction) => { file.fraction = fraction; draw(); });
        call.done.then((facts) => { file.facts = facts; }, (error) => { file.error = error; })
            .finally(() => { if (file.call === call && files.includes(file)) draw(); });
        draw();
    };
    return {
        add(blobs) {
            for (const blob of blobs) {
                const file = { key: `file-${count += 1}`, blob, name: blob.name || t("files.unnamed"), facts: null, error: null, fraction: 0, room };
                if (files.length >= most.files) file.error = new ApiError(0, { code: "many-documents", message: t("files.many", { n: most.files }) });
                else if (blob.size > most.bytes) file.error = new ApiError(0, { code: "size-of-document", message: t("files.large", { size: bytes(blob.size), most: bytes(most.bytes) }) });
                files.push(file);
                if (!file.error) send(file);
            }
            draw();
        },
        /// Takes the documents out, for a question that is sent.
        take() {
            const taken = files;
            files = [];
            draw();
            return taken;
        },
        giveBack(taken) {
            files = [...taken, ...files];
            draw();
        },
        refresh: draw,
        get isEmpty() { return files.length === 0; },
        get count() { return files.length; },
        get isReady() { return files.every(({ facts }) => facts); },
    };
}

function chip(file, { drop, send }) {
    const facts = h("span.file-facts");
    const bar = h("progress.file-progress", { max: 1, "aria-label": t("files.sending", { name: file.name }) });
    const node = h("span.file-chip", { role: "listitem" },
        icon("notes"),
        h("span.file-name", { dir: "auto", title: file.name.slice(0, 300) }, file.name.slice(0, 300)),
        facts, bar,
        h("button.icon-button.small", { type: "button", "aria-label": t("files.remove", { name: file.name.slice(0, 100) }), onclick: () => drop(file) }, icon("close")));
    let drawn = "";
    const update = () => {
        const { facts: known, error, fraction } = file;
        set(bar, { hidden: Boolean(known || error), value: fraction });
        node.classList.toggle("failed", Boolean(error));
        const state = JSON.stringify([known?.id, error?.message, known || error ? 0 : percent(fraction), known && file.room()]);
        if (state === drawn) return;
        drawn = state;
        if (error) {
            const isFinal = ["large-document", "size-of-document", "many-documents", "unknown-document", "encrypted-document"].includes(error.code);
            fill(facts, h("span", { role: "alert" }, error.sentence ?? error.message),
                !isFinal && h("button.small", { type: "button", onclick: () => send(file) }, t("files.retry")));
        } else if (known) {
            fill(facts, factsText(known, file.room()),
                known.pages > known.pagesRead && known.pagesRead < most.pages && h("button.small", { type: "button", onclick: () => send(file, most.pages) }, t("files.all", { n: known.pages })));
        } else fill(facts, fraction < 1 ? percent(fraction) : t("files.reading"));
    };
    update();
    return { node, update };
}

function scannedText({ pictures }) {
    if (pictures === undefined) return t("files.scanned.sent");
    return library?.canSee === false ? t("files.scanned.blind") : t("files.scanned", { n: pictures });
}

/// The facts of a document in one line.
export function factsText(facts, room = null) {
    const isPart = facts.pages > facts.pagesRead;
    return [
        bytes(facts.bytes),
        facts.pages && (isPart ? t("files.pages.part", { read: facts.pagesRead, n: facts.pages }) : t("files.pages", { n: facts.pages })),
        facts.isScanned && scannedText(facts),
        !facts.isScanned && (facts.tokens === undefined ? t("files.characters", { n: facts.characters }) : t(facts.isEstimated ? "files.tokens.about" : "files.tokens", { n: facts.tokens })),
        !isPart && facts.isCut && t("files.cut"),
        room && facts.tokens > room * 0.7 && t("files.tight"),
    ].filter(Boolean).join(" · ");
}
