// Reading aloud by the voices of this device. Voices that send the text to a service are not used.
import { h, fill, set, signal } from "../kit/dom.js";
import { icon } from "../kit/icons.js";
import { language, t } from "../kit/texts.js";

const synthesis = globalThis.speechSynthesis;
const changed = signal();
// The button whose text is being read.
let current = null;

const voices = () => (synthesis?.getVoices() ?? []).filter((voice) => voice.localService);

synthesis?.addEventListener?.("voiceschanged", () => changed.emit());
addEventListener("hashchange", stop);
addEventListener("pagehide", stop);

/// Stops reading.
export function stop() {
    if (!current) return;
    current = null;
    synthesis.cancel();
    changed.emit();
}

/// A button that reads a text, and stops. It is hidden while this device has no voice.
export function speechButton(content) {
    const button = h("button.icon-button.small", {
        type: "button", onclick: () => {
            const isMine = current === button;
            stop();
            if (!isMine) read(button, content());
        },
    });
    const draw = () => {
        const label = t(current === button ? "speech.stop" : "speech.read");
        set(button, { hidden: voices().length === 0, "aria-label": label, title: label });
        fill(button, icon(current === button ? "stop" : "speak"));
    };
    // The list of listeners keeps no button that has left the page.
    const end = changed.on(() => {
        if (button.isConnected) draw();
        else { end(); if (current === button) stop(); }
    });
    draw();
    return button;
}

function read(button, content) {
    const text = spoken(content);
    const tag = languageOf(text);
    const voice = voices().find(({ lang }) => lang.toLowerCase().startsWith(tag)) ?? voices().find(({ default: isDefault }) => isDefault) ?? voices()[0];
    const parts = partsOf(text);
    if (!voice || parts.length === 0) return;
    current = button;
    changed.emit();
    const next = () => {
        if (current !== button || !button.isConnected) return stop();
        const part = parts.shift();
        if (part === undefined) return stop();
        const words = new SpeechSynthesisUtterance(part);
        Object.assign(words, { voice, lang: voice.lang, onend: next, onerror: () => { if (current === button) stop(); } });
        synthesis.speak(words);
        return undefined;
    };
    next();
}

/// The words of Markdown that are read: without code, formulas, addresses and marks.
export function spoken(markdown) {
    return markdown
        .replace(/^( *)(`{3,}|~{3,})[\s\S]*?(?:^ *\2.*$|(?![\s\S]))/gm, "\n")
        .replace(/\$\$[\s\S]*?\$\$|\\\[[\s\S]*?\\\]|\\\([\s\S]*?\\\)/g, " ")
        .replace(/\$(?=\S)[^$\n]*[\\^_={}][^$\n]*\$/g, " ")
        .replace(/!\[([^\]]*)\]\([^)]*\)/g, "$1")
        .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
        .replace(/https?:\/\/\S+/g, " ")
        .replace(/<[^>\n]{1,200}>/g, " ")
        .replace(/^\s*\|?[\s:|-]+\|[\s:|-]*$/gm, "")
        .replace(/^ {0,3}(?:#{1,6}|>+|[-*+]|\d+[.)])\s+/gm, "")
        .replace(/\|/g, ", ")
        .replace(/[*_`~]+/g, "")
        .replace(/[ \t]+/g, " ")
        .replace(/\s*\n\s*/g, "\n")
        .trim();
}

// Browsers break off long texts: sentences of at most 220 characters are read one after the other.
function partsOf(text) {
    const sentences = text.match(/[^.!?。！？\n]+[.!?。！？]*\s*|[.!?]+\s*/g) ?? [];
    const parts = [];
    for (const sentence of sentences.flatMap((one) => one.match(/[\s\S]{1,220}(?:\s|$)|[\s\S]{1,220}/g) ?? [])) {
        const last = parts.at(-1);
        if (last !== undefined && last.length + sentence.length <= 220) parts[parts.length - 1] = last + sentence;
        else parts.push(sentence);
    }
    return parts.map((part) => part.trim()).filter((part) => /[\p{L}\p{N}]/u.test(part));
}

const scripts = [
    ["ja", /[\p{Script=Hiragana}\p{Script=Katakana}]/gu], ["zh", /\p{Script=Han}/gu], ["ko", /\p{Script=Hangul}/gu], ["ru", /\p{Script=Cyrillic}/gu],
    ["ar", /\p{Script=Arabic}/gu], ["he", /\p{Script=Hebrew}/gu], ["el", /\p{Script=Greek}/gu], ["hi", /\p{Script=Devanagari}/gu], ["th", /\p{Script=Thai}/gu],
];
const words = {
    de: /\b(?:der|die|das|und|ist|nicht|ein|eine|mit|auf|für|sie|ich|zu|von|wird|auch)\b/giu,
    en: /\b(?:the|and|is|of|to|in|that|it|for|with|you|are|this|not|be|can)\b/giu,
    fr: /\b(?:le|la|les|et|est|des|une|que|pour|dans|vous|pas|avec)\b/giu,
    es: /\b(?:el|los|las|que|una|para|por|con|del|como|pero|está)\b/giu,
};

/// The language of a text; that of the page if nothing tells.
export function languageOf(text) {
    const sample = text.slice(0, 2000);
    const count = (pattern) => sample.match(pattern)?.length ?? 0;
    const letters = count(/\p{L}/gu);
    const script = scripts.find(([, pattern]) => count(pattern) > letters * 0.3);
    if (script) return script[0];
    const [best] = Object.entries(words).map(([tag, pattern]) => [tag, count(pattern)]).sort((a, b) => b[1] - a[1]);
    return best[1] >= 2 ? best[0] : language;
}
