// Markdown of models to safe elements: `marked` makes HTML from the words, DOMPurify builds the elements and removes
// what is not on the list, and the result is completed here. Nothing in it can load, run or cover anything.
import { Parser, Renderer } from "/page/lib/marked.js";
import { copyText } from "../kit/clipboard.js";
import { h } from "../kit/dom.js";
import { icon } from "../kit/icons.js";
import { isLocalImage, namesAddress, outside, shownAddress, visible } from "../kit/safe.js";
import { t } from "../kit/texts.js";
import { showError } from "../kit/toast.js";
import { formulas } from "./formula.js";
import { BoundedLexer } from "./lexer.js";
import { sanitise } from "./sanitise.js";

const escaped = (text) => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);

/// HTML of models is displayed as the text that it is. Headings begin below those of the page.
const renderer = new class extends Renderer {
    html(html) { return /^<br\s*\/?>$/i.test(html.trim()) ? "<br>" : escaped(html); }
    heading(text, level) {
        const tag = `h${Math.min(6, level + 2)}`;
        return `<${tag}>${text}</${tag}>\n`;
    }
    code(code, language) {
        const name = /^[\w+#.-]{1,24}/.exec(language ?? "")?.[0] ?? "";
        return `<pre><code class="language-${escaped(name)}">${escaped(code.replace(/\n$/, ""))}</code></pre>`;
    }
    checkbox(isChecked) { return isChecked ? "☑ " : "☐ "; }
    image(address, title, text) {
        if (isLocalImage(address)) return `<img src="${escaped(address)}" alt="${escaped(text ?? "")}">`;
        return this.link(address, title, t("chat.image", { name: text || "" }));
    }
    link(address, title, text) {
        return outside(address) ? `<a href="${escaped(address)}">${text}</a>` : `${text} <code>${escaped(address)}</code>`;
    }
}();
const formulaCode = ({ source, isUnfinished }) => `<code class="${isUnfinished ? "formula-open" : "formula"}">${escaped(source)}</code>`;
const options = {
    gfm: true, breaks: true, mangle: false, headerIds: false, renderer,
    extensions: {
        ...formulas,
        renderers: { formula: (token) => (token.isAlone ? `<p>${formulaCode(token)}${escaped(token.end)}</p>\n` : formulaCode(token)) },
    },
};

const rules = {
    tags: [
        "p", "br", "strong", "em", "del", "code", "pre", "ul", "ol", "li", "blockquote", "h3", "h4", "h5", "h6",
        "table", "thead", "tbody", "tr", "th", "td", "hr", "a", "img",
    ],
    attributes: ["href", "src", "alt", "class", "start", "align"],
    addresses: /^(?:https?:|mailto:)/i,
};

/// The blocks of a text. If it `isOpen`, more text may follow: a formula without its end is kept as it is.
export const blocksOf = (text, isOpen = false) => new BoundedLexer({ ...options, isOpen }).lex(text);

/// Builds the elements of blocks.
export function render(blocks, { isFinal }) {
    const fragment = sanitise(Parser.parse(blocks, options), rules);
    for (const link of fragment.querySelectorAll("a")) completeLink(link);
    for (const image of fragment.querySelectorAll("img")) {
        if (!isLocalImage(image.getAttribute("src") ?? "")) image.replaceWith(image.alt);
    }
    for (const code of fragment.querySelectorAll("pre > code")) completeCode(code, isFinal);
    for (const code of fragment.querySelectorAll("code.formula")) code.replaceWith(formulaNode(code.textContent));
    for (const code of fragment.querySelectorAll("code.formula-open")) code.replaceWith(h("span.formula", code.textContent));
    // An attribute of presentation would lose against the style of the page.
    for (const cell of fragment.querySelectorAll("[align]")) {
        cell.classList.add(`align-${cell.align}`);
        cell.removeAttribute("align");
    }
    for (const table of fragment.querySelectorAll("table")) {
        const box = h("div.table", { tabindex: 0, role: "region", "aria-label": t("chat.table") });
        table.replaceWith(box);
        box.append(table);
    }
    for (const block of fragment.children) block.dir = "auto";
    return fragment;
}

/// The element of a formula: its source until it is drawn, by code that comes with the first one.
function formulaNode(source) {
    const isBlock = source.startsWith("$$") || source.startsWith("\\[");
    const node = h("span.formula", { class: isBlock ? "block" : "", dir: "ltr", translate: "no" }, source);
    node.dataset.source = source;
    import("./math.js").then(({ drawWhenSeen }) => drawWhenSeen(node, source, isBlock), () => {});
    return node;
}

// The real address stands beside a text that is another, so that no link pretends to be one.
function completeLink(link) {
    const url = outside(link.getAttribute("href") ?? "");
    if (!url) return link.replaceWith(...link.childNodes);
    link.href = url.href;
    link.rel = "noopener noreferrer nofollow";
    link.target = "_blank";
    link.title = visible(url.href);
    if (!namesAddress(link.textContent.trim(), url)) {
        link.after(h("span.link-address", { dir: "ltr" }, ` (${shownAddress(url)})`));
    }
    return undefined;
}

function completeCode(code, isFinal) {
    const language = code.className.replace(/^language-/, "");
    code.dir = "ltr";
    const pre = code.parentElement;
    pre.tabIndex = 0;
    const copy = h("button.small.quiet", {
        type: "button", onclick: () => copyText(code.textContent).then(() => {
            copy.lastChild.textContent = t("copied");
            setTimeout(() => { copy.lastChild.textContent = t("copy"); }, 1500);
        }, showError),
    }, icon("copy"), t("copy"));
    const box = h("div.code-block", h("div.code-head", h("span", language || t("chat.code.plain")), copy));
    pre.replaceWith(box);
    box.append(pre);
    if (isFinal && language) import("./code.js").then(({ colourWhenSeen }) => colourWhenSeen(code, language), () => {});
}
