// The rows of the models and the state of the library, kept equal to the server's by events.
import { signal } from "../kit/dom.js";
import { gate, on, reset } from "../kit/live.js";

/// The rows by id, in the order of the server.
export const rows = new Map();

/// Facts of the library: isRefreshing, offerProblem, homeProblem, notices, selected, defaultModel, visionModel, metered.
export let library = null;

/// Emitted with a row that is new or changed.
export const rowChanged = signal();

/// Emitted when rows were added, removed or read anew, or when `library` has changed.
export const libraryChanged = signal();

const entrance = gate();
let reading = null;
// How many events told of rows, and which of them told of a row last.
let events = 0;
const told = new Map();

/// Reads the library once; later calls return at once unless `again` is true.
export function readLibrary(again = false) {
    if (reading && !again) return reading;
    reading = entrance.read("/models", (reply) => {
        rows.clear();
        for (const row of reply.rows) rows.set(row.id, row);
        library = reply.library;
        libraryChanged.emit();
    });
    reading.catch(() => { reading = null; });
    return reading;
}

on("row", ({ row }, id) => entrance.pass(id, () => {
    told.set(row.id, ++events);
    take(row);
}));

on("row-removed", ({ id: removed }, id) => entrance.pass(id, () => {
    rows.delete(removed);
    libraryChanged.emit();
}));

on("library", (facts, id) => entrance.pass(id, () => {
    library = facts;
    libraryChanged.emit();
}));

reset.on(() => { if (library) readLibrary(true).catch(() => {}); });

/// What takes the rows in the reply of a call that begins now. A row that an event told of since then is newer.
export function replies() {
    const begin = events;
    return (row) => { if (row && !(told.get(row.id) > begin)) take(row); };
}

function take(row) {
    const isNew = !rows.has(row.id);
    rows.set(row.id, row);
    rowChanged.emit(row);
    if (isNew) libraryChanged.emit();
}

/// The rows that can answer questions now.
export const usableTextRows = () => [...rows.values()].filter((row) => row.isUsable && row.role === "text");

/// The name of a row; if another model has it too, with the id.
export const shownName = (row) => ([...rows.values()].some((other) => other.id !== row.id && other.name === row.name) ? `${row.name} (${row.id})` : row.name);

/// Whether a person paused the download of a row in this process of the server.
export const isPaused = (row) => row.state === "waiting" && row.download?.phase === "paused";

/// The bytes of a download that a person may resume: paused now, or unfinished since an earlier process.
export const keptBytes = (row) => (isPaused(row) ? row.download.completedBytes - (row.download.repeatedBytes ?? 0) : row.keptBytes);

/// Whether a row is on its way to this device.
export const isMoving = (row) => (row.state === "downloading" || row.state === "waiting") && !isPaused(row);

/// The rows on their way, the farthest first.
export const movingRows = () => [...rows.values()].filter(isMoving).sort((a, b) => (b.progress ?? 0) - (a.progress ?? 0));
