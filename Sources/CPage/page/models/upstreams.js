// Other servers whose models are served: their requests, those that wait, and whether they answer.
import { h, fill, set, lifetime } from "../kit/dom.js";
import { icon } from "../kit/icons.js";
import { get } from "../kit/api.js";
import { t } from "../kit/texts.js";

/// The time between two looks, in milliseconds.
const interval = 3000;

/// The section of the upstreams, hidden without one: `{ node, end }`.
export function upstreamList() {
    const life = lifetime();
    const list = h("ul.rows", { role: "list", "aria-label": t("upstreams.title") });
    const node = h("section.upstreams", { hidden: true }, h("h2", t("upstreams.title")), list);
    const read = () => get("/upstreams").then(({ upstreams }) => {
        set(node, { hidden: upstreams.length === 0 });
        fill(list, upstreams.map(row));
        // Without an upstream there is nothing to follow.
        if (upstreams.length === 0) clearInterval(timer);
    }, () => {});
    const timer = setInterval(read, interval);
    life.add(() => clearInterval(timer));
    read();
    return { node, end: life.end };
}

function row({ name, address, running, waiting, slots, isFailing, problem, models }) {
    const works = !problem && !isFailing;
    return h("li.row",
        icon(works ? "cloud" : "warning"),
        h("div.grow",
            h("p.name", { dir: "auto" }, name, " ", h("span.caption", address)),
            h("p.caption", t("upstreams.load", { running: slots ? `${running} / ${slots}` : running, waiting }),
                ` · ${t(models.length === 1 ? "upstreams.models.one" : "upstreams.models.other", { n: models.length })}`,
                ` · ${problem ?? t(isFailing ? "upstreams.fails" : "upstreams.answers")}`)));
}
