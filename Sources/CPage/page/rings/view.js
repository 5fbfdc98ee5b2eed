// Rings at the top of every screen: they stay until a person answers them, here, in another page or on the desktop.
import { h, fill, keyed } from "../kit/dom.js";
import { at, post } from "../kit/api.js";
import { icon } from "../kit/icons.js";
import { menuButton } from "../kit/menu.js";
import { day, dayAndTime } from "../kit/format.js";
import { perform, showError, toast } from "../kit/toast.js";
import { t } from "../kit/texts.js";
import { answerRing, clearMissed, isFirstToPlay, missed, rings, ringsChanged } from "../data/rings.js";
import { play } from "./sound.js";

/// The most rings that are shown at once.
const limit = 3;
const snoozes = ["10-minutes", "1-hour", "tomorrow"];

/// Shows the rings in the place for news, and follows them. `begun` is the ring that has just begun, or null.
export function showRings(begun) {
    const list = h("ul#rings", { role: "list", "aria-label": t("ring.list") });
    document.getElementById("news").append(list);
    const draw = (newest) => {
        const shown = rings.slice(0, limit).map((ring) => ({ key: ring.id, ring }));
        const more = rings.length - shown.length + missed;
        if (more > 0) shown.push({ key: "more", more });
        keyed(list, shown, ({ key }) => key, (item) => (item.ring ? ringView(item.ring) : moreView(item.more)));
        if (newest) announceRing(newest);
    };
    ringsChanged.on(draw);
    draw(begun);
}

/// The name of a ring: its title, or its kind for a record that others wrote.
const nameOf = (ring) => ring.title ?? t(`ring.${ring.store}.other`, { name: ring.collection ?? "" });

function captionOf(ring) {
    const isDay = ring.due.length === 10;
    const [year, month, date] = ring.due.split("-").map(Number);
    const due = isDay ? day(new Date(year, month - 1, date)) : dayAndTime(new Date(ring.due));
    return [t(`ring.${ring.store}`), due, ring.isLate && t("ring.late")].filter(Boolean).join(" · ");
}

function ringView(ring) {
    const answer = (button, body) => perform(button, async () => {
        const reply = await answerRing(ring.id, body);
        if (!reply?.action) return;
        toast(t("ring.completed", { name: nameOf(ring) }), {
            action: t("undo"), run: () => post(at("actions", reply.action, "undo")).then(() => toast(t("undone")), showError),
        });
    });
    const done = h("button.small.primary", { type: "button", onclick: () => answer(done, { answer: "done" }) }, t("ring.done"));
    const close = h("button.icon-button.small", {
        type: "button", "aria-label": t("ring.close"), title: t("ring.close"), onclick: () => answer(close, { answer: "close" }),
    }, icon("close"));
    const node = h("div.ringing", { role: "group", "aria-label": nameOf(ring) }, icon("bell"),
        h("div", h("p.name", { dir: "auto" }, nameOf(ring)), h("p.caption", { dir: "auto" }, captionOf(ring))),
        menuButton(t("ring.snooze"), snoozes.map((snooze) => ({
            label: t(`ring.snooze.${snooze}`), run: (button) => answer(button, { answer: "snooze", snooze }),
        })), "again", t("ring.snooze")),
        done, close);
    return { node: h("li", node), update() {} };
}

function moreView(count) {
    const words = h("p.grow");
    const box = h("div.ringing", words,
        h("a.button.small", { href: "#/stores/reminders" }, t("ring.more.open")),
        h("button.icon-button.small", { type: "button", "aria-label": t("close"), onclick: () => clearMissed().catch(showError) }, icon("close")));
    const update = ({ more }) => fill(words, t("ring.more", { n: more }));
    update({ more: count });
    return { node: h("li", box), update };
}

// One of all open pages plays a ring; the others show it.
async function announceRing(ring) {
    if (!await isFirstToPlay(ring.id)) return;
    play();
    if (!isSecureContext || !("Notification" in window) || Notification.permission !== "granted") return;
    const note = new Notification(nameOf(ring), { body: captionOf(ring), tag: ring.id });
    const end = ringsChanged.on(() => {
        if (rings.some(({ id }) => id === ring.id)) return;
        note.close();
        end();
    });
    note.onclick = () => { focus(); location.hash = `#/stores/${ring.store}`; };
}
