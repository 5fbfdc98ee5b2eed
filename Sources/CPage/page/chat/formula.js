// Finds formulas in Markdown before its own marks are read: `$…$`, `$$…$$`, `\(…\)` and `\[…\]`. Prices and code are
// never formulas.

/// A longer source is text. It also bounds the search for the end.
export const longFormula = 2000;

const closings = { "$$": "$$", "\\[": "\\]", "\\(": "\\)" };
const blank = /\n[ \t]*\n/;
// `$5 and 10$`, `$5 a month or 10$`
const isProse = (tex) => /^\d[\d.,]*\s+[a-z]{2,}/i.test(tex) || (!tex.includes("\\") && /\b[a-z]{3,}\s+[a-z]{3,}\b/i.test(tex));

/// The formula at the beginning of a text, `{ raw, tex, isBlock }`, or null. `before` is the character in front of it. If
/// `isOpen`, more text may follow, and a formula without an end reaches to the end of the text: `{ raw, isUnfinished }`.
export function formulaAt(text, { before = "", isOpen = false } = {}) {
    const opening = text.startsWith("$$") ? "$$" : text.slice(0, 2);
    const closing = closings[opening];
    if (closing) {
        const room = text.slice(2, 2 + longFormula + closing.length);
        const end = endOf(room, closing);
        if (end > 0) {
            const tex = room.slice(0, end);
            return tex.trim() ? { raw: opening + tex + closing, tex, isBlock: opening !== "\\(" } : null;
        }
        return isOpen && end < 0 && text.length <= longFormula && !blank.test(text) ? { raw: text, isUnfinished: true } : null;
    }
    if (text[0] !== "$" || /[\w$\\]/.test(before)) return null;
    const room = text.slice(1, longFormula + 2);
    const end = endOf(room, "$");
    if (end < 1) return null;
    const tex = room.slice(0, end);
    if (/^\s|\s$|`/.test(tex) || blank.test(tex) || /[0-9A-Za-z$]/.test(room[end + 1] ?? "")) return null;
    return isProse(tex) ? null : { raw: `$${tex}$`, tex, isBlock: false };
}

// The place of the closing mark. Behind an odd number of backslashes it closes nothing.
function endOf(room, closing) {
    let end = room.indexOf(closing);
    while (end >= 0 && !isEven(room, end)) end = room.indexOf(closing, end + 1);
    return end;
}

// Whether an even number of backslashes stands in front of a place.
function isEven(text, place) {
    let count = 0;
    while (text[place - 1 - count] === "\\") count += 1;
    return count % 2 === 0;
}

/// The next place from which a formula could begin, within a bounded distance.
function nextOpening(text) {
    const near = text.slice(0, 500);
    const place = near.search(/\$|\\[([]/);
    // A cut of plain text is harmless, and keeps the search linear.
    return place < 0 && text.length > near.length ? near.length : place;
}

const lastSign = (tokens) => tokens.at(-1)?.raw.at(-1) ?? "";

/// The extension of `marked`. A formula on lines of its own is a block, because its lines may look like lists or headings.
export const formulas = {
    block: [function block(text) {
        const indent = /^ {0,3}(?=\$\$|\\\[)/.exec(text)?.[0];
        if (indent === undefined) return undefined;
        const found = formulaAt(text.slice(indent.length), { isOpen: this.lexer.options.isOpen });
        const rest = found && /^[ \t]*[.,;]?[ \t]*(?:\n|$)/.exec(text.slice(indent.length + found.raw.length));
        return rest ? { type: "formula", source: found.raw, isAlone: true, ...found, raw: indent + found.raw + rest[0], end: rest[0].trim() } : undefined;
    }],
    inline: [function inline(text, tokens) {
        const found = formulaAt(text, { before: lastSign(tokens), isOpen: this.lexer.options.isOpen });
        return found ? { type: "formula", source: found.raw, ...found } : undefined;
    }],
    startBlock: [(text) => {
        const near = text.slice(0, 4 * longFormula);
        const place = near.indexOf("\n");
        if (place < 0) return -1;
        const end = near.slice(place).search(/\n[ \t]*\n/);
        const found = /\n {0,3}(?:\$\$|\\\[)/.exec(end < 0 ? near : near.slice(0, place + end));
        return found ? found.index + 1 : -1;
    }],
    startInline: [nextOpening],
    childTokens: {},
};

/// Hides formulas, too, from the search for the ends of emphasis: an object in place of the regular expression `marked` has.
export const skipping = (pattern) => ({
    lastIndex: 0,
    exec(text) {
        pattern.lastIndex = this.lastIndex;
        const other = pattern.exec(text);
        for (let place = this.lastIndex; place < (other?.index ?? text.length);) {
            const next = nextOpening(text.slice(place));
            if (next < 0) break;
            place += next;
            const found = formulaAt(text.slice(place), { before: text[place - 1] });
            if (found && place < (other?.index ?? text.length)) {
                this.lastIndex = place + found.raw.length;
                return Object.assign([found.raw], { index: place });
            }
            place += 1;
        }
        this.lastIndex = other ? pattern.lastIndex : 0;
        return other;
    },
});
