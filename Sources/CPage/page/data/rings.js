// The rings of reminders and events that wait for an answer, kept equal by events.
import { signal } from "../kit/dom.js";
import { gate, on, reset } from "../kit/live.js";
import { at, post, remove } from "../kit/api.js";

/// The rings, the oldest first, and the number of those that do not ring one by one.
export let rings = [];
export let missed = 0;

/// Emitted after each change, with the ring that has just begun or null.
export const ringsChanged = signal();

const snapshot = gate();

/// Reads the rings.
export const readRings = () => snapshot.read("/rings", (reply) => {
    rings = reply.rings;
    missed = reply.missed;
    ringsChanged.emit(null);
});

on("ring", ({ ring }, id) => snapshot.pass(id, () => {
    rings = [...rings.filter((other) => other.id !== ring.id), ring];
    ringsChanged.emit(ring);
}));
on("ring-ended", ({ id: ended }, id) => snapshot.pass(id, () => drop(ended)));
on("rings-missed", (reply, id) => snapshot.pass(id, () => {
    missed = reply.missed;
    ringsChanged.emit(null);
}));
reset.on(() => readRings().catch(() => {}));

function drop(id) {
    if (!rings.some((ring) => ring.id === id)) return;
    rings = rings.filter((ring) => ring.id !== id);
    ringsChanged.emit(null);
}

/// Answers a ring: `{ answer: "done" | "close" | "snooze", snooze }`. Returns the reply; null if another page or device was first.
export async function answerRing(id, body) {
    try {
        const reply = await post(at("rings", id), body);
        drop(id);
        return reply;
    } catch (error) {
        if (error.status !== 404) throw error;
        drop(id);
        return null;
    }
}

/// Asks whether this page is the first that plays a ring.
export const isFirstToPlay = (id) => post(at("rings", id, "play")).then(({ isFirst }) => isFirst, () => false);

/// Forgets the alarms that did not ring one by one.
export const clearMissed = () => remove("/rings");
