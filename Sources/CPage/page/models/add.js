// The dialog that adds a model: a repository of the Hub, a list of models, or the address of a file.
import { post } from "../kit/api.js";
import { formDialog } from "../kit/dialog.js";
import { t } from "../kit/texts.js";
import { toast } from "../kit/toast.js";
import { replies } from "../data/library.js";
import { download } from "./download.js";
import { chooseFile } from "./upload.js";

/// Opens the dialog. What was added becomes a row, and is downloaded unless the person wants that later.
export function addModel() {
    const dialog = formDialog({
        title: t("add.title"),
        fields: [
            { name: "reference", label: t("add.reference"), type: "text", required: true, hint: t("add.reference.hint"), placeholder: "hf:org/model" },
            { name: "sha256", label: t("add.digest"), type: "text", hint: t("add.digest.hint") },
            { name: "name", label: t("add.name"), type: "text", hint: t("add.name.hint") },
            { name: "now", label: t("add.now"), type: "boolean", value: true },
        ],
        saveText: t("add.save"), extra: chooseFile("", () => dialog.close()),
        save: async ({ reference, sha256, name, now }) => {
            const take = replies();
            const reply = await post("/models/add", { reference, ...(sha256 && { sha256 }), ...(name && { name }) });
            for (const row of reply.rows) take(row);
            const [first] = reply.rows;
            if (first && now) return void download(first);
            if (first) toast(t("add.done", { n: reply.rows.length, name: first.name }), {
                action: t("download.model"), run: () => download(first),
            });
            return undefined;
        },
    });
}
