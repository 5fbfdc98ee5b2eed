// Takes one picture with the camera of the device.
import { h } from "../kit/dom.js";
import { openDialog } from "../kit/dialog.js";
import { t } from "../kit/texts.js";

/// Opens the camera and returns a JPEG, or null if the dialog was closed.
export async function takePicture() {
    const stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: "environment" } })
        .catch(() => { throw new Error(t("camera.refused")); });
    return new Promise((resolve) => {
        let picture = null;
        const video = h("video.camera", { autoplay: true, playsinline: true, srcObject: stream, "aria-label": t("camera.title") });
        const shoot = h("button.primary", {
            type: "button",
            onclick: () => {
                const canvas = h("canvas", { width: video.videoWidth, height: video.videoHeight });
                canvas.getContext("2d").drawImage(video, 0, 0);
                canvas.toBlob((blob) => {
                    picture = blob;
                    dialog.close();
                }, "image/jpeg", 0.9);
            },
        }, t("camera.shoot"));
        const dialog = openDialog({
            title: t("camera.title"), body: video, buttons: [shoot],
            onclose: () => {
                for (const track of stream.getTracks()) track.stop();
                resolve(picture);
            },
        });
        shoot.focus();
    });
}
