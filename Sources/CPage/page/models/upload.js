// Installs model files that a person drops or chooses: sends them, and shows how far they are.
import { fill, h, set, signal, text } from "../kit/dom.js";
import { icon } from "../kit/icons.js";
import { bytes, percent } from "../kit/format.js";
import { t } from "../kit/texts.js";
import { toast } from "../kit/toast.js";
import { ApiError, base, refusal } from "../kit/api.js";
import { replies } from "../data/library.js";

// The files on their way and those that were refused; they outlive the screen.
const uploads = new Set();
const uploadsChanged = signal();

/// Sends a file. XMLHttpRequest tells how many bytes have gone, which `fetch` does not.
function send(path, file, onprogress) {
    const request = new XMLHttpRequest();
    const done = new Promise((resolve, reject) => {
        const unreachable = () => reject(new ApiError(0, { code: "unreachable", message: t("error.unreachable"), remedy: t("error.unreachable.remedy") }));
        request.upload.addEventListener("progress", (event) => onprogress(event.loaded, event.total));
        request.addEventListener("error", unreachable);
        request.addEventListener("abort", () => reject(new ApiError(0, { code: "cancelled", message: "" })));
        request.addEventListener("load", async () => {
            const response = new Response(request.responseText || "{}", { status: request.status || 500 });
            if (response.ok) resolve(await response.json());
            else reject(await refusal(response));
        });
    });
    request.open("POST", base + path);
    request.setRequestHeader("Content-Type", "application/octet-stream");
    const secret = localStorage.getItem("hearth-page");
    if (secret) request.setRequestHeader("X-Hearth-Page", secret);
    request.send(file);
    return { done, abort: () => request.abort() };
}

/// Installs a file. Its progress and a refusal stand on the screen of the models.
export async function installFile(file) {
    const upload = { name: file.name, size: file.size, sent: 0, error: null };
    uploads.add(upload);
    uploadsChanged.emit();
    try {
        if (!/\.gguf$/i.test(file.name)) throw new ApiError(0, { code: "unusable-name", message: t("upload.kind", { name: file.name }) });
        const sending = send(`/models/upload?name=${encodeURIComponent(file.name)}`, file, (sent) => {
            upload.sent = sent;
            uploadsChanged.emit();
        });
        upload.abort = sending.abort;
        const take = replies();
        const { row } = await sending.done;
        take(row);
        uploads.delete(upload);
        toast(t("upload.done", { name: row.name }));
    } catch (error) {
        if (error.code === "cancelled") uploads.delete(upload);
        upload.error = error;
    }
    uploadsChanged.emit();
}

addEventListener("beforeunload", (event) => { if ([...uploads].some((upload) => !upload.error)) event.preventDefault(); });

/// The uploads, as a list: `{ node, end }`.
export function uploadList() {
    const node = h("div.uploads");
    const views = new Map();
    const draw = () => {
        for (const [upload, view] of views) if (!uploads.has(upload)) { view.node.remove(); views.delete(upload); }
        for (const upload of uploads) {
            if (!views.has(upload)) {
                const view = uploadView(upload);
                views.set(upload, view);
                node.append(view.node);
            }
            views.get(upload).update();
        }
    };
    draw();
    return { node, end: uploadsChanged.on(draw) };
}

function uploadView(upload) {
    const caption = h("p.caption");
    const bar = h("div.bar", { role: "progressbar", "aria-label": upload.name, "aria-valuemin": 0, "aria-valuemax": 100 }, h("div.bar-fill"));
    const part = h("span");
    const problem = h("p.problem", { role: "alert" });
    const label = () => t(upload.error ? "close" : "upload.cancel");
    const drop = h("button.icon-button", {
        type: "button", onclick: () => {
            if (!upload.error) return upload.abort?.();
            uploads.delete(upload);
            return uploadsChanged.emit();
        },
    }, icon("close"));
    const foot = h("div.progress-foot", part, h("span", bytes(upload.size)));
    const node = h("section.progress", { "aria-label": upload.name },
        h("div.progress-head", h("div.grow", caption, h("p.name", { dir: "auto" }, upload.name)), drop), bar, foot, problem);
    const update = () => {
        const fraction = upload.size ? upload.sent / upload.size : 0;
        const isSent = fraction >= 1;
        text(caption, t(upload.error ? "upload.refused" : isSent ? "upload.installing" : "upload.sending"));
        text(part, isSent ? "" : percent(fraction));
        bar.firstChild.style.inlineSize = `${fraction * 100}%`;
        bar.classList.toggle("unknown", isSent && !upload.error);
        set(bar, { hidden: Boolean(upload.error), "aria-valuenow": isSent ? null : Math.floor(fraction * 100) });
        set(foot, { hidden: Boolean(upload.error) });
        set(drop, { "aria-label": label(), title: label() });
        if (upload.error) fill(problem, upload.error.sentence ?? upload.error.message);
    };
    return { node, update };
}

/// Lets files be dropped on an element.
export function acceptDrops(element) {
    const hasFiles = (event) => [...event.dataTransfer?.types ?? []].includes("Files");
    let depth = 0;
    const mark = (change) => {
        depth = Math.max(0, depth + change);
        element.classList.toggle("dropping", depth > 0);
    };
    const listeners = {
        dragenter: (event) => { if (hasFiles(event)) { event.preventDefault(); mark(1); } },
        dragover: (event) => { if (hasFiles(event)) event.preventDefault(); },
        dragleave: (event) => { if (hasFiles(event)) mark(-1); },
        drop: (event) => {
            if (!hasFiles(event)) return;
            event.preventDefault();
            mark(-depth);
            for (const file of event.dataTransfer.files) installFile(file);
        },
    };
    for (const [name, listener] of Object.entries(listeners)) element.addEventListener(name, listener);
    return () => { for (const [name, listener] of Object.entries(listeners)) element.removeEventListener(name, listener); };
}

/// A button that chooses files.
export function chooseFile(classes = "", before = () => {}) {
    const input = h("input", {
        type: "file", accept: ".gguf", hidden: true, tabindex: -1, "aria-label": t("upload.choose"),
        onchange: () => { before(); for (const file of input.files) installFile(file); input.value = ""; },
    });
    return [h("button", { type: "button", class: classes, onclick: () => input.click() }, icon("export"), t("upload.choose")), input];
}
