// The dialog of one model: releases, rollback, pin, what is held back, verify, roles, remove.
import { h, fill, text } from "../kit/dom.js";
import { at, get, post, remove } from "../kit/api.js";
import { ask, openDialog } from "../kit/dialog.js";
import { bytes } from "../kit/format.js";
import { language, t } from "../kit/texts.js";
import { perform, showError, toast } from "../kit/toast.js";
import { rowChanged, rows } from "../data/library.js";
import { memoryText, sizeText, updateLabel } from "./card.js";
import { change, download, select } from "./download.js";
import { summaryOf } from "./summary.js";

const name = (release) => [release.version, release.variant].filter(Boolean).join(" ");

/// The release in use.
const installed = (row) => ({ version: row.installed ?? row.version, variant: row.installedVariant });

/// Opens the dialog of a row and keeps it equal to the row.
export function manage(row) {
    const body = h("div.manage");
    // What was read of the model, and what a verification has found; both outlive a change of the row.
    let details = {};
    const result = h("p.hint", { role: "status" });
    const draw = () => fill(body, parts(rows.get(row.id) ?? row, details, result, () => dialog.close()));
    // Progress comes ten times a second; only what the dialog displays may cost the focus of its buttons.
    const keyOf = ({ progress, download, receivedBytes, ...rest }) => JSON.stringify(rest);
    let drawn = keyOf(row);
    const end = rowChanged.on((next) => {
        if (next.id !== row.id || keyOf(next) === drawn) return;
        drawn = keyOf(next);
        draw();
    });
    const dialog = openDialog({ title: row.name, body, kind: "wide", onclose: end });
    draw();
    get(at("models", row.id)).then((reply) => {
        details = reply;
        draw();
    }, () => {});
}

function parts(row, { releases = [], license, notes, freedBytes }, result, close) {
    const isHere = row.presence !== "none";
    const { catalog } = row;
    return [
        summaryOf(row) && h("p", { dir: "auto" }, summaryOf(row)),
        h("dl.facts",
            fact("manage.version", row.installed ? name(installed(row)) : row.version === "newest" ? t("manage.newest") : row.version),
            fact("manage.format", row.format?.toUpperCase()),
            fact("manage.size", row.sizeBytes > 0 && sizeText(row)),
            fact("manage.memory", row.memoryBytes > 0 && memoryText(row)),
            fact("manage.app-version", row.minAppVersion && t("manage.app-version.from", { version: row.minAppVersion })),
            fact("manage.license", license ?? catalog?.license ?? t("manage.license.none")),
            fact("manage.parameters", catalog && catalog.parameters.toLocaleString(language, { notation: "compact" })),
            fact("manage.tools", catalog && t(`manage.tools.${catalog.tools}`)),
            fact("manage.source", catalog?.repository ?? row.reference),
            fact("manage.checked", t(row.isVerified ? "manage.checked.yes" : "manage.checked.no"))),
        notes && h("section", h("h3", t("manage.notes")), h("p.notes-text", { dir: "auto" }, notes)),
        row.state === "incompatible" && h("p.note.warning", row.detail),
        row.isUsable && h("section", h("h3", t("manage.use")), h("div.buttons", roleButtons(row, close))),
        isHere && h("section", h("h3", t("manage.releases")), h("div.buttons", releaseButtons(row)),
            row.pinned && h("p.hint", t("manage.pinned", { version: row.pinned })),
            releases.length > 1 && h("ul.plain", releases.map((release) => h("li",
                name(release), release.active && h("span.badge.active", t("badge.active")),
                h("span.muted", ` ${bytes(release.sizeBytes)}`))))),
        row.heldBack?.length > 0 && h("section", h("h3", t("manage.held-back")), h("ul.plain", row.heldBack.map((held) =>
            h("li", h("strong", name(held)), ": ", held.reason)))),
        h("section", h("h3", t("manage.files")), h("div.buttons", fileButtons(row, freedBytes, result, isHere, close))),
    ];
}

const fact = (key, value) => value ? [h("dt", t(key)), h("dd", { dir: "auto" }, value)] : [];

function button(label, run, classes = "") {
    const made = h("button", { type: "button", class: classes, onclick: () => perform(made, run) }, label);
    return made;
}

function roleButtons(row, close) {
    if (row.role === "classifier") return h("a.button.primary", { href: "#/read", onclick: close }, t("manage.as-reader"));
    const canSee = row.badges.includes("vision") || row.role === "vision";
    return [
        row.role !== "vision" && (row.isDefault
            ? h("p.hint", t("manage.is-text"))
            : button(t("manage.as-text"), () => select(row, "text"), "primary")),
        canSee && (row.isDefaultVision
            ? h("p.hint", t("manage.is-vision"))
            : button(t("manage.as-vision"), () => select(row, "vision"))),
    ];
}

function releaseButtons(row) {
    return [
        row.update && button(updateLabel(row), () => download(row), "primary"),
        row.rollback && button(t("manage.rollback", { version: row.rollback }), async () => {
            const isSure = await ask({
                title: t("manage.rollback.title", { name: row.name }),
                text: t("manage.rollback.text", { from: name(installed(row)), to: row.rollback }),
                yes: t("manage.rollback.yes"),
            });
            if (isSure && await change(row, "rollback")) toast(t("manage.rollback.done", { name: row.name, version: row.rollback }));
        }),
        row.pinned
            ? button(t("manage.unpin"), () => change(row, "unpin"))
            : button(t("manage.pin", { version: row.installed ?? row.version }), () => change(row, "pin")),
    ];
}

function fileButtons(row, freedBytes, result, isHere, close) {
    if (!isHere) {
        return [
            row.state !== "incompatible" && button(t("download.model"), () => { close(); download(row); }, "primary"),
            row.isListed && button(t("manage.forget"), async () => {
                await remove(at("models", "listed", row.id));
                close();
            }),
        ];
    }
    return [
        button(t("manage.verify"), async () => {
            text(result, t("manage.verify.running"));
            try {
                const reply = await post(at("models", row.id, "verify"));
                if (reply.isIntact === undefined) text(result, t("manage.verify.begun"));
                else text(result, reply.isIntact ? t("manage.verify.good") : t("manage.verify.bad", { files: reply.damaged.join(", ") }));
            } catch (error) {
                text(result, "");
                showError(error);
            }
        }),
        row.presence !== "bundled" && button(t("manage.remove"), async () => {
            const isSure = await ask({
                title: t("manage.remove.title", { name: row.name }),
                text: t("manage.remove.text", { size: bytes(freedBytes ?? row.sizeBytes) }),
                yes: t("manage.remove.yes"), isDangerous: true,
            });
            if (!isSure) return;
            await remove(at("models", row.id));
            close();
            toast(t("manage.remove.done", { name: row.name }));
        }, "danger"),
        freedBytes > 0 && row.presence !== "bundled" && h("p.hint", t("manage.remove.frees", { size: bytes(freedBytes) })),
        result,
    ];
}
