// A growing text as elements, and read to screen readers. Only the last, open block is parsed again; the blocks before it never change.
import { h, onFrame } from "../kit/dom.js";
import { visible } from "../kit/safe.js";
import { t } from "../kit/texts.js";
import { announce } from "../kit/toast.js";

// A program that was built without the libraries displays the words of an answer as they are.
const { blocksOf, render } = await import("./markdown.js").catch(() => ({}));

/// An open block longer than this is displayed as plain text until it ends: a hostile line of a megabyte costs nothing.
const longBlock = 40_000;

/// The most blocks that are drawn before one frame.
const mostBlocks = 100;

/// The text as the lexer reads it, so that the lengths of its blocks add up: line ends, tabs at the beginning of a line.
const normal = (text) => visible(text).replace(/\r\n?/g, "\n").replace(/^( *)(\t+)/gm, (_, blanks, tabs) => blanks + "    ".repeat(tabs.length));

/// The view of a text: `{ node, show(content, isFinal) }`.
export function answerView() {
    const node = h("div.prose");
    let source = "";
    let content = "";
    let isFinal = false;
    // The text of the finished blocks, and the nodes of the open one.
    let closed = "";
    let open = [];

    function draw() {
        content = normal(source);
        if (!content.startsWith(closed)) {
            closed = "";
            open = [];
            node.replaceChildren();
        }
        const rest = content.slice(closed.length);
        if (!blocksOf || (rest.length > longBlock && rest.lastIndexOf("\n\n") < 0)) return drawPlain(rest);
        const blocks = blocksOf(rest, !isFinal);
        const finishedCount = isFinal ? blocks.length : Math.max(0, blocks.findLastIndex((block) => block.type !== "space"));
        const last = Math.min(finishedCount, mostBlocks);
        if (last > 0) {
            const end = content.length - lengthOf(blocks.slice(last));
            const finished = content.slice(closed.length, end);
            // In a finished block a formula without its end is text.
            replaceOpen(renderAll(!isFinal && /\$\$|\\[([]/.test(finished) ? blocksOf(finished) : blocks.slice(0, last)));
            open = [];
            closed = content.slice(0, end);
        }
        if (last < finishedCount) return drawSoon();
        const tail = blocks.slice(last);
        if (!appendToCode(tail)) replaceOpen(tail.length > 0 ? render(tail, { isFinal }) : new DocumentFragment());
        return undefined;
    }

    // A finished block of extreme length stays plain text: its marks are not worth the frames that they cost.
    function renderAll(blocks) {
        const fragment = new DocumentFragment();
        for (const block of blocks) {
            if (block.raw.length > longBlock && block.type !== "code") fragment.append(h("p.plain-block", { dir: "auto" }, block.raw));
            else fragment.append(render([block], { isFinal: true }));
        }
        return fragment;
    }

    function replaceOpen(fragment) {
        const nodes = [...fragment.childNodes];
        for (const old of open) old.remove();
        node.append(fragment);
        open = nodes;
    }

    // Open code grows without being built anew, so that its scroll position and a selection stay.
    function appendToCode(tail) {
        const [block] = tail;
        if (isFinal || tail.length !== 1 || block.type !== "code" || open.length !== 1) return false;
        const code = open[0].querySelector?.(":scope > pre > code");
        if (!code || code.className.replace("language-", "") !== (block.lang ?? "").split(/\s/)[0]) return false;
        const before = code.firstChild?.data ?? "";
        if (!block.text.startsWith(before) || code.childNodes.length > 1) return false;
        if (code.firstChild) code.firstChild.appendData(block.text.slice(before.length));
        else code.append(block.text);
        return true;
    }

    function drawPlain(rest) {
        if (open.length !== 1 || !open[0].classList?.contains("plain-block")) {
            const fragment = new DocumentFragment();
            fragment.append(h("p.plain-block", { dir: "auto" }, document.createTextNode("")));
            replaceOpen(fragment);
        }
        const text = open[0].lastChild;
        if (rest.startsWith(text.data)) text.appendData(rest.slice(text.length));
        else text.data = rest;
    }

    const drawSoon = onFrame(draw);
    return {
        node,
        /// Shows the text before the next frame; a complete text that is new is drawn at once.
        show(text, isEnd) {
            if (text === source && isEnd === isFinal) return;
            const isWhole = source === "" && isEnd;
            source = text;
            isFinal = isEnd;
            if (isWhole) draw(); else drawSoon();
        },
    };
}

const lengthOf = (blocks) => blocks.reduce((sum, block) => sum + block.raw.length, 0);

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
