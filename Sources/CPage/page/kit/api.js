// Calls of the native API. Every refusal becomes an `ApiError` with a stable code, a sentence and a remedy.
import { signal } from "./dom.js";
import { loadRefusals, sentenceOf } from "./refusals.js";
import { t } from "./texts.js";

/// The beginning of the addresses of calls.
export const base = "/hearth/v1";

/// Emitted when the server no longer knows this browser.
export const signedOut = signal();

export class ApiError extends Error {
    constructor(status, { code, message, remedy, field, models }) {
        super(message);
        Object.assign(this, { status, code, remedy, field, models });
    }

    /// The sentence with what to do next.
    get sentence() { return sentenceOf(this); }

    get isConnection() { return this.code === "no-connection"; }
}

/// Sends a request with the secret that this origin keeps since the sign-in; without it the cookie is worth nothing.
export function request(path, options = {}) {
    const secret = localStorage.getItem("hearth-page");
    const headers = { ...options.headers, ...(secret && { "X-Hearth-Page": secret }) };
    return fetch(base + path, { ...options, headers });
}

/// The error of a reply that refuses.
export async function refusal(response) {
    const [reply] = await Promise.all([response.json().catch(() => ({})), loadRefusals()]);
    const error = new ApiError(response.status, reply.error ?? { code: "unknown", message: t("error.unknown", { status: response.status }) });
    if (response.status === 401 || ["key-required", "owner-required"].includes(error.code)) signedOut.emit(error);
    return error;
}

async function call(method, path, body, signal) {
    const options = { method, headers: { Accept: "application/json" }, signal };
    if (body instanceof Blob) {
        options.body = body;
        options.headers["Content-Type"] = body.type;
    } else if (body !== undefined) {
        options.body = JSON.stringify(body);
        options.headers["Content-Type"] = "application/json";
    }
    let response;
    try {
        response = await request(path, options);
    } catch {
        throw new ApiError(0, { code: "no-connection", message: t("error.unreachable"), remedy: t("error.unreachable.remedy") });
    }
    if (!response.ok) throw await refusal(response);
    return response.json().catch(() => ({}));
}

export const get = (path) => call("GET", path);
export const post = (path, body = {}) => call("POST", path, body);
export const put = (path, body) => call("PUT", path, body);
export const patch = (path, body) => call("PATCH", path, body);
export const remove = (path) => call("DELETE", path);
/// Sends the bytes of a file; `signal` ends the call.
export const upload = (path, blob, signal) => call("POST", path, blob, signal);

/// A path from parts, each percent-encoded: `at("models", id, "download")`.
export const at = (...parts) => parts.map((part) => `/${encodeURIComponent(part)}`).join("");
