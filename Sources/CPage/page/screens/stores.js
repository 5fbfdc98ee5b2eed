// The screen of the records: calendar, reminders, notes, contacts, habits. Each has a file in stores/.
import { h, fill, lifetime, set, debounced } from "../kit/dom.js";
import { icon } from "../kit/icons.js";
import { on } from "../kit/live.js";
import { t } from "../kit/texts.js";

const stores = {
    all: () => import("../stores/all.js"),
    calendar: () => import("../stores/calendar.js"),
    reminders: () => import("../stores/reminders.js"),
    notes: () => import("../stores/notes.js"),
    contacts: () => import("../stores/contacts.js"),
    habits: () => import("../stores/habits.js"),
};

/// Shows the store `name`, the calendar without it.
export function show(main, [name, query]) {
    const chosen = stores[name] ? name : "calendar";
    const life = lifetime();
    const body = h("div.store");
    const add = h("button.primary", { type: "button" }, icon("plus"), t(`stores.${chosen}.add`));
    const words = h("input", { type: "search", placeholder: t("stores.search"), "aria-label": t("stores.search"), value: query ?? "" });
    const files = h("span.buttons");
    main.append(h("div.page",
        h("header.page-head", h("h1.grow", t("stores.title")), chosen !== "all" && add),
        h("nav.store-tabs", { "aria-label": t("stores.title") }, Object.keys(stores).map((store) =>
            h("a.chip", { href: `#/stores/${store}`, "aria-current": store === chosen ? "page" : null }, icon(store), t(`stores.${store}`)))),
        h("div.filter-row", words, files),
        body));
    main.querySelector(".chip[aria-current]").scrollIntoView({ block: "nearest", inline: "center" });
    let isLeft = false;
    life.add(() => { isLeft = true; });
    let read = () => {};
    const loading = stores[chosen]();
    // A click may come before the store's code.
    add.addEventListener("click", () => loading.then((store) => store.add(() => read())));
    loading.then((store) => {
        if (isLeft) return;
        read = () => store.draw(body, words.value.trim()).catch((error) => {
            if (!isLeft) fill(body, h("p.note.error", { role: "alert" }, icon("warning"), error.sentence ?? error.message));
        });
        const readSoon = debounced(read, 200);
        set(words, { hidden: !store.canSearch });
        words.addEventListener("input", readSoon);
        if (chosen !== "all") import("../stores/files.js").then(({ fileButtons }) => { if (!isLeft) files.append(...fileButtons(chosen, () => read()).filter(Boolean)); });
        life.add(on("records", (data) => { if (data.store === chosen || chosen === "all") readSoon(); }));
        read();
    });
    return life.end;
}
