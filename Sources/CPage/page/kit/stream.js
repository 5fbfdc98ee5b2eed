// An event stream over fetch (WHATWG HTML, section 9.2): EventSource cannot send the secret of the session.
import { request } from "./api.js";

/// Opens the stream of a path: `onopen()`, `onevent(name, data, id)` for each event, and `onend()` when it ends or cannot
/// be opened. Returns the function that closes it without a word.
export function openStream(path, { onopen, onevent, onend }) {
    const ending = new AbortController();
    read(path, ending.signal, onopen, onevent).catch(() => {}).finally(() => { if (!ending.signal.aborted) onend(); });
    return () => ending.abort();
}

async function read(path, signal, onopen, onevent) {
    const response = await request(path, { headers: { Accept: "text/event-stream" }, cache: "no-store", signal });
    if (!response.ok || !response.headers.get("Content-Type")?.startsWith("text/event-stream")) return;
    onopen();
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
        const { value, done } = await reader.read();
        if (done || signal.aborted) return;
        const blocks = (rest + value).split("\n\n");
        rest = blocks.pop();
        for (const block of blocks) take(block, onevent);
    }
}

function take(block, onevent) {
    let name = "message";
    let id = "";
    const data = [];
    for (const line of block.split("\n")) {
        const [, field, value] = /^([^:]+): ?(.*)$/.exec(line) ?? [];
        if (field === "event") name = value;
        else if (field === "id") id = value;
        else if (field === "data") data.push(value);
    }
    if (data.length === 0) return;
    try {
        onevent(name, data.join("\n"), id);
    } catch (error) {
        // A listener that fails does not end the stream.
        reportError(error);
    }
}
