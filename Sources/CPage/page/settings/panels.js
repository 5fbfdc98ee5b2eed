// The panels with more than settings: cloud, memory, data folder, keys, actions.
import { h, fill, lifetime } from "../kit/dom.js";
import { icon } from "../kit/icons.js";
import { at, get, post, put, remove } from "../kit/api.js";
import { on } from "../kit/live.js";
import { ask, formDialog, openDialog } from "../kit/dialog.js";
import { copyText } from "../kit/clipboard.js";
import { download } from "../kit/files.js";
import { bytes, dayAndTime } from "../kit/format.js";
import { perform, showError, toast } from "../kit/toast.js";
import { reasonOf } from "../kit/refusals.js";
import { t, tOr } from "../kit/texts.js";
import { home, homeChanged, readHome } from "../data/home.js";

/// Where answers are computed, why, and the credits that are left.
export function cloud() {
    const life = lifetime();
    const node = h("div.panel");
    const draw = () => {
        const route = home?.route;
        if (!route) return;
        const isCloud = route.source === "cloud";
        const only = h("input#force-local", {
            type: "checkbox", role: "switch", checked: route.forceLocal,
            onchange: () => put("/route", { forceLocal: only.checked }).then(readHome, showError),
        });
        fill(node,
            h("p.big-line", icon(isCloud ? "cloud" : "device"), h("strong", tOr(`route.${route.source}`, route.badge)),
                h("span.muted", reasonOf(route))),
            route.problem && h("p.note.warning", icon("warning"), route.problem),
            h("div.setting.switch-row", h("div.setting-words", h("label", { for: "force-local" }, t("route.only-local")), h("p.hint", t("route.only-local.hint"))), h("div.setting-control", only)),
            route.credits && h("div.credits",
                h("p", t("route.credits-long", { left: route.credits.left, of: route.credits.of })),
                h("meter", { min: 0, max: route.credits.of, value: route.credits.left, low: route.credits.of / 10, "aria-label": t("route.credits.label") })));
    };
    life.add(homeChanged.on(draw));
    draw();
    readHome().catch(() => {});
    return { node, end: life.end };
}

/// What is loaded, and the memory that it takes.
export function memory() {
    const life = lifetime();
    const node = h("div.panel");
    const draw = () => {
        const { memory: sizes, activation } = home ?? {};
        if (!sizes) return;
        const loaded = [activation?.text, activation?.vision].filter((model) => model?.isLoaded);
        const button = (label, action) => {
            const made = h("button.small", { type: "button", onclick: () => perform(made, () => post(`/activation/${action}`).then(readHome)) }, t(label));
            return made;
        };
        fill(node,
            h("p.big-line", icon("memory"), h("strong", sizes.processBytes ? t("memory.used", { used: bytes(sizes.processBytes), all: bytes(sizes.deviceBytes) }) : bytes(sizes.deviceBytes))),
            sizes.processBytes && h("meter", { min: 0, max: sizes.deviceBytes, value: sizes.processBytes, high: sizes.deviceBytes * 0.9, "aria-label": t("settings.memory") }),
            loaded.length === 0 ? h("p.muted", t("memory.none")) : h("ul.rows", { role: "list" }, loaded.map((model) =>
                h("li.row", h("span.grow", { dir: "auto" }, model.name), model === activation.vision && h("span.badge.vision", t("badge.vision"))))),
            activation?.loadError && h("p.note.error", icon("warning"), activation.loadError),
            h("div.buttons", loaded.length > 0 ? button("memory.unload", "unload") : button("memory.load", "load")));
    };
    life.add(homeChanged.on(draw));
    draw();
    readHome().catch(() => {});
    return { node, end: life.end };
}

/// Where the files lie, and erasing conversations.
export function dataFolder() {
    const life = lifetime();
    const node = h("div.panel");
    const draw = () => home && fill(node,
        h("dl.facts",
            h("dt", t("data.home")), h("dd", h("code", home.home)),
            home.memory?.diskFreeBytes && [h("dt", t("data.free")), h("dd", bytes(home.memory.diskFreeBytes))],
            h("dt", t("data.version")), h("dd", home.version)),
        h("div.buttons",
            h("button", { type: "button", onclick: (event) => exportAll(event.currentTarget) }, icon("export"), t("data.export")),
            h("button", { type: "button", "aria-describedby": "import-hint", onclick: () => chooser.click() }, icon("download"), t("data.import")),
            h("button.danger", { type: "button", onclick: (event) => erase(event.currentTarget) }, icon("remove"), t("data.erase"))),
        h("p.hint", { id: "import-hint" }, t("data.import.hint")), result, chooser);
    const result = h("div", { role: "status" });
    const chooser = h("input", {
        type: "file", hidden: true, accept: ".json,.zip,application/json,application/zip",
        onchange: async () => {
            const [file] = chooser.files;
            chooser.value = "";
            if (file) (await import("./import.js")).importChats(file, result);
        },
    });
    life.add(homeChanged.on(draw));
    draw();
    return { node, end: life.end };
}

