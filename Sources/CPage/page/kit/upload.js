// Sends a file and tells how far it is, which `fetch` cannot.
import { ApiError, refusal } from "./api.js";
import { t } from "./texts.js";

/// Sends bytes to a path: `{ done, stop }`. `done` resolves with the reply; `progress(fraction)` is called with 0...1.
export function sendFile(path, blob, progress) {
    const call = new XMLHttpRequest();
    const done = new Promise((resolve, reject) => {
        const lost = () => reject(new ApiError(0, { code: "unreachable", message: t("error.unreachable"), remedy: t("error.unreachable.remedy") }));
        call.open("POST", `/hearth/v1${path}`);
        const secret = localStorage.getItem("hearth-page");
        if (secret) call.setRequestHeader("X-Hearth-Page", secret);
        call.setRequestHeader("Accept", "application/json");
        call.setRequestHeader("Content-Type", "application/octet-stream");
        call.upload.onprogress = ({ loaded, total }) => progress(total > 0 ? loaded / total : 1);
        call.onerror = lost;
        call.onabort = lost;
        call.onload = async () => {
            if (call.status < 200 || call.status > 299) return reject(await refusal(new Response(call.responseText, { status: call.status || 500 })));
            try { return resolve(JSON.parse(call.responseText)); } catch { return lost(); }
        };
        call.send(blob);
    });
    return { done, stop: () => call.abort() };
}
