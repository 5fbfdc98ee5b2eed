// The transfers of every process on this device, also those of the command line.
import { h, fill } from "../kit/dom.js";
import { at, get, post } from "../kit/api.js";
import { on } from "../kit/live.js";
import { openDialog } from "../kit/dialog.js";
import { bytes, percent } from "../kit/format.js";
import { t } from "../kit/texts.js";
import { perform, showError } from "../kit/toast.js";

/// Opens the list of transfers.
export function showTransfers() {
    const body = h("div.transfers");
    const read = () => get("/transfers").then(({ transfers }) => draw(body, transfers, read), showError);
    const end = on("transfer", read);
    openDialog({ title: t("transfers.title"), body, kind: "wide", onclose: end });
    read();
}

function draw(body, transfers, read) {
    if (transfers.length === 0) return fill(body, h("p.empty", t("transfers.none")));
    const button = (transfer, action) => {
        const made = h("button.small", {
            type: "button", onclick: () => perform(made, () => post(at("transfers", transfer.key, action)).then(read)),
        }, t(`transfers.${action}`));
        return made;
    };
    return fill(body, h("ul.rows", { role: "list" }, transfers.map((transfer) => h("li.row",
        h("div.grow",
            h("p.name", { dir: "auto" }, transfer.file ?? transfer.key),
            h("p.caption", t(`transfers.state.${transfer.state}`), " · ", transfer.totalBytes
                ? `${percent(transfer.receivedBytes / transfer.totalBytes)} · ${t("download.bytes", { done: bytes(transfer.receivedBytes), total: bytes(transfer.totalBytes) })}`
                : bytes(transfer.receivedBytes), transfer.reason && ` · ${transfer.reason}`)),
        ["running", "waiting"].includes(transfer.state) && button(transfer, "pause"),
        ["paused", "interrupted", "corrupted"].includes(transfer.state) && button(transfer, "resume"),
        transfer.state !== "finished" && button(transfer, "cancel")))));
}
