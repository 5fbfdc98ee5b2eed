// Messages of a long conversation: one that is far from the screen is its plain text until it comes near.
import { h, onFrame, text } from "../kit/dom.js";
import { t } from "../kit/texts.js";

/// Makes views that are drawn when they come near. `make(message)` makes the whole view; `scroller` is what moves.
/// Returns `{ view(message), end }`; a view has `draw()` too.
export function lazyMessages(scroller, make) {
    const waiting = new Map();
    // Few are drawn in one frame, so that scrolling stays smooth.
    const due = new Set();
    const drawSome = onFrame(() => {
        const end = performance.now() + 6;
        for (const node of due) {
            due.delete(node);
            waiting.get(node)?.();
            if (performance.now() > end) break;
        }
        if (due.size > 0) drawSome();
    });
    const near = new IntersectionObserver((entries) => {
        for (const { target, isIntersecting } of entries) {
            if (isIntersecting) due.add(target); else due.delete(target);
        }
        if (due.size > 0) drawSome();
    }, { root: scroller, rootMargin: "1200px 0px" });

    function view(message) {
        let current = message;
        let drawn = null;
        const words = h("div.plain", { dir: "auto" }, message.content);
        const isQuestion = message.role === "user";
        const node = h(`li.message.${isQuestion ? "user" : "assistant"}`, { id: `message-${message.id}` },
            h("h2.sr", t(isQuestion ? "chat.you" : "chat.assistant")), words);
        // The height is guessed until the message is drawn, so that the scroll bar tells the truth.
        const lines = Math.ceil(message.content.length / 80) + (message.content.match(/\n/g)?.length ?? 0);
        node.style.containIntrinsicBlockSize = `auto ${4 + lines * 1.5}rem`;
        const draw = () => {
            if (drawn) return;
            near.unobserve(node);
            waiting.delete(node);
            drawn = make(current);
            node.replaceWith(drawn.node);
            made.node = drawn.node;
        };
        const made = {
            node, draw,
            update(next, what) {
                current = next;
                // A message that changes is one that people see; the others wait.
                if (what) draw();
                if (drawn) drawn.update(next, what);
                else text(words, next.content);
            },
            end() {
                near.unobserve(node);
                waiting.delete(node);
                drawn?.end?.();
            },
        };
        waiting.set(node, draw);
        near.observe(node);
        return made;
    }

    return { view, end: () => near.disconnect() };
}
