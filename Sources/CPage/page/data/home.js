// The state of the whole program: first run, memory, disk, network, route, activation, waiting approvals.
import { debounced, signal } from "../kit/dom.js";
import { get } from "../kit/api.js";
import { on, reset } from "../kit/live.js";

/// The last read state; null before the first.
export let home = null;

/// Emitted when `home` has changed.
export const homeChanged = signal();

/// Whether questions can be answered: by a model of this device, or by the cloud.
export const canAnswer = () => Boolean(home?.canAnswer ?? home?.library?.canAnswer);

/// Reads the state and returns it.
export async function readHome() {
    home = await get("/state");
    homeChanged.emit(home);
    return home;
}

const later = debounced(() => readHome().catch(() => {}), 150);

for (const name of ["engine", "library", "route", "settings", "card", "row-removed"]) on(name, later);
reset.on(later);

// Rows come ten times a second during a download; only another state can change the first run.
const states = new Map();
on("row", ({ row }) => {
    if (states.get(row.id) === row.state) return;
    states.set(row.id, row.state);
    later();
});
