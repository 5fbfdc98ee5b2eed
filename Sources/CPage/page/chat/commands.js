// The commands of the field for questions: their names in both languages, the list that opens with `/`, and reading them.
import { h, fill, set } from "../kit/dom.js";
import { icon } from "../kit/icons.js";
import { language, t } from "../kit/texts.js";

/// The commands with words, which need no model: records open their form, the others search.
const wordCommands = [
    ["event", "termin", "calendar"], ["reminder", "erinnerung", "reminders"], ["note", "notiz", "notes"],
    ["contact", "kontakt", "contacts"], ["habit", "gewohnheit", "habits"], ["web", "web", "web"],
];

/// The German names of all commands; a command is known by its name in either language.
const german = {
    ...Object.fromEntries(wordCommands.map(([name, other]) => [name, other])), new: "neu", private: "privat", models: "modelle",
    retry: "nochmal", rename: "umbenennen", export: "exportieren", delete: "löschen",
};

const others = { suche: "web", search: "web", wiederholen: "retry", erneut: "retry", loeschen: "delete" };

const names = new Map([
    ...Object.keys(german).map((name) => [name, name]), ...Object.entries(german).map(([name, other]) => [other, name]), ...Object.entries(others),
]);

/// The name of a command in the language of the page.
export const commandName = (name) => (language === "de" ? german[name] ?? name : name);

/// The commands whose words become the form of a record.
export const recordKinds = { event: "calendar", reminder: "reminders", note: "notes", habit: "habits" };

/// Reads a text with a command: `{ name, words, typed }`. An unknown one has no name. Null for a text without a command.
export function readCommand(text) {
    const [, typed, words = ""] = /^\/(\p{L}[\p{L}\p{N}_-]*)(?:\s+([\s\S]*))?$/u.exec(text) ?? [];
    if (typed) return { typed, name: names.get(typed.toLowerCase()) ?? null, words: words.trim(), isGerman: isGerman(typed) };
    // The words may stand before the command of a record.
    const [, before, last] = /^([^/][\s\S]*?)\s+\/(\p{L}+)$/u.exec(text) ?? [];
    const name = last && names.get(last.toLowerCase());
    return name && (recordKinds[name] || ["contact", "web"].includes(name)) ? { typed: last, name, words: before.trim(), isGerman: isGerman(last) } : null;
}

const isGerman = (typed) => Object.values(german).includes(typed.toLowerCase()) && !(typed.toLowerCase() in german);

/// The menu above a text field: `{ node, update, take(event) }`. `commands` is a list of `{ name, icon, run }`; `isOffered(name)`
/// tells whether one is offered now; `done(run)` is called with what the chosen command does.
export function commandMenu(area, commands, done, isOffered = () => true) {
    const node = h("ul.commands", { id: "commands", role: "listbox", "aria-label": t("commands.title"), hidden: true });
    let shown = [];
    let chosen = 0;
    const all = [
        ...wordCommands.map(([name, , symbol]) => ({ name, icon: symbol, insert: `/${commandName(name)} ` })),
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
        }, icon(command.icon), h("strong", `/${commandName(command.name)}`), h("span.muted", t(`command.${command.name}`)))));
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
    const fits = (name, typed) => [...names].some(([known, meant]) => meant === name && known.startsWith(typed));
    return {
        node,
        update() {
            const [, typed] = /^\/([\p{L}]*)$/u.exec(area.value) ?? [];
            shown = typed === undefined ? [] : all.filter(({ name }) => isOffered(name) && fits(name, typed.toLowerCase()));
            chosen = 0;
            draw();
        },
        take(event) {
            if (shown.length === 0 || event.isComposing) return false;
            if (event.key === "ArrowDown" || event.key === "ArrowUp") {
                chosen = (chosen + (event.key === "ArrowDown" ? 1 : shown.length - 1)) % shown.length;
                draw();
                node.children[chosen].scrollIntoView({ block: "nearest" });
            } else if (event.key === "Enter" && shown[chosen].insert && names.get(area.value.slice(1).toLowerCase()) === shown[chosen].name) {
                // The whole name was typed: it is carried out without words.
                shown = [];
                draw();
                return false;
            } else if (event.key === "Enter" || event.key === "Tab") run(shown[chosen]);
            else if (event.key === "Escape") { shown = []; draw(); } else return false;
            event.preventDefault();
            return true;
        },
    };
}
