// Starts the page: texts, theme, navigation, event stream, and the screen that the address names.
import { h, fill, set } from "./kit/dom.js";
import { icon } from "./kit/icons.js";
import { signedOut } from "./kit/api.js";
import { connect, connection } from "./kit/live.js";
import { announce, banner, showError } from "./kit/toast.js";
import { loadRefusals } from "./kit/refusals.js";
import { loadTexts, t, withWords } from "./kit/texts.js";
import { applyTheme } from "./kit/theme.js";
import { readHome } from "./data/home.js";
import { libraryChanged, movingRows, readLibrary, rowChanged } from "./data/library.js";
import { readChats } from "./data/chats.js";
import { chatList } from "./screens/chats.js";

// What is shown of models has sentences of failures.
const withRefusals = (module) => Promise.all([module, loadRefusals()]).then(([loaded]) => loaded);

/// The screens by the first word of the address `#/word/…`; each module and its words are loaded when it is first shown.
const screens = {
    chat: () => import("./screens/chat.js"),
    chats: () => import("./screens/chats.js"),
    models: () => withRefusals(withWords(import("./screens/models.js"), "models")),
    read: () => withWords(import("./screens/read.js"), "read"),
    stores: () => withWords(import("./screens/stores.js"), "stores", "forms"),
    settings: () => withRefusals(withWords(import("./screens/settings.js"), "settings", "forms", "models")),
};
const tabs = [["chat", "chat"], ["models", "models"], ["read", "eye"], ["stores", "stores"], ["settings", "settings"]];

let leave = null;
let shown = 0;
const links = new Map();

async function show() {
    const [name = "", ...rest] = location.hash.replace(/^#\/?/, "").split("/").map(decodeURIComponent);
    const known = screens[name] ? name : "chat";
    const number = ++shown;
    const parts = known === name ? rest : [];
    const screen = await screens[known]();
    if (number !== shown) return;
    leave?.();
    leave = null;
    for (const [tab, link] of links) set(link, { "aria-current": tab === known || (tab === "chat" && known === "chats") ? "page" : null });
    const main = document.getElementById("main");
    main.className = `screen-${known}`;
    main.scrollTop = 0;
    fill(main);
    const isRepeat = main.dataset.screen === known;
    main.dataset.screen = known;
    await screen.prepare?.(parts);
    if (number !== shown) return;
    leave = screen.show(main, parts) ?? null;
    dispatchEvent(new Event("screenshown"));
    if (!isRepeat) announce(t(`nav.${known === "chats" ? "chat" : known}`));
    document.title = `${t(`nav.${known === "chats" ? "chat" : known}`)} · Hearth`;
}

function rail() {
    const nav = document.getElementById("rail");
    const list = chatList();
    nav.append(
        h("ul.tabs", { role: "list" }, tabs.map(([name, symbol]) => {
            const link = h("a.tab", { href: `#/${name}` }, icon(symbol), h("span", t(`nav.${name}`)));
            links.set(name, link);
            return h("li", link);
        })),
        list,
    );
    watchDownloads(list);
    document.getElementById("news").setAttribute("aria-label", t("news"));
    document.querySelector(".skip").textContent = t("nav.skip");
    document.querySelector(".skip").addEventListener("click", (event) => {
        event.preventDefault();
        document.getElementById("main").focus();
    });
}

// The button that shows a download comes with the first that moves, above the list of conversations.
function watchDownloads(list) {
    const look = () => {
        if (movingRows().length === 0) return;
        for (const end of ends.splice(0)) end();
        withWords(import("./models/progress.js"), "models").then(({ downloadPill }) => list.before(downloadPill()), follow);
    };
    const ends = [];
    const follow = () => ends.push(rowChanged.on(look), libraryChanged.on(look));
    follow();
    look();
}

// Rings are read after the first paint; their view comes with the first of them.
async function watchRings() {
    const data = await import("./data/rings.js");
    let isComing = false;
    const end = data.ringsChanged.on((begun) => {
        if (isComing || data.rings.length + data.missed === 0) return;
        isComing = true;
        withWords(import("./rings/view.js"), "forms").then(({ showRings }) => { end(); showRings(begun); }, () => { isComing = false; });
    });
    await data.readRings();
}

function watchConnection() {
    let timer;
    connection.on((isOpen) => {
        clearTimeout(timer);
        if (isOpen) banner(null);
        else timer = setTimeout(() => banner("warning", h("span.spinner"), t("connection.lost")), 600);
    });
    signedOut.on(() => banner("error", icon("key"), h("span", t("signed-out")), h("a.button.small", { href: "/hearth/open" }, t("sign-in"))));
}

async function start() {
    // The browser keeps a record of every call otherwise; a page that is open for weeks has no use for them.
    performance.setResourceTimingBufferSize(0);
    applyTheme();
    const texts = loadTexts();
    const state = Promise.all([readHome(), readLibrary(), readChats()]);
    state.catch(() => {});
    // The code of the first screen comes beside the words.
    if (!/^#\/(?!chat\b)/.test(location.hash)) screens.chat().catch(() => {});
    // Listens for shortcuts before the first paint.
    const keys = import("./kit/shortcuts.js").then(({ listen }) => listen()).catch(() => {});
    await Promise.all([texts, keys]);
    rail();
    watchConnection();
    addEventListener("hashchange", () => show().catch(showError));
    const opened = show().catch(showError);
    try {
        const [home] = await state;
        connect(home.event);
        watchRings().catch(() => {});
    } catch (error) {
        if (error.isConnection) connect();
        // Nothing can be lost on a page that has just begun: it asks for a code.
        else if (error.status === 401 || error.status === 403) location.replace("/hearth/open");
        else banner("error", error.sentence ?? error.message);
    }
    await opened;
}

start();
