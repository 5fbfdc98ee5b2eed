// The field for questions: text, pictures and documents by choice, drop, paste and camera, commands with `/`, thinking, send and stop.
import { h, fill, set } from "../kit/dom.js";
import { icon } from "../kit/icons.js";
import { at, remove, upload } from "../kit/api.js";
import { showError } from "../kit/toast.js";
import { t, withWords } from "../kit/texts.js";

/// A pasted text that is longer becomes a document.
const longPaste = 8000;

// The server reads these; the browser turns other kinds, such as WebP, into JPEG.
async function readable(blob) {
    if (["image/png", "image/jpeg", "image/bmp"].includes(blob.type)) return blob;
    const bitmap = await createImageBitmap(blob).catch(() => { throw new Error(t("composer.no-picture", { name: blob.name ?? "" })); });
    const canvas = h("canvas", { width: bitmap.width, height: bitmap.height });
    canvas.getContext("2d").drawImage(bitmap, 0, 0);
    return new Promise((resolve) => { canvas.toBlob(resolve, "image/jpeg", 0.92); });
}

/// The composer: `{ node, setBusy, focus, setText, refresh }`. `send({ text, pictures, documents, act })` returns a promise;
/// if it fails or is "undone", what was written comes back, of a "command" the attachments. A text for which `isLocal(text)`
/// resolves to true is sent during an answer too. `commands(area, done)` loads the menu of the commands. `begun(text)` is called when the person writes. The draft survives a reload.
/// `room` and `leavesTo` are those of the attachments. `think(isOn)` lets the model think in this conversation, or not.
export function composer({ key, send, stop, commands, isLocal = async () => false, placeholder, begun, think, room = () => null, leavesTo = () => null }) {
    let pictures = [];
    let isBusy = false;
    const draftKey = `hearth-draft-${key}`;
    const area = h("textarea", {
        rows: 1, dir: "auto", "aria-label": t("composer.label"), placeholder, value: sessionStorage.getItem(draftKey) ?? "",
        enterkeyhint: "send", autocomplete: "off",
    });
    const strip = h("div.attachments", { role: "list", "aria-label": t("composer.pictures") });
    const file = h("input", { type: "file", accept: "image/*", multiple: true, hidden: true, tabindex: -1, onchange: () => { add(file.files); file.value = ""; } });
    // The documents, whose code comes with the first of them.
    let files = null;
    const filesPlace = h("div.attached");
    let coming = 0;
    const attach = async (blobs) => {
        coming += 1;
        refresh();
        try {
            const { attachments } = await withWords(import("./attach.js"), "forms");
            files ??= attachments(filesPlace, { changed: () => refresh(), room, leavesTo });
            files.add(blobs);
        } finally {
            coming -= 1;
            refresh();
        }
    };
    const waits = () => coming > 0 || files?.isReady === false || pictures.some((picture) => !picture.id);
    const choose = (accept) => { set(file, { accept }); file.click(); };
    const sendButton = h("button.round.primary", { type: "button", onclick: () => (isBusy ? stop() : submit()) });
    const thinkButton = h("button.tool", {
        type: "button", hidden: true, "aria-pressed": "false", title: t("composer.think.hint"), onclick: () => {
            const isOn = thinkButton.getAttribute("aria-pressed") !== "true";
            set(thinkButton, { "aria-pressed": String(isOn) });
            think?.(isOn);
        },
    }, icon("thought"), h("span", t("composer.think")));
    // The menu of the commands, whose code comes with the first `/`; keys that are pressed before it is here wait for it.
    let menu = null;
    let early = null;
    const offerCommands = () => {
        if (menu) menu.update();
        if (menu || early || !area.value.startsWith("/")) return;
        early = [];
        commands(area, (run) => { set(area, { value: "" }); keep(); run(); }).then((made) => {
            menu = made;
            node.prepend(menu.node);
            menu.update();
        }, showError).finally(() => {
            const keys = early;
            early = null;
            for (const key of keys) area.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
        });
    };
    const pictureButton = h("button.tool", { type: "button", onclick: () => choose("image/*"), "aria-label": t("composer.picture"), title: t("composer.picture") }, icon("picture"));
    const box = h("div.composer-box", strip, filesPlace, area, h("div.composer-tools",
        h("button.tool", { type: "button", onclick: () => choose(null), "aria-label": t("composer.file"), title: t("composer.file") }, icon("attach")),
        pictureButton,
        navigator.mediaDevices && h("button.tool.of-pictures", {
            type: "button", "aria-label": t("composer.camera"), title: t("composer.camera"),
            onclick: () => withWords(import("./camera.js"), "forms").then(({ takePicture }) => takePicture()).then((blob) => { if (blob) add([blob]); }, showError),
        }, icon("camera")),
        thinkButton, h("span.spring"), sendButton));
    const node = h("div.composer", box, file);

    const keep = () => {
        if (area.value) sessionStorage.setItem(draftKey, area.value); else sessionStorage.removeItem(draftKey);
        grow();
        refresh();
    };
    const grow = () => {
        area.style.blockSize = "auto";
        area.style.blockSize = `${Math.min(area.scrollHeight, 240)}px`;
    };
    const refresh = () => {
        const label = t(isBusy ? "composer.stop" : "composer.send");
        if (sendButton.dataset.label !== label) {
            sendButton.dataset.label = label;
            set(sendButton, { "aria-label": label, title: label });
            fill(sendButton, icon(isBusy ? "stop" : "send"));
        }
        const isEmpty = !area.value.trim() && pictures.length === 0 && (files?.isEmpty ?? true);
        set(sendButton, { disabled: !isBusy && (isEmpty || waits()) });
    };
    const drawStrip = () => {
        fill(strip, pictures.map((picture) => h("span.attachment", { role: "listitem", class: picture.id ? "" : "loading" },
            h("img", { src: picture.preview, alt: picture.name }),
            h("button.icon-button.small", { type: "button", "aria-label": t("composer.picture.remove", { name: picture.name }), onclick: () => drop(picture) }, icon("close")))));
        refresh();
    };
    const drop = (picture) => {
        pictures = pictures.filter((other) => other !== picture);
        URL.revokeObjectURL(picture.preview);
        if (picture.id) remove(at("pictures", picture.id)).catch(() => {});
        drawStrip();
    };
    async function add(blobs) {
        const isPicture = (blob) => blob.type.startsWith("image/");
        const others = [...blobs].filter((blob) => !isPicture(blob));
        if (others.length > 0) attach(others).catch(showError);
        for (const blob of [...blobs].filter(isPicture)) {
            const picture = { preview: URL.createObjectURL(blob), name: blob.name ?? t("composer.picture"), id: null };
            pictures.push(picture);
            drawStrip();
            readable(blob).then((image) => upload("/pictures", image)).then((reply) => { picture.id = reply.id; drawStrip(); }, (error) => { drop(picture); showError(error); });
        }
    }
    async function submit() {
        const text = area.value.trim();
        const sent = pictures;
        if ((!text && sent.length === 0 && (files?.isEmpty ?? true)) || waits()) return;
        if (isBusy && (!(await isLocal(text).catch(() => false)) || area.value.trim() !== text)) return;
        set(area, { value: "" });
        pictures = [];
        const taken = files?.take() ?? [];
        drawStrip();
        grow();
        const comeBack = (words) => {
            if (!area.value) set(area, { value: words });
            pictures = [...sent, ...pictures];
            files?.giveBack(taken);
            drawStrip();
            keep();
        };
        try {
            const end = await send({ text, pictures: sent.map((picture) => picture.id), documents: taken.map(({ facts }) => facts.id) });
            // A command that was not carried out gives its words back, and each command what was attached.
            if (end === "undone" || end === "command") {
                comeBack(end === "undone" ? text : "");
                return;
            }
            if (!area.value) sessionStorage.removeItem(draftKey);
            for (const picture of sent) URL.revokeObjectURL(picture.preview);
        } catch (error) {
            comeBack(text);
            if (!error.isCancelled) showError(error);
        }
    }

    area.addEventListener("input", () => { begun?.(area.value); keep(); offerCommands(); });
    area.addEventListener("keydown", (event) => {
        if (early && ["ArrowDown", "ArrowUp", "Enter", "Tab", "Escape"].includes(event.key) && !event.shiftKey && !event.isComposing) {
            event.preventDefault();
            early.push(event.key);
            return;
        }
        if (menu?.take(event)) return;
        if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
            event.preventDefault();
            submit();
        } else if (event.key === "Escape" && isBusy) stop();
    });
    area.addEventListener("paste", (event) => {
        const blobs = [...event.clipboardData.files];
        const words = blobs.length === 0 ? event.clipboardData.getData("text/plain") : "";
        if (words.length > longPaste) blobs.push(new File([words], t("composer.pasted"), { type: "text/plain" }));
        if (blobs.length === 0) return;
        event.preventDefault();
        add(blobs);
    });
    for (const name of ["dragenter", "dragover"]) node.addEventListener(name, (event) => {
        if (![...event.dataTransfer.types].includes("Files")) return;
        event.preventDefault();
        box.classList.add("dropping");
    });
    for (const name of ["dragleave", "drop"]) node.addEventListener(name, () => box.classList.remove("dropping"));
    node.addEventListener("drop", (event) => {
        event.preventDefault();
        add(event.dataTransfer.files);
    });
    refresh();
    requestAnimationFrame(grow);
    return {
        node,
        addFiles: add,
        refresh() { refresh(); files?.refresh(); },
        focus: () => area.focus(),
        setBusy(value) { isBusy = value; refresh(); },
        /// Offers what the model can follow: `{ canThink, canSee, thinks }`.
        setAbilities({ canThink, canSee, thinks }) {
            set(thinkButton, { hidden: !canThink, "aria-pressed": String(Boolean(thinks)) });
            set(pictureButton, { hidden: canSee === false });
            const camera = box.querySelector(".of-pictures");
            if (camera) set(camera, { hidden: canSee === false });
        },
        setText(value) { set(area, { value }); keep(); area.focus(); },
        setPlaceholder(value) { set(area, { placeholder: value }); },
    };
}
