// The line above a conversation: title, model, where answers are computed, context, and the commands of the chat.
import { h, fill, set, text, lifetime } from "../kit/dom.js";
import { icon } from "../kit/icons.js";
import { put } from "../kit/api.js";
import { menuButton } from "../kit/dialog.js";
import { perform } from "../kit/toast.js";
import { reasonOf } from "../kit/refusals.js";
import { t, tOr } from "../kit/texts.js";
import { home, homeChanged, readHome } from "../data/home.js";
import { libraryChanged, library, rowChanged, usableTextRows } from "../data/library.js";
import { select } from "../models/download.js";

/// The header: `{ node, update(thread), end }`. `actions` are rename, exportAs, delete and fresh.
export function chatHeader(actions) {
    const life = lifetime();
    const title = h("h1.chat-title", { dir: "auto" });
    const route = h("button.badge.route", { type: "button", onclick: () => perform(route, toggleRoute) });
    const model = h("select.model-choice", { "aria-label": t("chat.model"), title: t("chat.model") });
    const context = h("span.context", { hidden: true });
    model.addEventListener("change", () => {
        const row = usableTextRows().find((candidate) => candidate.id === model.value);
        if (row) select(row, "text");
    });
    const node = h("header.chat-head",
        h("a.icon-button.narrow-only", { href: "#/chats", "aria-label": t("chats.title"), title: t("chats.title") }, icon("menu")),
        title, model, route, context,
        menuButton(t("chat.commands"), () => [
            { label: t("chat.new"), icon: "plus", run: actions.fresh },
            actions.hasChat() && { label: t("chat.rename"), icon: "edit", run: actions.rename },
            actions.hasChat() && { label: t("chat.export.markdown"), icon: "export", run: () => actions.exportAs("markdown") },
            actions.hasChat() && { label: t("chat.export.json"), icon: "export", run: () => actions.exportAs("json") },
            actions.hasChat() && { label: t("chat.delete"), icon: "remove", isDangerous: true, run: actions.delete },
        ]));

    const toggleRoute = async () => {
        await put("/route", { forceLocal: !home.route.forceLocal });
        await readHome();
    };
    const drawRoute = () => {
        const facts = home?.route;
        set(route, { hidden: !facts });
        if (!facts) return;
        const isCloud = facts.source === "cloud";
        route.classList.toggle("cloud", isCloud);
        const reason = reasonOf(facts);
        const name = tOr(`route.${facts.source}`, facts.badge ?? "");
        fill(route, icon(isCloud ? "cloud" : "device"), h("span", name),
            facts.credits && isCloud && h("span.muted", t("route.credits", { left: facts.credits.left, of: facts.credits.of })));
        const hint = [reason, facts.cloud ? t(facts.forceLocal ? "route.allow-cloud" : "route.force-local") : ""].filter(Boolean).join(" ");
        set(route, { title: hint, "aria-label": `${name}. ${hint}`, disabled: !facts.cloud });
    };
    const drawModels = () => {
        const usable = usableTextRows();
        set(model, { hidden: usable.length === 0 });
        const chosen = library?.defaultModel ?? library?.selected ?? usable.find((row) => row.isDefault || row.isSelected)?.id;
        const wanted = usable.map((row) => `${row.id}|${row.name}`).join();
        if (model.dataset.rows !== wanted) {
            model.dataset.rows = wanted;
            fill(model, usable.map((row) => h("option", { value: row.id }, row.name)));
        }
        const found = usable.find((row) => row.isDefault) ?? usable.find((row) => row.id === chosen);
        if (found) model.value = found.id;
    };
    life.add(homeChanged.on(drawRoute));
    life.add(libraryChanged.on(drawModels));
    let states = "";
    life.add(rowChanged.on(() => {
        const now = usableTextRows().map((row) => row.id + row.isDefault + row.isSelected).join();
        if (now !== states) drawModels();
        states = now;
    }));
    drawRoute();
    drawModels();
    return {
        node,
        update(thread) {
            text(title, thread?.chat?.title || t("chat.untitled"));
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