const exportAll = (button) => perform(button, () => download("/data/chats/export"));

async function erase(button) {
    const isSure = await ask({ title: t("data.erase"), text: t("data.erase.text"), yes: t("data.erase.yes"), isDangerous: true });
    if (!isSure) return;
    await perform(button, async () => {
        await remove("/data/chats");
        toast(t("data.erased"));
    });
}

/// The keys of other programs. A new key is displayed once.
export function apiKeys() {
    const list = h("ul.rows", { role: "list" });
    const read = () => get("/keys").then(({ keys }) => fill(list, keys.length === 0 ? h("li.empty", t("keys.none")) : keys.map((key) => {
        const drop = h("button.small.danger", {
            type: "button", "aria-label": t("keys.remove", { name: key.name }),
            onclick: () => perform(drop, async () => {
                if (!await ask({ title: t("keys.remove", { name: key.name }), text: t("keys.remove.text"), yes: t("delete"), isDangerous: true })) return;
                await remove(at("keys", key.id));
                await read();
            }),
        }, t("delete"));
        return h("li.row", h("span.row-icon", icon("key")),
            h("div.grow", h("p.name", { dir: "auto" }, key.name), h("p.caption", [key.scopes.join(", "), key.created && dayAndTime(new Date(key.created))].filter(Boolean).join(" · "))), drop);
    })), (error) => fill(list, h("li.note.error", error.sentence)));
    read();
    const create = () => formDialog({
        title: t("keys.add"), saveText: t("keys.create"),
        fields: [
            { name: "name", label: t("field.name"), type: "text", required: true, placeholder: t("keys.name.example") },
            ...["chat", "models", "admin"].map((scope) => ({ name: scope, label: t(`keys.scope.${scope}`), type: "boolean", value: scope === "chat" })),
            { name: "code", label: t("keys.code"), type: "text", hint: t("keys.code.hint") },
        ],
        save: async ({ name, code, ...scopes }) => {
            const reply = await post("/keys", { name, scopes: Object.keys(scopes).filter((scope) => scopes[scope]), ...(code && { code }) });
            showKey(reply.key);
            read();
        },
    });
    return { node: h("div.panel", list, h("div.buttons", h("button.primary", { type: "button", onclick: create }, icon("plus"), t("keys.add")))) };
}

function showKey(key) {
    const copy = h("button.primary", { type: "button", onclick: () => copyText(key).then(() => toast(t("copied")), showError) }, icon("copy"), t("copy"));
    openDialog({ title: t("keys.new"), body: [h("p", t("keys.once")), h("pre.key", { tabindex: 0 }, key)], buttons: [copy] });
}

/// The journal of actions, newest first, with undo.
export function activity() {
    const life = lifetime();
    const list = h("ul.rows", { role: "list" });
    const read = () => get("/actions?limit=100").then(({ actions }) => fill(list, actions.length === 0 ? h("li.empty", t("activity.none")) : actions.map(({ card, chat, date }) => {
        const undo = h("button.small", {
            type: "button", "aria-label": t("activity.undo", { title: card.title }),
            onclick: () => perform(undo, () => post(at("actions", card.id, "undo")).then(read)),
        }, t("undo"));
        return h("li.row", h("div.grow", h("p.name", { dir: "auto" }, card.title),
            h("p.caption", `${tOr(`card.state.${card.state}`, card.state)} · ${dayAndTime(new Date(date))}`)),
        chat && h("a.button.small", { href: `#/chat/${encodeURIComponent(chat)}` }, t("activity.chat")), card.canUndo && undo);
    })), (error) => fill(list, h("li.note.error", error.sentence)));
    life.add(on("actions", read));
    read();
    return { node: h("div.panel", list), end: life.end };
}
