// The screen that reads pictures of characters on this device: drop a scan, look at its boxes, correct, export.
import { h, fill, lifetime, set } from "../kit/dom.js";
import { icon } from "../kit/icons.js";
import { announce } from "../kit/toast.js";
import { upload } from "../kit/api.js";
import { t } from "../kit/texts.js";
import { library, libraryChanged, readLibrary, rowChanged, rows } from "../data/library.js";
import { pages } from "../read/pages.js";
import { exports } from "../read/export.js";

const types = ["image/png", "image/jpeg", "image/bmp", "image/tiff", "application/pdf"];
const directions = ["auto", "columns", "rows"];
/// The most bytes that the server takes.
const limit = 32 << 20;

/// The rows that can read pictures of characters now.
const usableClassifiers = () => [...rows.values()].filter((row) => row.isUsable && row.role === "classifier");

/// What a person corrected stays, as far as the characters lie where they lay.
function keepCorrections(before, reply) {
    const corrected = new Map((before?.characters ?? []).filter((one) => one.corrected).map((one) => [placeOf(one), one.corrected]));
    for (const character of reply.characters) character.corrected = corrected.get(placeOf(character));
}

const placeOf = ({ page, x, y }) => `${page}:${x}:${y}`;

/// The button that asks the cloud about unsure characters, below what that takes.
function decodeAll({ characters, requests, cloud, credits }, run) {
    const words = [t("read.decode-all.offer", { n: characters, requests, cloud }), credits && t("read.decode-all.credits", { left: credits.left, of: credits.of })];
    return h("div.read-offer", h("p.hint", words.filter(Boolean).join(" ")),
        h("button.primary", { type: "button", onclick: run }, icon("cloud"), t("read.decode-all")));
}

export function show(main) {
    const life = lifetime();
    let preview = null;
    let reading = null;
    const file = h("input", { type: "file", accept: types.join(","), hidden: true, tabindex: -1, onchange: () => { read(file.files[0]); file.value = ""; } });
    const direction = h("select", { "aria-label": t("read.direction") }, directions.map((name) => h("option", { value: name }, t(`read.direction.${name}`))));
    const model = h("select", { "aria-label": t("read.model") });
    const choices = h("div.read-choices", model, direction);
    const status = h("div.read-status");
    const result = h("div.read-result");
    const box = h("div.read-drop", icon("picture"), h("p", t("read.drop")),
        h("button.primary", { type: "button", onclick: () => file.click() }, t("read.choose")), file);
    const none = h("section.empty-state", icon("eye"), h("p", t("read.none")), h("p", t("read.none.remedy"), " ", h("code", "hearth pull")),
        h("a.button.primary", { href: "#/models" }, t("nav.models")));

    // Without a classifier the screen says how to get one; one that arrives meanwhile is used.
    const draw = () => {
        const known = usableClassifiers();
        set(none, { hidden: !library || known.length > 0 });
        for (const node of [box, choices]) set(node, { hidden: known.length === 0 });
        const chosen = model.value;
        fill(model, known.map((row) => h("option", { value: row.id }, row.name)));
        if (known.some((row) => row.id === chosen)) model.value = chosen;
        set(model, { hidden: known.length < 2 });
    };
    const forget = () => { if (preview) URL.revokeObjectURL(preview); preview = null; };
    const refuse = (sentence) => {
        fill(status);
        fill(result, h("p.note.error", { role: "alert", dir: "auto" }, icon("warning"), sentence));
    };
    /// Reads a picture; with `agreed`, the cloud gets as many unsure characters as the person was shown.
    async function read(blob, agreed = 0, before = null) {
        if (!blob || usableClassifiers().length === 0) return;
        reading?.abort();
        const mine = reading = new AbortController();
        forget();
        const name = blob.name ?? "";
        if (!types.includes(blob.type)) return void refuse(t("read.no-picture", { name }));
        if (blob.size > limit) return void refuse(t("read.too-large", { name, size: limit >> 20 }));
        fill(result);
        announce(t("read.reading", { name }));
        fill(status, h("span.spinner"), h("span", { dir: "auto" }, t("read.reading", { name })), h("button.small", { type: "button", onclick: () => { mine.abort(); fill(status); } }, icon("stop"), t("read.stop")));
        try {
            const words = new URLSearchParams({ decode: "true", direction: direction.value, model: model.value, cloud: agreed });
            const reply = await upload(`/classify?${words}`, blob, mine.signal);
            if (mine.signal.aborted) return;
            // Pictures of TIFF and PDF files are none of the browser's; their boxes lie on white.
            preview = ["image/tiff", "application/pdf"].includes(blob.type) ? null : URL.createObjectURL(blob);
            const sum = t("read.found", { n: reply.characters.length, model: reply.model });
            keepCorrections(before, reply);
            fill(status, h("p", sum), reply.offer && decodeAll(reply.offer, () => read(blob, reply.offer.requests, reply)));
            announce(sum);
            if (reply.characters.length === 0) return;
            const output = exports(reply, name);
            fill(result, pages(reply, preview, output.refresh), output.node);
        } catch (error) {
            if (!mine.signal.aborted) refuse(error.sentence ?? error.message);
        }
    }

    const node = h("div.page", h("header.page-head", h("h1.grow", t("read.title")), choices), none, box, status, result);
    // A picture may be dropped anywhere: beside the frame a browser would open it in place of the page.
    for (const name of ["dragenter", "dragover"]) node.addEventListener(name, (event) => {
        if (![...event.dataTransfer.types].includes("Files")) return;
        event.preventDefault();
        box.classList.add("dropping");
    });
    for (const name of ["dragleave", "drop"]) node.addEventListener(name, () => box.classList.remove("dropping"));
    node.addEventListener("drop", (event) => {
        event.preventDefault();
        read(event.dataTransfer.files[0]);
    });
    life.add(libraryChanged.on(draw));
    life.add(rowChanged.on((row) => { if (row.role === "classifier") draw(); }));
    readLibrary().then(draw, (error) => refuse(error.sentence));
    draw();
    main.append(node);
    return () => { reading?.abort(); life.end(); forget(); };
}
