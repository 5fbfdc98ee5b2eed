// The screen of the models: active downloads on top, then the cards.
import { h, fill, keyed, lifetime, set, debounced } from "../kit/dom.js";
import { post } from "../kit/api.js";
import { icon } from "../kit/icons.js";
import { menuButton } from "../kit/dialog.js";
import { sentenceOf } from "../kit/refusals.js";
import { t } from "../kit/texts.js";
import { bytes } from "../kit/format.js";
import { perform } from "../kit/toast.js";
import { home, homeChanged, readHome } from "../data/home.js";
import { library, libraryChanged, readLibrary, rowChanged, rows } from "../data/library.js";
import { activeDownloads } from "../models/progress.js";
import { addModel } from "../models/add.js";
import { modelCard } from "../models/card.js";
import { showTransfers } from "../models/transfers.js";

const filters = {
    all: () => true,
    here: (row) => row.presence !== "none" || row.download,
    vision: (row) => row.badges.includes("vision") || row.role === "vision",
    fits: (row) => row.state !== "incompatible",
};

/// Shows the screen.
export function show(main) {
    const life = lifetime();
    const refresh = h("button.icon-button", {
        type: "button", "aria-label": t("models.refresh"), title: t("models.refresh"),
        onclick: () => perform(refresh, () => post("/models/refresh", { now: true })),
    }, icon("again"));
    const list = modelList();
    const device = h("p.caption");
    const drawDevice = () => {
        if (!home) return;
        fill(device, t("models.device", { memory: bytes(home.memory?.deviceBytes), disk: bytes(home.memory?.diskFreeBytes) }),
            home.network?.isMetered && ` · ${t("models.metered")}`, home.network?.isOnline === false && ` · ${t("models.offline")}`);
    };
    life.add(list.end);
    life.add(homeChanged.on(drawDevice));
    drawDevice();
    readHome().catch(() => {});
    main.append(h("div.page",
        h("header.page-head",
            h("div.grow", h("h1", t("models.title")), device),
            refresh,
            menuButton(t("more"), [{ label: t("transfers.title"), icon: "download", run: showTransfers }]),
            h("button.primary", { type: "button", onclick: addModel }, icon("plus"), t("add.button"))),
        list.node));
    return life.end;
}

/// The section "AI Model": active downloads, filter, cards. Also part of the settings.
export function modelList() {
    const life = lifetime();
    const downloads = activeDownloads();
    const notes = h("div.notes");
    const words = h("input", { type: "search", placeholder: t("models.search"), "aria-label": t("models.search"), oninput: () => draw() });
    let filter = "all";
    const chips = h("div.chips", { role: "group", "aria-label": t("models.filter") }, Object.keys(filters).map((name) =>
        h("button.chip", { type: "button", "data-filter": name, onclick: () => { filter = name; draw(); } }, t(`models.filter.${name}`))));
    const cards = h("ul.models", { role: "list", "aria-label": t("models.section") });
    const empty = h("p.empty", { role: "status" });
    const node = h("section.model-section", h("h2", t("models.section")), downloads.node, notes,
        h("div.filter-row", words, chips), cards, empty);

    const draw = () => {
        if (!library) return;
        const query = words.value.trim().toLowerCase();
        const shown = [...rows.values()].filter((row) => filters[filter](row)
            && (!query || `${row.name} ${row.id} ${row.summary ?? ""}`.toLowerCase().includes(query)));
        keyed(cards, shown, (row) => row.id, modelCard);
        for (const chip of chips.children) set(chip, { "aria-pressed": String(chip.dataset.filter === filter) });
        set(node.querySelector(".filter-row"), { hidden: rows.size < 4 });
        set(empty, { hidden: shown.length > 0 });
        fill(empty, t(rows.size === 0 ? (library.isRefreshing ? "models.reading" : "models.none") : "models.no-match"));
        drawNotes();
    };
    const drawNotes = () => fill(notes,
        library.homeProblem && h("p.note.error", icon("warning"), library.homeProblem.code ? sentenceOf(library.homeProblem) : library.homeProblem),
        library.offerProblem && h("p.note.warning", icon("warning"), t("models.offer-problem"), " ", sentenceOf(library.offerProblem)),
        (library.notices ?? []).map((notice) => h("p.note", notice)));

    const drawSoon = debounced(draw, 60);
    life.add(downloads.end);
    life.add(rowChanged.on((row) => cards.views?.get(row.id)?.update(row)));
    life.add(libraryChanged.on(drawSoon));
    readLibrary().then(draw, (error) => fill(empty, error.sentence));
    draw();
    return { node, end: life.end };
}
