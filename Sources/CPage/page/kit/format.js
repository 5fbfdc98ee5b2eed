// Numbers, times and days for people, in the language of the page.
import { language, t } from "./texts.js";

/// Bytes with one decimal, in units of 1000: `1.9 GB`.
export function bytes(count) {
    if (count === null || count === undefined) return "";
    const units = ["B", "kB", "MB", "GB", "TB"];
    let value = count;
    let unit = 0;
    while (value >= 999.95 && unit < units.length - 1) {
        value /= 1000;
        unit += 1;
    }
    const digits = unit === 0 ? 0 : 1;
    return `${decimal(value, digits)} ${units[unit]}`;
}

export const decimal = (value, digits = 1) =>
    value.toLocaleString(language, { minimumFractionDigits: digits, maximumFractionDigits: digits });

/// A fraction as a whole percentage, rounded down as on the card: `Int(progress × 100)%`.
export const percent = (fraction) => `${Math.floor(Math.min(1, Math.max(0, fraction)) * 100)}%`;

export function seconds(count) {
    if (count < 60) return t("time.seconds", { n: Math.max(1, Math.round(count)) });
    if (count < 3600) return t("time.minutes", { n: Math.round(count / 60) });
    return t("time.hours", { n: Math.round(count / 3600) });
}

/// A day as people name it: today, yesterday, tomorrow, or its date.
export function day(date) {
    const days = Math.round((midnight(date) - midnight(new Date())) / 86_400_000);
    if (Math.abs(days) <= 1) {
        return new Intl.RelativeTimeFormat(language, { numeric: "auto" }).format(days, "day");
    }
    const isThisYear = date.getFullYear() === new Date().getFullYear();
    return date.toLocaleDateString(language, {
        weekday: "short", day: "numeric", month: "short", ...(isThisYear ? {} : { year: "numeric" }),
    });
}

/// The same with the date: `Today, Tue 24 Nov`.
export function dayWithDate(date) {
    const days = Math.round((midnight(date) - midnight(new Date())) / 86_400_000);
    const name = day(date);
    return Math.abs(days) <= 1 ? `${name}, ${date.toLocaleDateString(language, { weekday: "short", day: "numeric", month: "short" })}` : name;
}

/// The span of time in which a past day lies, as lists group them: today, yesterday, some days, or its month.
export function span(date) {
    const days = Math.round((midnight(new Date()) - midnight(date)) / 86_400_000);
    if (days <= 1) return capital(day(date));
    if (days <= 7) return t("chats.week");
    if (days <= 30) return t("chats.month");
    const isThisYear = date.getFullYear() === new Date().getFullYear();
    return date.toLocaleDateString(language, { month: "long", ...(isThisYear ? {} : { year: "numeric" }) });
}

const capital = (words) => words.charAt(0).toLocaleUpperCase(language) + words.slice(1);

export const time = (date) => date.toLocaleTimeString(language, { hour: "2-digit", minute: "2-digit" });

export const dayAndTime = (date) => `${day(date)}, ${time(date)}`;

const midnight = (date) => new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();

/// The day of a date in local time as `2026-11-24`.
export function dayKey(date) {
    const two = (number) => String(number).padStart(2, "0");
    return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/// The value of an `<input type="datetime-local">` for a date.
export const localInput = (date) => `${dayKey(date)}T${String(date.getHours()).padStart(2, "0")}:${
    String(date.getMinutes()).padStart(2, "0")}`;
