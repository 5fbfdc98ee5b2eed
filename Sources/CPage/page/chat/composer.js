// The field for questions: text, pictures and documents by choice, drop, paste and camera, commands with `/`, thinking, send and stop.
import { h, fill, set } from "../kit/dom.js";
import { icon } from "../kit/icons.js";
import { showError } from "../kit/toast.js";
import { t, withWords } from "../kit/texts.js";

/// A pasted text that is longer becomes a document.
const longPaste = 8000;

/// The composer: `{ node, addFiles, setBusy, setAbilities, focus, setText, setPlaceholder, refresh }`. `send({ text, pictures,
/// documents })` returns a promise; if it fails or is "undone", what was written comes back, of a "command" the attachments. A
/// text for which `isLocal(text)` resolves to true is sent during an answer too. `commands(area, done)` loads the menu of the
/// commands. `begun(text)` is called when the person writes. The draft survives a reload. `room` and `leavesTo` are those of
/// the attachments. `think(isOn)` lets the model think in this conversation, or not.
export function composer({ key, send, stop, commands, isLocal = async () => false, placeholder, begun, think, room = () => null, leavesTo = () => null }) {
    let isBusy = false;
    const draftKey = `hearth-draft-${key}`;
    const area = h("textarea", {
        rows: 1, dir: "auto", "aria-label": t("composer.label"), placeholder, value: sessionStorage.getItem(draftKey) ?? "",
        enterkeyhint: "send", autocomplete: "off",
    });
    const file = h("input", { type: "file", accept: "image/*", multiple: true, hidden: true, tabindex: -1, onchange: () => { add(file.files); file.value = ""; } });
    // Pictures and documents, whose code comes with the first of them.
    const strip = h("div.attachments", { role: "list", "aria-label": t("composer.pictures") });
    const filesPlace = h("div.attached");
    let pictures = null;
    let files = null;
    let coming = 0;
    // A question that goes as soon as all that is attached has been read, unless something is changed meanwhile.
    let wanted = null;
    const bring = async (load, blobs) => {
        if (blobs.length === 0) return;
        coming += 1;
        refresh();
        try {
            (await load()).add(blobs);
        } catch (error) {
            wanted = null;
            showError(error);
        } finally {
            coming -= 1;
            refresh();
        }
    };
    const loadPictures = () => import("./pictures.js").then((module) => { pictures ??= module.pictures(strip, () => refresh()); return pictures; });
    const loadFiles = () => withWords(import("./attach.js"), "forms").then(({ attachments }) => {
        files ??= attachments(filesPlace, { changed: () => refresh(), room, leavesTo });
        return files;
    });
    const add = (blobs) => {
        const isPicture = (blob) => blob.type.startsWith("image/");
        bring(loadPictures, [...blobs].filter(isPicture));
        bring(loadFiles, [...blobs].filter((blob) => !isPicture(blob)));
    };
    const waits = () => coming > 0 || files?.isReady === false || pictures?.isReady === false;
    const count = () => (pictures?.count ?? 0) + (files?.count ?? 0);
    const isEmpty = (text) => !text && (pictures?.isEmpty ?? true) && (files?.isEmpty ?? true);
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
        set(sendButton, { disabled: !isBusy && (isEmpty(area.value.trim()) || waits()) });
        if (!wanted) return;
        if (!coming) wanted.count ??= count();
        const isSame = node.isConnected && wanted.text === area.value.trim() && (coming > 0 || wanted.count === count());
        if (isSame && waits()) return;
        wanted = null;
        if (isSame) submit();
    };
    async function submit() {
        const text = area.value.trim();
        if (isEmpty(text)) return;
        if (waits()) {
            wanted = { text, count: coming ? null : count() };
            return;
        }
        if (isBusy && (!(await isLocal(text).catch(() => false)) || area.value.trim() !== text)) return;
        set(area, { value: "" });
        const sent = pictures?.take() ?? [];
        const taken = files?.take() ?? [];
        grow();
        refresh();
        const comeBack = (words) => {
            // The next question may have been begun meanwhile.
            if (words) set(area, { value: area.value ? `${words}\n${area.value}` : words });
            pictures?.giveBack(sent);
            files?.giveBack(taken);
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
        addText(value) { set(area, { value: area.value ? `${area.value}\n${value}` : value }); keep(); },
        setPlaceholder(value) { set(area, { placeholder: value }); },
    };
}
