// The panel of devices: the browsers that are signed in, and the code that lets another one in.
import { fill, h, lifetime, set } from "../kit/dom.js";
import { at, get, post, remove } from "../kit/api.js";
import { copyText } from "../kit/clipboard.js";
import { ask, openDialog } from "../kit/dialog.js";
import { dayAndTime } from "../kit/format.js";
import { icon } from "../kit/icons.js";
import { on } from "../kit/live.js";
import { t } from "../kit/texts.js";
import { perform, showError, toast } from "../kit/toast.js";

const systems = [[/iPhone/, "iPhone"], [/iPad/, "iPad"], [/Android/, "Android"], [/Windows/, "Windows"], [/Macintosh|Mac OS X/, "Mac"], [/CrOS/, "ChromeOS"], [/Linux/, "Linux"]];
const browsers = [[/\bEdgA?\//, "Edge"], [/\bOPR\//, "Opera"], [/SamsungBrowser/, "Samsung Internet"], [/Firefox|FxiOS/, "Firefox"], [/Chrom(e|ium)|CriOS/, "Chrome"], [/Safari/, "Safari"]];

/// The name of a device for people, from the browser's name for itself: `Chrome on Android`.
function deviceName(agent) {
    const found = (list) => list.find(([pattern]) => pattern.test(agent))?.[1];
    const [browser, system] = [found(browsers), found(systems)];
    if (browser && system) return t("devices.name", { browser, system });
    return browser ?? system ?? t("devices.unknown");
}

const isPhone = (agent) => /iPhone|iPad|Android|Mobile/.test(agent);

/// The panel: `{ node, end }`.
export function devices() {
    const life = lifetime();
    const list = h("ul.rows", { role: "list" });
    const way = h("div.notes");
    const add = h("button.primary", { type: "button", onclick: () => perform(add, () => reading.then(() => addPhone(reach))) }, icon("plus"), t("devices.add"));
    let reach = null;
    let reading = null;
    const read = () => {
        reading = get("/devices").then(draw);
        return reading.catch((error) => fill(list, h("li.note.error", error.sentence)));
    };
    const draw = (reply) => {
        reach = reply.reach ?? null;
        fill(list, reply.devices.length === 0 ? h("li.empty", t("devices.none")) : reply.devices.map((device) => deviceRow(device, read)));
        fill(way, h("p.note", icon("web"), h("span.grow", reachText(reach))));
    };
    life.add(on("devices", read));
    read();
    return {
        node: h("div.panel", list, h("div.buttons", add), way,
            // Browsers keep these from pages that came over plain http from another machine.
            !isSecureContext && h("p.note.warning", icon("warning"), h("span.grow", t("devices.plain")))),
        end: life.end,
    };
}

function reachText(reach) {
    if (!reach) return t("devices.local");
    if (!reach.address) return t("devices.no-network");
    const all = [reach.address, ...reach.others].join(", ");
    return `${t("devices.reach", { address: all })} ${reach.isEncrypted ? "" : t("devices.readable")}`.trim();
}

function deviceRow(device, read) {
    const name = deviceName(device.agent);
    const drop = h("button.small.danger", {
        type: "button", "aria-label": t("devices.remove", { name }),
        onclick: () => perform(drop, async () => {
            const isSure = await ask({ title: t("devices.remove", { name }), text: t(device.isThis ? "devices.remove.this" : "devices.remove.text"), yes: t("devices.sign-out"), isDangerous: true });
            if (!isSure) return;
            await remove(at("devices", device.id));
            if (device.isThis) location.replace("/hearth/open");
            else {
                toast(t("devices.removed", { name }));
                await read();
            }
        }),
    }, t("devices.sign-out"));
    return h("li.row", h("span.row-icon", icon(isPhone(device.agent) ? "phone" : "device")),
        h("div.grow",
            h("p.name", { dir: "auto" }, name, device.isThis && [" ", h("span.badge.active", t("devices.this"))]),
            h("p.caption", t("devices.seen", { time: dayAndTime(new Date(device.seen)) }),
                device.created && ` · ${t("devices.since", { time: dayAndTime(new Date(device.created)) })}`)),
        drop);
}

/// Shows a code that signs another device in, as a picture for its camera and as letters to type.
function addPhone(reach) {
    const body = h("div.invitation");
    const life = lifetime();
    const dialog = openDialog({ title: t("devices.add"), body, onclose: life.end });
    if (!reach) {
        fill(body, h("p", t("devices.local")), h("p", t("devices.how")), h("pre.key", { tabindex: 0 }, "hearth stop\nhearth serve --lan"));
        return;
    }
    const renew = h("button", { type: "button", onclick: () => perform(renew, read) }, t("devices.renew"));
    const read = async () => {
        const made = await post("/devices/code");
        const copy = h("button", { type: "button", onclick: () => copyText(made.url).then(() => toast(t("copied")), showError) }, icon("copy"), t("copy"));
        fill(body,
            h("p", t("devices.scan")),
            drawCode(made.qr, made.url),
            h("p.code-words", h("span.muted", t("devices.type", { address: made.address })), h("strong.one-time-code", made.code)),
            h("p.muted", t("devices.once", { n: Math.round(made.seconds / 60) }), made.isEncrypted ? "" : ` ${t("devices.readable")}`),
            !made.hasNetwork && h("p.note.warning", icon("warning"), t("devices.no-network")),
            made.others.length > 0 && h("p.muted", t("devices.others", { addresses: made.others.join(", ") })),
            h("div.buttons", copy, renew));
    };
    // The first event is that of another device that has used the code.
    life.add(on("devices", () => {
        toast(t("devices.arrived"));
        dialog.close();
    }));
    read().catch((error) => fill(body, h("p.note.error", icon("warning"), error.sentence ?? error.message)));
}

const SVG = "http://www.w3.org/2000/svg";

/// Draws rows of `1` for dark and `0` for light squares, with the margin that cameras need.
function drawCode(rows, words) {
    const size = rows.length + 8;
    const part = (name, values) => {
        const element = document.createElementNS(SVG, name);
        for (const [key, value] of Object.entries(values)) element.setAttribute(key, value);
        return element;
    };
    const picture = part("svg", { viewBox: `0 0 ${size} ${size}`, class: "qr", role: "img", "shape-rendering": "crispEdges" });
    set(picture, { "aria-label": t("devices.picture", { words }) });
    const squares = rows.flatMap((row, y) => [...row].flatMap((square, x) => (square === "1" ? [`M${x + 4} ${y + 4}h1v1h-1z`] : [])));
    picture.append(part("rect", { width: size, height: size, fill: "#fff" }), part("path", { d: squares.join(""), fill: "#000" }));
    return picture;
}
