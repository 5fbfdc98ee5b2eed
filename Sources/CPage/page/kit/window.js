// A long list of which only the rows that are seen or near are elements. Each kind of row has one height.
import { keyed, onFrame } from "./dom.js";

/// Draws `items` of the form `{ key, height, … }` in `list`, which lies in `scroller`; heights are in rem. `make(item)`
/// makes a view `{ node, update(item) }`. `near()` is called when the end of the list is near.
/// Returns `{ draw(items), end }`.
export function windowed(scroller, list, make, near) {
    let items = [];
    let tops = [0];
    const place = (item) => {
        const view = make(item);
        const update = (next) => {
            view.node.style.insetBlockStart = `${next.top}rem`;
            view.update(next);
        };
        update(item);
        return { node: view.node, update, end: view.end };
    };
    const drawSeen = () => {
        const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
        const [from, to] = [scroller.scrollTop / rem - 20, (scroller.scrollTop + scroller.clientHeight) / rem + 20];
        const first = Math.max(0, lower(tops, from) - 1);
        const last = lower(tops, to);
        const seen = items.slice(first, last);
        // The row with the focus stays, so that the keyboard keeps its place.
        const focused = list.contains(document.activeElement) && document.activeElement.closest("[data-key]")?.dataset.key;
        const kept = focused && !seen.some(({ key }) => key === focused) && items.find(({ key }) => key === focused);
        if (kept) seen[kept.top < from ? "unshift" : "push"](kept);
        keyed(list, seen, ({ key }) => key, place);
        if (to + 30 > tops.at(-1)) near();
    };
    const later = onFrame(drawSeen);
    scroller.addEventListener("scroll", later, { passive: true });
    const sizes = new ResizeObserver(later);
    sizes.observe(scroller);
    return {
        draw(next) {
            tops = [0];
            items = next.map((item) => {
                const top = tops.at(-1);
                tops.push(top + item.height);
                return { ...item, top };
            });
            list.style.blockSize = `${tops.at(-1)}rem`;
            drawSeen();
        },
        end: () => sizes.disconnect(),
    };
}

/// The first index whose value is not below `wanted`.
function lower(sorted, wanted) {
    let [low, high] = [0, sorted.length];
    while (low < high) {
        const middle = (low + high) >> 1;
        if (sorted[middle] < wanted) low = middle + 1; else high = middle;
    }
    return low;
}
