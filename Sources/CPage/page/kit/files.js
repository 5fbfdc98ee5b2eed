// Files of the server that the browser cannot ask for itself, because its requests lack the secret of the session.
import { h } from "./dom.js";
import { refusal, request } from "./api.js";

/// Saves bytes under a name, as a download.
export function save(blob, name) {
    const url = URL.createObjectURL(blob);
    h("a", { href: url, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/// The reply of a path, or its refusal as an error.
export async function fetched(path) {
    const response = await request(path);
    if (!response.ok) throw await refusal(response);
    return response;
}

/// Saves the file of a path under the name that the server gives it.
export async function download(path) {
    const response = await fetched(path);
    const field = response.headers.get("Content-Disposition") ?? "";
    const [, coded] = /filename\*=UTF-8''([^;]+)/i.exec(field) ?? [];
    const [, plain] = /filename="([^"]*)"/i.exec(field) ?? [];
    save(await response.blob(), coded ? decodeURIComponent(coded) : plain ?? "");
}

// The pictures that were shown last, as addresses of their bytes by path.
const shown = new Map();
const limit = 64;

async function load(image, path) {
    const found = shown.get(path) ?? fetched(path).then((response) => response.blob()).then((blob) => URL.createObjectURL(blob));
    shown.delete(path);
    shown.set(path, found);
    found.then((url) => { image.src = url; }, () => shown.delete(path));
    if (shown.size <= limit) return;
    const [oldest, url] = shown.entries().next().value;
    shown.delete(oldest);
    url.then((address) => URL.revokeObjectURL(address), () => {});
}

const near = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
        if (!isIntersecting) continue;
        near.unobserve(target);
        load(target, target.dataset.path);
    }
}, { rootMargin: "100%" });

/// Shows the picture of a path in an element, once the element is near the screen.
export function showPicture(image, path) {
    image.dataset.path = path;
    near.observe(image);
    return image;
}
