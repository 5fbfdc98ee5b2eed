// The line above a conversation: title, model, where answers are computed, context, and the commands of the chat.
import { h, fill, set, text, lifetime } from "../kit/dom.js";
import { icon } from "../kit/icons.js";
import { menuButton } from "../kit/menu.js";
import { perform, showError } from "../kit/toast.js";
import { reasonOf } from "../kit/refusals.js";
import { t, withWords } from "../kit/texts.js";
import { home, homeChanged } from "../data/home.js";
import { libraryChanged, rowChanged, shownName, usableTextRows } from "../data/library.js";
import { modelName } from "../data/chat-settings.js";
import { chatEntries } from "./entries.js";

/// The header of `thread`, null for a new conversation: `{ node, update, end }`. Model and route change the `settings` of
/// this conversation alone.
export function chatHeader(thread, settings) {
    const life = lifetime();
    const title = h("h1.chat-title", { dir: "auto" });
    const route = h("button.badge.route", { type: "button", onclick: () => perform(route, toggleRoute) });
    const model = h("select.model-choice", { "aria-label": t("chat.model"), title: t("chat.model") });
    const context = h("span.context", { hidden: true });
    const secret = h("span.badge", { hidden: true }, t("chat.private"));
    model.addEventListener("change", () => settings.change({ model: model.value || null }).catch(showError).finally(drawModels));
    const panel = h("button.icon-button", {
        type: "button", "aria-label": t("chat.settings"), title: t("chat.settings"), "aria-haspopup": "dialog",
        onclick: () => perform(panel, () => withWords(import("./settings.js"), "forms").then(({ openSettings }) => openSettings(settings))),
    }, icon("settings"));
    const menu = menuButton(t("chat.commands"), () => [
        { label: t("chat.new"), icon: "plus", run: () => { location.hash = "#/chat"; } },
        ...(thread ? chatEntries(thread.chat) : []),
    ]);
    // The commands are those of a conversation that is read.
    const drawMenu = () => set(menu.firstChild, { disabled: Boolean(thread) && !thread.chat });
    const node = h("header.chat-head",
        h("a.icon-button.narrow-only", { href: "#/chats", "aria-label": t("chats.title"), title: t("chats.title") }, icon("menu")),
        title, secret, model, route, context, panel,
        menu);

    const mayUseCloud = () => Boolean(settings.defaults.cloud) && !settings.isPrivate;
    const toggleRoute = () => settings.change({ route: settings.answering.source === "cloud" ? "local" : "cloud" });
    const drawRoute = () => {
        const facts = home?.route;
        set(route, { hidden: !facts });
        if (!facts) return;
        const isCloud = settings.answering.source === "cloud";
        route.classList.toggle("cloud", isCloud);
        const own = settings.isPrivate ? "private" : settings.values.route === "local" ? "local-preferred" : settings.values.model && !isCloud ? "model-named" : null;
        const reason = own ? t(`reason.${own}`) : reasonOf(facts);
        const name = t(`route.${isCloud ? "cloud" : "local"}`);
        fill(route, icon(isCloud ? "cloud" : "device"), h("span", name),
            facts.credits && isCloud && h("span.muted", t("route.credits", { left: facts.credits.left, of: facts.credits.of })));
        const hint = [reason, mayUseCloud() ? t(isCloud ? "route.force-local" : "route.allow-cloud") : ""].filter(Boolean).join(" ");
        set(route, { title: hint, "aria-label": `${name}. ${hint}`, disabled: !mayUseCloud() });
    };
    const drawModels = () => {
        const usable = usableTextRows();
        const { values, defaults } = settings;
        const others = defaults.others ?? [];
        set(model, { hidden: usable.length + others.length === 0 });
        const usual = defaults.model ? modelName(defaults.model) : null;
        const choices = [["", usual ? t("chat-settings.default", { value: usual }) : mayUseCloud() ? defaults.cloud : t("chat-settings.model.none")], ...usable.map((row) => [row.id, shownName(row)]), ...others.map(({ id, name }) => [id, name])];
        if (values.model && !choices.some(([id]) => id === values.model)) choices.push([values.model, t("chat-settings.model.gone", { name: values.model })]);
        const wanted = JSON.stringify(choices);
        if (model.dataset.rows !== wanted) {
            model.dataset.rows = wanted;
            fill(model, choices.map(([id, name]) => h("option", { value: id }, name)));
        }
        model.value = values.model ?? "";
    };
    life.add(homeChanged.on(drawRoute));
    life.add(settings.changed.on(() => { drawRoute(); drawModels(); }));
    life.add(libraryChanged.on(drawModels));
    let states = "";
    life.add(rowChanged.on(() => {
        const now = usableTextRows().map((row) => row.id + row.isDefault + row.isSelected).join();
        if (now !== states) drawModels();
        states = now;
    }));
    drawRoute();
    drawModels();
    drawMenu();
    return {
        node,
        update() {
            drawMenu();
            text(title, thread?.chat?.title || t("chat.untitled"));
            set(secret, { hidden: !thread?.chat?.isPrivate });
            const { usedTokens, length } = thread?.context ?? {};
            set(context, { hidden: !length || usedTokens === undefined || usedTokens === null });
            if (!length || usedTokens === undefined || usedTokens === null) return;
            const label = t("chat.context", { used: usedTokens, length });
            const meter = h("meter", { min: 0, max: length, high: length * 0.85, value: usedTokens, "aria-label": label });
            fill(context, meter);
            set(context, { title: label });
        },
        end: life.end,
    };
}
