// One character cut out of a picture, as large as a thumb: what a person corrects by.
import { h } from "../kit/dom.js";
import { t } from "../kit/texts.js";

const side = 64;

/// A canvas with the box of a character. `page` is straightened: the picture is turned about its middle first.
export function crop(preview, page, { x, y, width, height }) {
    const node = h("canvas.read-crop", { width: side, height: side, role: "img", "aria-label": t("read.crop") });
    const image = new Image();
    image.addEventListener("load", () => {
        const pen = node.getContext("2d");
        const scale = side / Math.max(width, height);
        pen.fillStyle = "#fff";
        pen.fillRect(0, 0, side, side);
        pen.scale(scale, scale);
        pen.translate(page.width / 2 - x, page.height / 2 - y);
        pen.rotate(-page.degrees * Math.PI / 180);
        pen.drawImage(image, -image.naturalWidth / 2, -image.naturalHeight / 2);
    });
    image.src = preview;
    return node;
}
