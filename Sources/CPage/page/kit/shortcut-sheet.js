// The sheet of the shortcuts.
import { h } from "./dom.js";
import { openDialog } from "./dialog.js";
import { t } from "./texts.js";
import { areOn, shortcuts, switchShortcuts, wordsOf } from "./shortcuts.js";

const inQuestion = [["Enter", "shortcuts.send"], ["Shift+Enter", "shortcuts.line"], ["/", "shortcuts.commands"], ["Escape", "shortcuts.stop"]];
const names = { Enter: "shortcuts.key.enter", Escape: "shortcuts.key.escape", "Shift+Enter": "shortcuts.key.shift-enter" };

const rows = (list) => h("dl.keys", list.flatMap(([key, ...rest]) => [
    h("dt", h("kbd", names[key] ? t(names[key]) : key)), h("dd", wordsOf([key, ...rest])),
]));

/// Opens the sheet.
export function openSheet() {
    const isOn = h("input#shortcuts-on", { type: "checkbox", role: "switch", checked: areOn(), onchange: () => switchShortcuts(isOn.checked) });
    openDialog({
        title: t("shortcuts.title"),
        body: [
            h("div.field.switch-row", h("label", { for: "shortcuts-on" }, t("shortcuts.on")), isOn),
            h("h3", t("shortcuts.everywhere")), rows(shortcuts),
            h("h3", t("shortcuts.question-field")), rows(inQuestion),
        ],
    });
}
