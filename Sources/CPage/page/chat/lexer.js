// The lexer of Markdown with formulas and with bounds: some texts would cost `marked` seconds, or its stack.
import { Lexer } from "/page/lib/marked.js";
import { skipping } from "./formula.js";

/// The deepest nesting of quotations and lists; what lies deeper is text.
const deepest = 16;
/// The most marks in one run of words: each is compared with those before it, so the cost is quadratic.
const most = { emphasis: 300, brackets: 300, all: 2000 };
/// The most marks of emphasis in all runs.
const mostEmphasis = 6000;
/// The most fences of code and formulas: each makes a box.
const mostFences = 200;
const fence = /^ {0,3}(?:`{3}|~{3}|\$\$|\\\[)/gm;
/// Lines of these signs cost as much as marks do.
const heavyLine = /^[ \t]*(?:~{200,}|`{200,}|(?:[^|\n]*\|){200,})/m;

function marksOf(text) {
    const counts = { emphasis: 0, brackets: 0, all: 0 };
    for (const [mark] of text.matchAll(/[*_~[`<$\\&:@]/g)) {
        counts.all += 1;
        if (mark === "*" || mark === "_" || mark === "~") counts.emphasis += 1;
        else if (mark === "[") counts.brackets += 1;
    }
    return counts;
}

const isHeavy = (text) => heavyLine.test(text) || (text.match(fence)?.length ?? 0) > mostFences;

export class BoundedLexer extends Lexer {
    #depth = 0;
    #emphasis = 0;

    constructor(...rest) {
        super(...rest);
        // Behind `<script>` or `<pre>` in a line `marked` would pass on texts as HTML.
        Object.defineProperty(this.state, "inRawBlock", { get: () => false, set() {} });
        const { inline } = this.tokenizer.rules;
        this.tokenizer.rules.inline = { ...inline, blockSkip: skipping(inline.blockSkip) };
    }

    blockTokens(text, tokens = []) {
        if (this.#depth >= deepest || (this.#depth === 0 && isHeavy(text))) {
            tokens.push({ type: "text", raw: text, text, tokens: [plain(text)] });
            return tokens;
        }
        this.#depth += 1;
        try {
            return super.blockTokens(text, tokens);
        } finally {
            this.#depth -= 1;
        }
    }

    inlineTokens(text, tokens = []) {
        const counts = marksOf(text);
        this.#emphasis += counts.emphasis;
        const isTooMuch = this.#emphasis > mostEmphasis || Object.keys(most).some((name) => counts[name] > most[name]);
        if (!isTooMuch) return super.inlineTokens(text, tokens);
        tokens.push(plain(text));
        return tokens;
    }
}

const plain = (text) => ({ type: "text", raw: text, text: text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`) });
