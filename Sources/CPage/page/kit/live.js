// The event stream. After a lost connection it goes on behind the last event, so that nothing is missed or doubled.
import { signal } from "./dom.js";
import { get, signedOut } from "./api.js";
import { openStream } from "./stream.js";

const names = [
    "hello", "row", "row-removed", "library", "engine", "transfer", "chat", "chat-removed", "chat-settings", "message", "message-removed",
    "phase", "thinking", "thinking-ended", "text", "cleared", "card", "notice", "failed", "branch", "route", "settings",
    "records", "actions", "ring", "ring-ended", "rings-missed", "devices",
];
const signals = Object.fromEntries(names.map((name) => [name, signal()]));

/// Emitted when all snapshots have to be read anew: the server was restarted, or the page was away for long.
export const reset = signal();

/// Emitted with true when the stream is open and with false when it is lost.
export const connection = signal();

let close = null;
let isOpen = false;
let last = null;
let delay = 250;
let timer;
let isEnded = false;

/// Listens to an event: `listener(data, id)`. Returns the function that ends it.
export const on = (name, listener) => signals[name].on(listener);

/// Opens the stream behind the event `after` of a snapshot.
export function connect(after) {
    last = after ?? last;
    close?.();
    clearTimeout(timer);
    if (isEnded) return;
    isOpen = true;
    close = openStream(`/events${last ? `?after=${encodeURIComponent(last)}` : ""}`, {
        onopen: () => {
            delay = 250;
            connection.emit(true);
        },
        onevent: (name, data, id) => {
            last = id || last;
            if (name === "reset") reset.emit();
            else signals[name]?.emit(JSON.parse(data), id);
        },
        onend: retry,
    });
}

// The next stream begins behind the last event.
function retry() {
    isOpen = false;
    clearTimeout(timer);
    connection.emit(false);
    timer = setTimeout(async () => {
        delay = Math.min(delay * 2, 4000);
        try {
            await get("/state");
            connect();
        } catch (error) {
            if (!isEnded) retry();
        }
    }, delay);
}

signedOut.on(() => {
    isEnded = true;
    clearTimeout(timer);
    close?.();
});

// The browser tells of a network before the timer ends, and a page that was put aside comes back.
addEventListener("online", () => { if (close && !isOpen && !isEnded) connect(); });

// A browser may keep a page that was left, with its requests: it would go on listening.
addEventListener("pagehide", () => {
    clearTimeout(timer);
    close?.();
    isOpen = false;
});
addEventListener("pageshow", (event) => { if (event.persisted && close) connect(); });

/// Whether the event `id` comes after the snapshot `since`. Ids are EPOCH-N; another epoch is another server process.
export function isNewer(id, since) {
    if (!since || !id) return true;
    const [epoch, number] = split(id);
    const [sinceEpoch, sinceNumber] = split(since);
    return epoch !== sinceEpoch || number > sinceNumber;
}

function split(id) {
    const dash = id.lastIndexOf("-");
    return [id.slice(0, dash), Number(id.slice(dash + 1))];
}

/// Joins a snapshot with the events: events that arrive while the snapshot is read wait for it, and those that it
/// includes are dropped. Without this, an event between the server's reply and its arrival would be lost.
export function gate() {
    let waiting = null;
    let since = null;
    let reading = null;
    return {
        /// Reads a snapshot with the field `event` and gives it to `take`. Calls during a reading share it.
        read(path, take) {
            waiting ??= [];
            reading ??= get(path).then((reply) => {
                since = reply.event ?? since;
                take(reply);
            }).finally(() => {
                const events = waiting;
                waiting = null;
                reading = null;
                for (const [id, run] of events) if (isNewer(id, since)) run();
            });
            return reading;
        },
        /// Runs `run` for the event `id`, now or behind the snapshot that is being read.
        pass(id, run) {
            if (waiting) waiting.push([id, run]);
            else if (isNewer(id, since)) run();
        },
    };
}
