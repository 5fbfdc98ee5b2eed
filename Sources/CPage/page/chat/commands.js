// The list of commands that opens when a question begins with `/`.
import { h, fill, set } from "../kit/dom.js";
import { icon } from "../kit/icons.js";
import { t } from "../kit/texts.js";

/// The commands that ask the model for one kind of action; their words follow the command.
export const actCommands = [
    ["event", "CALENDAR_ACTION", "calendar"], ["reminder", "REMINDER_ACTION", "reminders"], ["note", "NOTE_ACTION", "notes"],
    ["contact", "CONTACTS_SEARCH", "contacts"], ["habit", "HABIT_ACTION", "habits"], ["web", "WEB_SEARCH", "web"],
];

/// Splits `/note buy milk` into the tag of the action and the words; null without such a command.
export function actOf(text) {
    const [, name, words] = /^\/(\w+)\s+([\s\S]+)$/.exec(text) ?? [];
    const found = actCommands.find(([command]) => command === name);
    return found ? { act: found[1], text: words.trim() } : null;
}

/// The menu above a text field: `{ node, update, take(event) }`. `commands` is a list of `{ name, icon, run }`;
/// `done(run)` is called with what the chosen command does.
export function commandMenu(area, commands, done) {
    const node = h("ul.commands", { id: "commands", role: "listbox", "aria-label": t("commands.title"), hidden: true });
    let shown = [];
    let chosen = 0;
    const all = [
        ...actCommands.map(([name, , symbol]) => ({ name, icon: symbol, insert: `/${name} ` })),
        ...commands,
    ];
    const draw = () => {
        set(node, { hidden: shown.length === 0 });
        set(area, {
            "aria-controls": shown.length > 0 ? "commands" : null,
            "aria-activedescendant": shown.length > 0 ? `command-${shown[chosen].name}` : null,
        });
        fill(node, shown.map((command, index) => h("li", {
            id: `command-${command.name}`, role: "option", "aria-selected": String(index === chosen),
            onmousedown: (event) => { event.preventDefault(); run(command); },
        }, icon(command.icon), h("strong", `/${command.name}`), h("span.muted", t(`command.${command.name}`)))));
    };
    const run = (command) => {
        shown = [];
        draw();
        if (command.insert) {
            area.value = command.insert;
            area.dispatchEvent(new Event("input"));
            area.focus();
        } else done(command.run);
    };
    return {
        node,
        update() {
            const [, typed] = /^\/(\w*)$/.exec(area.value) ?? [];
            shown = typed === undefined ? [] : all.filter((command) => command.name.startsWith(typed.toLowerCase()));
            chosen = 0;
            draw();
        },
        take(event) {
            if (shown.length === 0 || event.isComposing) return false;
            if (event.key === "ArrowDown" || event.key === "ArrowUp") {
                chosen = (chosen + (event.key === "ArrowDown" ? 1 : shown.length - 1)) % shown.length;
                draw();
                node.children[chosen].scrollIntoView({ block: "nearest" });
            } else if (event.key === "Enter" || event.key === "Tab") run(shown[chosen]);
            else if (event.key === "Escape") { shown = []; draw(); } else return false;
            event.preventDefault();
            return true;
        },
    };
}
