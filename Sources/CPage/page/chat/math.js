// Draws formulas as MathML by KaTeX, which is loaded when the first formula is near the screen. A formula that cannot be
// drawn stays the source that was written.
import { h, set } from "../kit/dom.js";
import { library } from "../kit/library.js";
import { t } from "../kit/texts.js";
import { longFormula } from "./formula.js";

// Definitions can double an expansion past every limit; the others set attributes, load or lead away.
const refused = /\\(?:[egx]?def|let|futurelet|global|long|(?:re)?newcommand|providecommand|@|html|href|url|includegraphics|char(?![a-z])|cssId)/;
/// The deepest nesting of groups in a source, and of elements in the drawn formula.
const deepest = { groups: 100, elements: 500 };
/// The most elements of a drawn formula.
const mostElements = 6000;

const nests = /\\(begin|left|begingroup|end|right|endgroup)(?![a-z])|\\[^]|[{}]/gi;

function depthOf(tex) {
    let depth = 0;
    let most = 0;
    for (const [mark, name] of tex.matchAll(nests)) {
        if (mark === "{" || /^(?:begin|left|begingroup)$/.test(name)) most = Math.max(most, depth += 1);
        else if (mark === "}" || name) depth -= 1;
    }
    return most;
}

/// Whether a source is drawn at all.
export const isDrawn = (tex) => tex.length <= longFormula && !refused.test(tex) && depthOf(tex) <= deepest.groups;

/// The element `math` of a source; throws for one that cannot be drawn.
function build(katex, tex, isBlock) {
    const tree = katex.__renderToDomTree(tex, {
        output: "mathml", displayMode: isBlock, throwOnError: true, trust: false, strict: "ignore", maxSize: 20, maxExpand: 500, macros: {},
    });
    const math = find(tree, "math");
    let left = mostElements;
    const clean = (node, depth) => {
        left -= 1;
        if (left < 0 || depth > deepest.elements) throw new RangeError("the formula is too large");
        for (const name of ["style", "href", "src"]) delete node.attributes?.[name];
        for (const child of node.children ?? []) clean(child, depth + 1);
    };
    clean(math, 0);
    return math.toNode();
}

const find = (node, type) => (node.type === type ? node : (node.children ?? []).map((child) => find(child, type)).find(Boolean));

const waiting = new WeakMap();
const near = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
        if (!isIntersecting) continue;
        near.unobserve(target);
        draw(target, waiting.get(target));
    }
}, { rootMargin: "200%", scrollMargin: "200%" });

async function draw(node, { tex, isBlock }) {
    try {
        node.replaceChildren(build(await library("katex.js"), tex, isBlock));
        node.classList.add("drawn");
        keepInside(node);
    } catch {
        // The source stays.
    }
}

// A formula that is wider than its line scrolls in a box of its own.
function keepInside(node) {
    const room = node.parentElement?.clientWidth ?? 0;
    const width = node.classList.contains("block") ? node.scrollWidth : node.firstChild.getBoundingClientRect().width;
    if (room === 0 || width <= room) return;
    node.classList.add("wide");
    set(node, { tabindex: 0, role: "group", "aria-label": t("chat.formula") });
}

/// Draws a formula in the element of its source, once it is near the screen.
export function drawWhenSeen(node, source, isBlock) {
    const length = source.startsWith("$") && !source.startsWith("$$") ? 1 : 2;
    const tex = source.slice(length, -length);
    if (isDrawn(tex)) {
        waiting.set(node, { tex, isBlock });
        near.observe(node);
    }
    listen();
}

let isListening = false;

/// Copies the sources of formulas, whole ones even where the selection begins or ends in one.
function listen() {
    if (isListening) return;
    isListening = true;
    document.addEventListener("copy", (event) => {
        const selection = getSelection();
        if (selection.rangeCount === 0 || selection.isCollapsed) return;
        const range = selection.getRangeAt(0).cloneRange();
        const formulaOf = (node) => (node.nodeType === Node.ELEMENT_NODE ? node : node.parentElement)?.closest(".formula");
        const [first, last] = [formulaOf(range.startContainer), formulaOf(range.endContainer)];
        if (first) range.setStartBefore(first);
        if (last) range.setEndAfter(last);
        const copy = h("div.sr", { "aria-hidden": "true" }, range.cloneContents());
        const found = copy.querySelectorAll(".formula");
        if (found.length === 0) return;
        for (const formula of found) formula.replaceWith(h("span.formula", formula.dataset.source));
        // Only a shown element knows its line breaks.
        document.body.append(copy);
        event.clipboardData.setData("text/plain", copy.innerText);
        copy.remove();
        event.preventDefault();
    });
}
