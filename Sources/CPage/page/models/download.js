// Starts downloads and asks what the server needs to know first: a metered network, a file without a digest.
import { at, post } from "../kit/api.js";
import { ask } from "../kit/dialog.js";
import { showError } from "../kit/toast.js";
import { t } from "../kit/texts.js";
import { bytes } from "../kit/format.js";
import { replies, rowChanged } from "../data/library.js";

// Downloads begun on this page: a refusal that comes later as a failed row is asked about too.
const begun = new Map();

/// Questions by the code of the refusal: the option that a yes adds to the next attempt.
const questions = {
    "metered-network": { option: { metered: "allow" }, key: "metered" },
    "digest-missing": { option: { unverified: true }, key: "unverified", isDangerous: true },
};

/// Starts, continues or repeats the download of a row; also its update.
export async function download(row, options = {}) {
    begun.set(row.id, options);
    const take = replies();
    try {
        const reply = await post(at("models", row.id, "download"), options);
        take(reply.row);
    } catch (error) {
        if (!(await askAbout(row, error.code, error.sentence ?? error.message, options))) showRefusal(row, error);
    }
}

function showRefusal(row, error) {
    begun.delete(row.id);
    if (!questions[error.code]) showError(error);
}

/// Asks about a refusal that a yes can lift. Returns whether it was such a refusal.
async function askAbout(row, code, reason, options) {
    const question = questions[code];
    if (!question || Object.keys(question.option).some((name) => name in options)) return false;
    begun.delete(row.id);
    const isYes = await ask({
        title: t(`ask.${question.key}.title`),
        text: t(`ask.${question.key}.text`, { name: row.name, size: bytes(row.sizeBytes), reason }),
        yes: t(`ask.${question.key}.yes`),
        isDangerous: question.isDangerous,
    });
    if (isYes) download(row, { ...options, ...question.option });
    return true;
}

rowChanged.on((row) => {
    const options = begun.get(row.id);
    if (!options) return;
    if (row.state === "failed") askAbout(row, row.code, row.detail, options).then((isAsked) => { if (!isAsked) begun.delete(row.id); });
    else if (row.state === "downloaded") begun.delete(row.id);
});

/// Stops a download and discards its bytes.
export const cancel = (row) => change(row, "cancel");

/// Stops a download and keeps its bytes.
export const pause = (row) => change(row, "pause");

/// Makes a row the model of its role, remembered and loaded.
export const select = (row, role) => change(row, "select", role ? { as: role } : {});

/// Calls an action of a row and takes the row of its reply.
export async function change(row, action, body = {}) {
    const take = replies();
    try {
        const reply = await post(at("models", row.id, action), body);
        take(reply.row);
        return reply;
    } catch (error) {
        showError(error);
        return null;
    }
}
