// The screen that reads pictures of characters on this device: drop a scan, look at its boxes, correct, export.
import { h, fill, set } from "../kit/dom.js";
import { icon } from "../kit/icons.js";
import { announce } from "../kit/toast.js";
import { upload } from "../kit/api.js";
import { t } from "../kit/texts.js";
import { pages } from "../read/pages.js";
import { exports } from "../read/export.js";

const types = ["image/png", "image/jpeg", "image/bmp", "image/tiff"];
const directions = ["auto", "columns", "rows"];

export function show(main) {
    let preview = null;
    let isLeft = false;
    let number = 0;
    const file = h("input", { type: "file", accept: types.join(","), hidden: true, tabindex: -1, onchange: () => { read(file.files[0]); file.value = ""; } });
    const direction = h("select", { "aria-label": t("read.direction") }, directions.map((name) => h("option", { value: name }, t(`read.direction.${name}`))));
    const status = h("p", { role: "status" });
    const result = h("div.read-result");
    const box = h("div.read-drop", icon("picture"), h("p", t("read.drop")),
        h("button.primary", { type: "button", onclick: () => file.click() }, t("read.choose")), file);

    const forget = () => { if (preview) URL.revokeObjectURL(preview); preview = null; };
    async function read(blob) {
        if (!blob) return;
        if (!types.includes(blob.type)) {
            fill(result, h("p.note.error", { role: "alert" }, icon("warning"), t("read.no-picture", { name: blob.name ?? "" })));
            return;
        }
        const mine = ++number;
        forget();
        fill(result);
        fill(status, h("span.spinner"), t("read.reading", { name: blob.name ?? "" }));
        try {
            const reply = await upload(`/classify?decode=true&direction=${direction.value}`, blob);
            if (isLeft || mine !== number) return;
            // Browsers show no TIFF files; their boxes then lie on white.
            preview = blob.type === "image/tiff" ? null : URL.createObjectURL(blob);
            const sum = t("read.found", { n: reply.characters.length, model: reply.model });
            fill(status, sum);
            announce(sum);
            const output = exports(reply, blob.name ?? "page");
            fill(result, pages(reply, preview, output.refresh), output.node);
        } catch (error) {
            if (isLeft || mine !== number) return;
            fill(status);
            fill(result, h("p.note.error", { role: "alert" }, icon("warning"), error.sentence ?? error.message));
        }
    }

    for (const name of ["dragenter", "dragover"]) box.addEventListener(name, (event) => {
        if (![...event.dataTransfer.types].includes("Files")) return;
        event.preventDefault();
        box.classList.add("dropping");
    });
    for (const name of ["dragleave", "drop"]) box.addEventListener(name, () => box.classList.remove("dropping"));
    box.addEventListener("drop", (event) => {
        event.preventDefault();
        read(event.dataTransfer.files[0]);
    });
    main.append(h("div.page", h("header.page-head", h("h1.grow", t("read.title")), direction), box, status, result));
    return () => { isLeft = true; forget(); };
}
