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

/// The address as people should read it beside a link.
export function shownAddress(url) {
    if (url.protocol === "mailto:") return url.pathname;
    const path = url.pathname === "/" ? "" : url.pathname + url.search;
    const whole = url.host + path;
    return whole.length > 60 ? whole.slice(0, 59) + "…" : whole;
}

/// Whether an image may be displayed: bytes within the text or made by the page, nothing that is loaded.
export function isLocalImage(address) {
    return /^data:image\/(png|jpeg|gif|webp|avif|bmp|svg\+xml)[;,]/i.test(address) || address.startsWith("blob:");
}
