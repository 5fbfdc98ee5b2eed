// The pictures of the question that is written: each a preview with a button that removes it.
import { h, fill } from "../kit/dom.js";
import { at, remove, upload } from "../kit/api.js";
import { icon } from "../kit/icons.js";
import { showError } from "../kit/toast.js";
import { t } from "../kit/texts.js";

// The server reads these; the browser turns other kinds, such as WebP, into JPEG.
async function readable(blob) {
    if (["image/png", "image/jpeg", "image/bmp"].includes(blob.type)) return blob;
    const bitmap = await createImageBitmap(blob).catch(() => { throw new Error(t("composer.no-picture", { name: blob.name ?? "" })); });
    const canvas = h("canvas", { width: bitmap.width, height: bitmap.height });
    canvas.getContext("2d").drawImage(bitmap, 0, 0);
    return new Promise((resolve) => { canvas.toBlob(resolve, "image/jpeg", 0.92); });
}

/// The previews in `strip`: `{ add(blobs), take(), giveBack(pictures), isEmpty, count, isReady }`. `changed()` is called when they
/// change.
export function pictures(strip, changed) {
    let all = [];
    const draw = () => {
        fill(strip, all.map((picture) => h("span.attachment", { role: "listitem", class: picture.id ? "" : "loading" },
            h("img", { src: picture.preview, alt: picture.name }),
            h("button.icon-button.small", { type: "button", "aria-label": t("composer.picture.remove", { name: picture.name }), onclick: () => drop(picture) }, icon("close")))));
        changed();
    };
    const drop = (picture) => {
        all = all.filter((other) => other !== picture);
        URL.revokeObjectURL(picture.preview);
        if (picture.id) remove(at("pictures", picture.id)).catch(() => {});
        draw();
    };
    return {
        add(blobs) {
            for (const blob of blobs) {
                const picture = { preview: URL.createObjectURL(blob), name: blob.name ?? t("composer.picture"), id: null };
                all.push(picture);
                draw();
                readable(blob).then((image) => upload("/pictures", image)).then((reply) => { picture.id = reply.id; draw(); }, (error) => { drop(picture); showError(error); });
            }
        },
        /// Takes the pictures out, for a question that is sent.
        take() {
            const taken = all;
            all = [];
            draw();
            return taken;
        },
        giveBack(taken) {
            all = [...taken, ...all];
            draw();
        },
        get isEmpty() { return all.length === 0; },
        get count() { return all.length; },
        get isReady() { return all.every(({ id }) => id); },
    };
}
