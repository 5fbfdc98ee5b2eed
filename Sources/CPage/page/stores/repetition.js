// How an event or a reminder repeats: as fields of a form, as an RRULE, and in words.
import { h, fill, set } from "../kit/dom.js";
import { language, t } from "../kit/texts.js";

const codes = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"];
const units = { DAILY: "day", WEEKLY: "week", MONTHLY: "month", YEARLY: "year" };
const workdays = "MO,TU,WE,TH,FR";

/// The name of a day of the week, 0 for Monday.
export const weekdayName = (index, form = "long") => new Date(2024, 0, 1 + index).toLocaleDateString(language, { weekday: form });

/// The parts of a rule: `{ FREQ, INTERVAL, … }`.
function partsOf(rule) {
    return Object.fromEntries((rule ?? "").toUpperCase().replace(/^RRULE:/, "").split(";").filter(Boolean).map((part) => part.split("=", 2)));
}

/// A rule as the fields of the form have it; null for one that they cannot express.
export function readRule(rule) {
    const { FREQ, INTERVAL = "1", BYDAY = "", COUNT = "", UNTIL = "", ...others } = partsOf(rule);
    const days = BYDAY ? BYDAY.split(",") : [];
    if (!units[FREQ] || Object.keys(others).some((name) => name !== "WKST") || !/^\d{1,2}$/.test(INTERVAL)) return null;
    if (days.some((day) => !codes.includes(day)) || (days.length > 0 && FREQ !== "WEEKLY")) return null;
    const until = /^(\d{4})(\d{2})(\d{2})(T(\d{2})(\d{2})(\d{2})Z)?/.exec(UNTIL);
    if (UNTIL && !until) return null;
    const last = until && (until[4] ? localDay(new Date(Date.UTC(+until[1], until[2] - 1, +until[3], +until[5], +until[6], +until[7]))) : until.slice(1, 4).join("-"));
    const isWorkdays = FREQ === "WEEKLY" && INTERVAL === "1" && codes.filter((day) => days.includes(day)).join() === workdays;
    return { frequency: isWorkdays ? "WEEKDAYS" : FREQ, interval: Number(INTERVAL), days, until: last ?? "", count: COUNT };
}

const localDay = (date) => `${date.getFullYear()}-${String(date.getMonth() + 1).padStart(2, "0")}-${String(date.getDate()).padStart(2, "0")}`;

/// The rule of the fields; empty without a repetition.
export function writeRule({ frequency, interval, days, until, count }) {
    if (!frequency) return "";
    const isWorkdays = frequency === "WEEKDAYS";
    const chosen = isWorkdays ? workdays : frequency === "WEEKLY" ? codes.filter((day) => days.includes(day)).join() : "";
    return [
        `FREQ=${isWorkdays ? "WEEKLY" : frequency}`, !isWorkdays && interval > 1 && `INTERVAL=${interval}`, chosen && `BYDAY=${chosen}`,
        until ? `UNTIL=${until.replaceAll("-", "")}` : count && `COUNT=${count}`,
    ].filter(Boolean).join(";");
}

const ordinals = /^(-?\d)(MO|TU|WE|TH|FR|SA|SU)$/;

/// A rule in words; one of another kind is shown as it is.
export function ruleWords(rule) {
    const parts = partsOf(rule);
    const first = ordinals.exec(parts.BYDAY ?? "");
    const plain = readRule(first && parts.FREQ === "MONTHLY" ? rule.replace(/;?BYDAY=[^;]*/i, "") : rule);
    if (!plain) return rule;
    const list = (names) => new Intl.ListFormat(language).format(names);
    const days = plain.days.map((day) => weekdayName(codes.indexOf(day)));
    const words = first ? t("repeat.ordinal", { ordinal: t(`repeat.ordinal.${first[1]}`), day: weekdayName(codes.indexOf(first[2])) })
        : plain.frequency === "WEEKDAYS" ? t("repeat.WEEKDAYS")
        : plain.interval > 1 ? t(`repeat.every.${units[plain.frequency]}`, { count: plain.interval }) : t(`repeat.${plain.frequency}`);
    return [
        words, days.length > 0 && plain.frequency === "WEEKLY" && t("repeat.on", { days: list(days) }),
        plain.until && t("repeat.until-day", { day: new Date(`${plain.until}T12:00`).toLocaleDateString(language, { dateStyle: "medium" }) }),
        plain.count && t("repeat.times", { n: Number(plain.count) }),
    ].filter(Boolean).join(", ");
}

/// The field of a form for the rule `value`. A rule that the form cannot express is a choice of its own and stays as it is.
export function repetitionField(value, name = "recurrence") {
    return { name, label: t("field.repeats"), make: (id) => parts(id, value ?? "") };
}

function parts(id, rule) {
    const known = rule ? readRule(rule) : { frequency: "", interval: 1, days: [], until: "", count: "" };
    const state = known ?? { frequency: "KEEP", interval: 1, days: [], until: "", count: "" };
    const option = (key, label) => h("option", { value: key, selected: state.frequency === key }, label);
    const select = h("select", { id, name: "recurrence" },
        option("", t("repeat.never")), ["DAILY", "WEEKDAYS", "WEEKLY", "MONTHLY", "YEARLY"].map((key) => option(key, t(`repeat.${key}`))),
        !known && option("KEEP", ruleWords(rule)));
    const interval = h("input", { id: `${id}-interval`, type: "number", min: 1, max: 99, required: true, value: String(state.interval) });
    const unit = h("span.muted");
    const boxes = codes.map((code, index) => h("label.chip.day-chip",
        h("input", { type: "checkbox", value: code, checked: state.days.includes(code), "aria-label": weekdayName(index) }), h("span", { "aria-hidden": "true" }, weekdayName(index, "short"))));
    const until = h("input", { id: `${id}-until`, type: "date", value: state.until });
    const count = h("input", { id: `${id}-count`, type: "number", min: 1, max: 999, value: state.count });
    const row = (label, control, ...after) => h("div.field", h("label", { for: control.id }, label), h("span.with-unit", control, after));
    const every = row(t("repeat.interval"), interval, unit);
    const days = h("div.field", { role: "group", "aria-label": t("repeat.days") }, h("span.label", { "aria-hidden": "true" }, t("repeat.days")), h("span.day-chips", boxes));
    const ends = h("div.two", row(t("repeat.last-day"), until), row(t("repeat.count"), count));
    const read = () => ({
        frequency: select.value, interval: Number(interval.value) || 1, days: boxes.map((box) => box.firstChild).filter((box) => box.checked).map((box) => box.value),
        until: until.value, count: count.value,
    });
    const draw = () => {
        const { frequency, interval: every_ } = read();
        const isRule = frequency !== "" && frequency !== "KEEP";
        set(every, { hidden: !isRule || frequency === "WEEKDAYS" });
        set(days, { hidden: frequency !== "WEEKLY" });
        set(ends, { hidden: !isRule });
        if (units[frequency]) fill(unit, t(`repeat.unit.${units[frequency]}`, { n: every_ }));
    };
    select.addEventListener("change", draw);
    interval.addEventListener("input", draw);
    // A repetition ends on a day or after a number of times, not both.
    until.addEventListener("input", () => { if (until.value) count.value = ""; });
    count.addEventListener("input", () => { if (count.value) until.value = ""; });
    draw();
    const start = JSON.stringify(read());
    return {
        node: h("div.repetition", h("label", { for: id }, t("field.repeats")), select, every, days, ends),
        // What was not changed stays as it was written.
        value: () => (JSON.stringify(read()) === start || select.value === "KEEP" ? rule : writeRule(read())),
    };
}
