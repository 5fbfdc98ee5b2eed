// The screen of the settings: panels, each with the settings of its keys and what belongs to them.
import { h, fill, lifetime } from "../kit/dom.js";
import { icon } from "../kit/icons.js";
import { get } from "../kit/api.js";
import { on } from "../kit/live.js";
import { t } from "../kit/texts.js";
import { modelList } from "./models.js";
import { addPublisher, readBetweenChanges, settingRows } from "../settings/values.js";
import { appearance } from "../settings/appearance.js";
import { activity, apiKeys, cloud, dataFolder, memory } from "../settings/panels.js";
import { devices } from "../settings/devices.js";

/// The panels: the settings that they show, and a view `{ node, end }` above them.
const panels = {
    model: { icon: "models", keys: /^(defaultModel|visionModel|serve\.updates|library\.|origins\.|trust\.|catalog\.)/, view: modelList },
    look: { icon: "eye", keys: /^chat\./, view: appearance },
    network: { icon: "web", keys: /^(network\.|serve\.(port|hosts|origins|requireKeys|anyModel))/ },
    cloud: { icon: "cloud", keys: /^(cloud|routing|entitlement)\./, view: cloud },
    permissions: { icon: "shield", keys: /^approval\./ },
    tools: { icon: "search", keys: /^(search|stores)\./ },
    memory: { icon: "memory", keys: /./, view: memory },
    data: { icon: "stores", keys: /^stateFolder$/, view: dataFolder },
    devices: { icon: "phone", keys: null, view: devices },
    keys: { icon: "key", keys: null, view: apiKeys },
    activity: { icon: "undo", keys: null, view: activity },
};

/// The panel of a setting: the first that names its key; what no panel names stands under memory and speed.
function panelOf(key) {
    return Object.keys(panels).find((name) => name !== "memory" && panels[name].keys?.test(key)) ?? "memory";
}

/// Shows the panel `name`.
export function show(main, [name]) {
    const chosen = panels[name] ? name : "model";
    const life = lifetime();
    const view = panels[chosen].view?.();
    life.add(() => view?.end?.());
    const values = h("div.settings");
    main.append(h("div.page.settings-page",
        h("header.page-head", h("h1.grow", t("settings.title"))),
        h("div.settings-columns",
            h("nav.settings-nav", { "aria-label": t("settings.title") }, Object.entries(panels).map(([panel, { icon: symbol }]) =>
                h("a.settings-link", { href: `#/settings/${panel}`, "aria-current": panel === chosen ? "page" : null }, icon(symbol), t(`settings.${panel}`)))),
            h("div.settings-body",
                chosen !== "model" && h("h2", t(`settings.${chosen}`)), h("p.muted", t(`settings.${chosen}.lead`)), view?.node, values))));
    main.querySelector(".settings-link[aria-current]").scrollIntoView({ block: "nearest", inline: "center" });
    if (!panels[chosen].keys) return life.end;
    let shown = [];
    const read = async () => {
        try {
            const { settings } = await readBetweenChanges(() => get("/settings"));
            const rows = settings.filter(({ key }) => panelOf(key) === chosen && key !== "routing.forceLocal");
            // A change made here is displayed already, and its control keeps the focus.
            if (shown.length > 0 && rows.length === shown.length && rows.every(({ key }, index) => key === shown[index].key)) {
                const nodes = values.querySelectorAll(".setting");
                rows.forEach((row, index) => {
                    // What is being typed stays; saving it decides.
                    if (row.value === shown[index].value || nodes[index].contains(document.activeElement)) return;
                    nodes[index].replaceWith(...settingRows([row]));
                    shown[index] = row;
                });
                return;
            }
            shown = rows;
            fill(values, chosen === "model" && rows.length > 0 && h("h3", t("settings.more")), settingRows(rows),
                chosen === "model" && h("div.buttons", h("button", { type: "button", onclick: addPublisher }, icon("plus"), t("publisher.add"))));
        } catch (error) {
            fill(values, h("p.note.error", error.sentence ?? error.message));
        }
    };
    life.add(on("settings", read));
    read();
    return life.end;
}
