// Builds elements. Every string becomes a text node, so no text of a model, a file or a person is ever parsed as HTML.
import { visible } from "./safe.js";

/// Makes an element: `h("button.primary#send", { onclick: send, disabled: true }, icon("send"), "Send")`.
/// Functions named `on…` become listeners; `true` and `false` set and remove attributes; null values are skipped.
export function h(spec, ...rest) {
    const [, tag, id, classes] = /^([a-z0-9]+)(?:#([\w-]+))?((?:\.[\w-]+)*)$/.exec(spec);
    const element = document.createElement(tag);
    if (id) element.id = id;
    if (classes) element.className = classes.slice(1).replaceAll(".", " ");
    const [first] = rest;
    const hasProps = first && typeof first === "object" && !(first instanceof Node) && !Array.isArray(first);
    if (hasProps) set(element, rest.shift());
    append(element, rest);
    return element;
}

/// Sets attributes, properties and listeners of an element.
export function set(element, props) {
    for (const [name, value] of Object.entries(props)) {
        if (value === undefined) continue;
        if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
        else if (["value", "checked", "indeterminate", "srcObject"].includes(name)) {
            // An option without the attribute has its words as its value.
            if (element.tagName === "OPTION" && name === "value") element.setAttribute(name, value);
            else if (element[name] !== value) element[name] = value;
        } else if (name === "class") element.classList.add(...String(value).split(" ").filter(Boolean));
        else if (value === null || value === false) element.removeAttribute(name);
        else {
            const text = value === true ? "" : visible(String(value));
            if (element.getAttribute(name) !== text) element.setAttribute(name, text);
        }
    }
    return element;
}

/// Appends children: nodes, texts, numbers, and arrays of them; null and false are skipped.
export function append(element, children) {
    for (const child of children.flat(Infinity)) {
        if (child === null || child === undefined || child === false) continue;
        element.append(child instanceof Node ? child : visible(String(child)));
    }
    return element;
}

/// Replaces all children.
export function fill(element, ...children) {
    element.replaceChildren();
    return append(element, children);
}

/// Sets the text of an element if it differs, so that a screen reader hears a change only once.
export function text(element, value) {
    const shown = visible(String(value ?? ""));
    if (element.textContent !== shown) element.textContent = shown;
    return element;
}

/// Keeps the children of `parent` equal to `items`: one view `{ node, update(item) }` for each key. Elements that stay
/// keep their focus and their scroll position.
export function keyed(parent, items, keyOf, make) {
    const views = parent.views ?? (parent.views = new Map());
    const wanted = new Set(items.map(keyOf));
    for (const [key, view] of views) {
        if (wanted.has(key)) continue;
        view.node.remove();
        view.end?.();
        views.delete(key);
    }
    let previous = null;
    for (const item of items) {
        const key = keyOf(item);
        let view = views.get(key);
        if (view) view.update(item);
        else views.set(key, (view = make(item)));
        const next = previous ? previous.nextSibling : parent.firstChild;
        if (view.node !== next) parent.insertBefore(view.node, next);
        previous = view.node;
    }
}

/// Collects what a screen has to undo when it is left: `life.add(signal.on(…))`.
export function lifetime() {
    const ends = [];
    return {
        add: (end) => ends.push(end),
        end: () => { for (const end of ends.splice(0)) end(); },
    };
}

/// A list of listeners: `on` returns the function that removes the listener.
export function signal() {
    const listeners = new Set();
    return {
        on(listener) {
            listeners.add(listener);
            return () => listeners.delete(listener);
        },
        emit(...values) { for (const listener of [...listeners]) listener(...values); },
    };
}

/// Runs a function once before the next frame, however often it is asked for.
export function onFrame(work) {
    let isAsked = false;
    return () => {
        if (isAsked) return;
        isAsked = true;
        const run = () => { isAsked = false; work(); };
        // A hidden page gets no frames; its texts still have to be complete when it is shown again.
        if (document.hidden) setTimeout(run, 100); else requestAnimationFrame(run);
    };
}

/// Calls `work` once, `delay` milliseconds after the last of several calls.
export function debounced(work, delay = 200) {
    let timer;
    return (...values) => {
        clearTimeout(timer);
        timer = setTimeout(() => work(...values), delay);
    };
}
