// Shortcuts of the keyboard. They rest while a person types, and can be switched off.
import { t, withWords } from "./texts.js";

const key = "hearth-shortcuts";
export const areOn = () => localStorage.getItem(key) !== "off";
export const switchShortcuts = (isOn) => (isOn ? localStorage.removeItem(key) : localStorage.setItem(key, "off"));

const listKey = "hearth-list";
const toggleList = () => {
    const isHidden = document.body.classList.toggle("without-list");
    if (isHidden) localStorage.setItem(listKey, "hidden"); else localStorage.removeItem(listKey);
};

const go = (hash) => () => { location.hash = hash; };
/// Calls `find` until the element of another screen is drawn, for at most a second.
function focusOn(find, tries = 20) {
    const element = find();
    if (element) element.focus();
    else if (tries > 0) setTimeout(() => focusOn(find, tries - 1), 50);
}
const isShown = (element) => element?.checkVisibility?.() ?? Boolean(element?.offsetParent);

function search() {
    const find = () => [...document.querySelectorAll("#rail input[type=search], main input[type=search]")].find(isShown);
    document.body.classList.remove("without-list");
    if (!find()) location.hash = "#/chats";
    focusOn(find);
}

function question() {
    const find = () => document.querySelector("main.screen-chat .composer textarea");
    if (!find()) location.hash = "#/chat";
    focusOn(find);
}

/// The shortcuts in the order of the sheet: the key, the key of its text, and what it does.
export const shortcuts = [
    ["?", "shortcuts.sheet", () => withWords(import("./shortcut-sheet.js"), "forms").then(({ openSheet }) => openSheet())],
    ["n", "shortcuts.new", go("#/chat")],
    ["q", "shortcuts.question", question],
    ["/", "shortcuts.search", search],
    ["l", "shortcuts.list", toggleList],
    ["c", "shortcuts.chats", go("#/chats")],
    ["m", "shortcuts.models", go("#/models")],
    ["r", "shortcuts.records", go("#/stores")],
    ["s", "shortcuts.settings", go("#/settings")],
];

const isTyping = (target) => target instanceof Element && target.closest("input:not([type=checkbox], [type=radio], [type=button], [type=range]), textarea, select, [contenteditable]");

/// Listens to the keyboard.
export function listen() {
    if (localStorage.getItem(listKey)) document.body.classList.add("without-list");
    addEventListener("keydown", (event) => {
        if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.defaultPrevented || isTyping(event.target)) return;
        const found = shortcuts.find(([name]) => name === event.key);
        const isSheet = found?.[0] === "?";
        if (!found || !(areOn() || isSheet) || document.querySelector("dialog[open]")) return;
        event.preventDefault();
        found[2]();
    });
}

/// The words of a shortcut.
export const wordsOf = ([, name]) => t(name);
