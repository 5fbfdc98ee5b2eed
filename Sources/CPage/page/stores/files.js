// Files of records: iCalendar and vCards to import, and all records of a kind to save.
import { h } from "../kit/dom.js";
import { at, post, upload } from "../kit/api.js";
import { download } from "../kit/files.js";
import { icon } from "../kit/icons.js";
import { perform, showError, toast } from "../kit/toast.js";
import { t } from "../kit/texts.js";
import { showProblems } from "./records.js";

/// The kinds that have files for other programs.
const files = { calendar: "ics", reminders: "ics", contacts: "vcf" };
const sizeLimit = 32 * 1024 * 1024;

/// The buttons `Import` and `Export` of a kind of records; `read()` shows the records anew.
export function fileButtons(store, read) {
    const input = h("input", {
        type: "file", hidden: true, tabindex: -1, accept: ".ics,.vcf,text/calendar,text/vcard",
        onchange: () => {
            const [file] = input.files;
            if (file) perform(load, () => importFile(file, read));
            input.value = "";
        },
    });
    const load = h("button", { type: "button", title: t("stores.import.hint"), onclick: () => input.click() }, icon("import"), t("stores.import"));
    const save = h("button", { type: "button", onclick: () => perform(save, () => download(`${at("stores", store)}/export`)) }, icon("export"), t("stores.export"));
    return [files[store] && load, files[store] && input, save];
}

async function importFile(file, read) {
    if (file.size > sizeLimit) throw new Error(t("stores.import.too-large", { name: file.name, size: sizeLimit / 1024 / 1024 }));
    // The first component tells the kind; the ending of a name can be wrong.
    const head = await file.slice(0, 4096).text();
    const type = /BEGIN:VCARD/i.test(head) ? "text/vcard" : "text/calendar";
    const reply = await upload("/stores/import", new Blob([file], { type }));
    const parts = Object.entries({ calendar: reply.events, reminders: reply.reminders, contacts: reply.contacts }).filter(([, count]) => count);
    const sentence = parts.flatMap(([store, { added, changed, skipped, unreadable, other }]) => [
        t("stores.imported", { store: t(`stores.${store}`), added, changed, skipped }),
        unreadable > 0 && t("stores.imported.unreadable", { n: unreadable }),
        other.length > 0 && t("stores.imported.other", { names: other.map(({ component, count }) => `${count} ${component}`).join(", ") }),
    ]).filter(Boolean).join(" ");
    const actions = parts.map(([, { action }]) => action).filter(Boolean);
    toast(sentence, actions.length > 0 && {
        action: t("undo"),
        run: async () => {
            try {
                for (const action of actions) await post(at("actions", action, "undo"));
                toast(t("undone"));
                read();
            } catch (error) {
                showError(error);
            }
        },
    });
    read();
    const problems = parts.flatMap(([, count]) => count.problems);
    if (problems.length > 0) showProblems(problems);
}
