// A button with a small list of commands.
import { h, fill } from "./dom.js";
import { icon } from "./icons.js";

let count = 0;

/// A button that opens a small list of commands: `[{ label, icon, run, isDangerous }]`.
/// `word` is shown beside the symbol.
export function menuButton(label, entries, symbol = "more", word = null) {
    const id = `menu-${++count}`;
    const list = h("div.menu", { id, popover: "auto", role: "menu", "aria-label": label });
    const button = word ? h("button.small", { type: "button", "aria-haspopup": "menu" }, icon(symbol), word)
        : h("button.icon-button", { type: "button", "aria-label": label, title: label, "aria-haspopup": "menu" }, icon(symbol));
    button.addEventListener("click", () => {
        fill(list, (typeof entries === "function" ? entries() : entries).filter(Boolean).map((entry) =>
            h("button", {
                type: "button", role: "menuitem", class: entry.isDangerous ? "danger" : "",
                onclick: () => { list.hidePopover(); entry.run(button); },
            }, entry.icon && icon(entry.icon), entry.label)));
        list.togglePopover();
        const box = button.getBoundingClientRect();
        const size = list.getBoundingClientRect();
        list.style.insetBlockStart = `${Math.max(8, Math.min(box.bottom + 4, innerHeight - size.height - 8))}px`;
        list.style.left = `${Math.max(8, Math.min(box.right - size.width, innerWidth - size.width - 8))}px`;
        list.querySelector("button")?.focus();
    });
    list.addEventListener("keydown", (event) => {
        const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
        if (!step) return;
        event.preventDefault();
        const all = [...list.children];
        all.at((all.indexOf(document.activeElement) + step) % all.length)?.focus();
    });
    list.addEventListener("toggle", (event) => { if (event.newState === "closed" && list.contains(document.activeElement)) button.focus(); });
    return h("span.menu-holder", button, list);
}
