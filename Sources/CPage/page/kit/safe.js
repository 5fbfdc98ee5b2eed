// Texts of others: characters that turn the direction of a text are shown, and addresses are checked before use.

// The embedding, override and isolate characters. The marks U+200E and U+200F only touch their neighbours and stay.
const turning = /[\u202A-\u202E\u2066-\u2069]/g;
const hasTurning = /[\u202A-\u202E\u2066-\u2069]/;

/// Replaces characters that can make a text read differently from what it is by their visible names.
export function visible(text) {
    if (!hasTurning.test(text)) return text;
    return text.replace(turning, (mark) => `⟦U+${mark.charCodeAt(0).toString(16).toUpperCase()}⟧`);
}

/// The address that a link may lead to, or null: other hosts by http(s), and mail. `URL` writes foreign letters of
/// a host as xn--…, so that a look-alike is seen.
export function outside(address) {
    let url;
    try {
        url = new URL(address);
    } catch {
        return null;
    }
    if (url.protocol === "mailto:") return url;
    if (url.protocol !== "https:" && url.protocol !== "http:") return null;
    return url.origin === location.origin ? null : url;
}

/// The address as people should read it beside a link: the host is always whole.
export function shownAddress(url) {
    if (url.protocol === "mailto:") return url.pathname + url.search;
    const path = url.pathname === "/" ? "" : url.pathname + url.search;
    const room = Math.max(0, 59 - url.host.length);
    return url.host + (path.length > room + 1 ? path.slice(0, room) + "…" : path);
}

/// Whether the words of a link are its address already. Other words never are: a path, another form of the slashes, a
/// name before an @ or foreign letters can look like a host that the link does not lead to.
export function namesAddress(words, url) {
    const shown = shownAddress(url);
    const bare = words.replace(/^(?:https?:\/\/|mailto:)(?=[^/\\])/, "").replace(/\/$/, "");
    return !shown.endsWith("…") && bare === shown.replace(/\/$/, "");
}

/// Whether an image may be displayed: bytes within the text or made by the page, nothing that is loaded.
export function isLocalImage(address) {
    return /^data:image\/(png|jpeg|gif|webp|avif|bmp|svg\+xml)[;,]/i.test(address) || address.startsWith("blob:");
}
