// The screen of the models: active downloads on top, then the cards.
import { debounced, fill, h, keyed, lifetime, set } from "../kit/dom.js";
import { post } from "../kit/api.js";
import { icon } from "../kit/icons.js";
import { menuButton } from "../kit/menu.js";
import { sentenceOf } from "../kit/refusals.js";
import { t } from "../kit/texts.js";
import { bytes } from "../kit/format.js";
import { perform } from "../kit/toast.js";
import { home, homeChanged, readHome } from "../data/home.js";
import { library, libraryChanged, readLibrary, rowChanged, rows } from "../data/library.js";
import { activeDownloads } from "../models/progress.js";
import { addModel } from "../models/add.js";
import { modelCard } from "../models/card.js";
import { hubResults } from "../models/hub.js";
import { acceptDrops, chooseFile, uploadList } from "../models/upload.js";
import { summaryOf } from "../models/summary.js";
import { showTransfers } from "../models/transfers.js";
import { upstreamList } from "../models/upstreams.js";

const filters = {
    all: () => true,
    here: (row) => row.presence !== "none" || row.download,
    vision: (row) => row.badges.includes("vision") || row.role === "vision",
    fits: (row) => row.state !== "incompatible",
};

/// What is here comes first, then what this device can run, the recommended one before the others.
const place = (row) => (row.presence !== "none" || row.download || row.keptBytes || row.state === "failed" ? 0
    : row.badges.includes("recommended") ? 1 : row.state === "incompatible" ? 3 : 2);

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
    const upstreams = upstreamList();
    life.add(list.end);
    life.add(upstreams.end);
    life.add(homeChanged.on(drawDevice));
    drawDevice();
    readHome().catch(() => {});
    life.add(acceptDrops(main));
    main.append(h("div.page",
        h("header.page-head",
            h("div.grow", h("h1", t("models.title")), device),
            refresh,
            menuButton(t("more"), [{ label: t("transfers.title"), icon: "download", run: showTransfers }]),
            h("button.primary", { type: "button", onclick: addModel }, icon("plus"), t("add.button"))),
        list.node, upstreams.node));
    return life.end;
}

/// The section "AI Model": active downloads, filter, cards, the search of the Hub. Also part of the settings.
export function modelList() {
    const life = lifetime();
    const downloads = activeDownloads();
    const uploads = uploadList();
    const notes = h("div.notes");
    const hub = hubResults();
    const words = h("input", {
        type: "search", placeholder: t("models.search"), "aria-label": t("models.search"), maxlength: 200, enterkeyhint: "search",
        oninput: () => { draw(); if (!words.value) hub.clear(); },
        onkeydown: (event) => { if (event.key === "Enter") hub.search(words.value); },
    });
    const ask = h("button", { type: "button", onclick: () => (words.value.trim() ? hub.search(words.value) : words.focus()) }, icon("search"), t("hub.search"));
    let filter = "all";
    const chips = h("div.chips", { role: "group", "aria-label": t("models.filter") }, Object.keys(filters).map((name) =>
        h("button.chip", { type: "button", "data-filter": name, onclick: () => { filter = name; draw(); } }, t(`models.filter.${name}`))));
    const cards = h("ul.models", { role: "list", "aria-label": t("models.section") });
    const empty = h("p.empty", { role: "status" });
    const node = h("section.model-section", h("h2", t("models.section")), downloads.node, uploads.node, notes,
        h("div.filter-row", words, ask, chips), cards, empty, hub.node,
        h("div.drop-hint", h("p", t("upload.hint")), chooseFile()));

    const draw = () => {
        if (!library) return;
        const query = words.value.trim().toLowerCase();
        const shown = [...rows.values()].filter((row) => filters[filter](row)
            && (!query || `${row.name} ${row.id} ${row.summary ?? ""} ${summaryOf(row)}`.toLowerCase().includes(query)));
        shown.sort((a, b) => place(a) - place(b));
        keyed(cards, shown, (row) => row.id, modelCard);
        for (const chip of chips.children) set(chip, { "aria-pressed": String(chip.dataset.filter === filter) });
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
    life.add(uploads.end);
    life.add(rowChanged.on((row) => cards.views?.get(row.id)?.update(row)));
    life.add(libraryChanged.on(drawSoon));
    readLibrary().then(draw, (error) => fill(empty, error.sentence));
    draw();
    return { node, end: life.end };
}
