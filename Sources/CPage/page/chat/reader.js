// Reads answers to screen readers while they grow.
import { announce } from "../kit/toast.js";
import { t } from "../kit/texts.js";

/// Reads a growing answer to screen readers in whole sentences, at most one report every three seconds.
export function reader() {
    let spoken = 0;
    let due = 0;
    return {
        hear(content, isFinal) {
            if (spoken > content.length) spoken = 0;
            const fresh = content.slice(spoken);
            const end = isFinal ? fresh.length : lastSentence(fresh);
            if (end === 0 || (!isFinal && performance.now() < due)) return;
            spoken += end;
            due = performance.now() + 3000;
            announce(plain(fresh.slice(0, end)));
        },
    };
}

const plain = (markdown) => markdown.replace(/```[\s\S]*?(```|$)/g, ` ${t("chat.code")} `).replace(/[*_`#>|]/g, "").trim();

function lastSentence(content) {
    const ends = [...content.matchAll(/[.!?。！？]["”)]?\s|\n/g)];
    const last = ends.at(-1);
    return last ? last.index + last[0].length : 0;
}
