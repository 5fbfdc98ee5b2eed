#!/usr/bin/env python3
"""Generates repeating events with exceptions, additions, overrides and zones, and the occurrences that python-dateutil
computes for them.

    scripts/stores/series.py COUNT SEED FILE     writes a JSON list; the same seed makes the same list

The kinds of rules are those that Hearth creates. Times of day are chosen near the changes of zones more often than not.
"""
import json
import random
import sys
from datetime import datetime, timedelta, timezone

from dateutil import tz
from dateutil.rrule import rrulestr

ZONES = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "America/St_Johns",
         "Pacific/Auckland", "Europe/London", "America/Sao_Paulo", "Africa/Johannesburg", "America/Los_Angeles"]
DAYS = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"]
UTC = timezone.utc


def rule(random):
    """A rule without its end."""
    frequency = random.choice(["DAILY", "WEEKLY", "WEEKLY", "MONTHLY", "MONTHLY", "YEARLY"])
    parts = ["FREQ=" + frequency]

    def some(values, most):
        return sorted(random.sample(values, random.randint(1, most)))

    def add(name, values):
        parts.append(name + "=" + ",".join(map(str, values)))

    if random.random() < 0.5:
        parts.append(f"INTERVAL={random.randint(2, 5)}")
    if frequency == "DAILY":
        if random.random() < 0.3:
            add("BYDAY", some(DAYS, 4))
        if random.random() < 0.2:
            add("BYMONTH", some(list(range(1, 13)), 6))
    elif frequency == "WEEKLY":
        if random.random() < 0.8:
            add("BYDAY", some(DAYS, 4))
        if random.random() < 0.4:
            parts.append("WKST=" + random.choice(["MO", "SU"]))
    else:
        if frequency == "YEARLY" or random.random() < 0.2:
            add("BYMONTH", some(list(range(1, 13)), 4))
        kind = random.random()
        if kind < 0.3:
            add("BYDAY", [f"{random.choice([-2, -1, 1, 2, 3, 4])}{day}" for day in some(DAYS, 2)])
        elif kind < 0.5:
            add("BYMONTHDAY", some(list(range(1, 32)) + [-1, -2, -7], 4))
        elif kind < 0.7:
            days = some(DAYS, 5)
            add("BYDAY", days)
            add("BYSETPOS", some([1, -1, 2, 3], 2))
    return ";".join(parts)


def moment(time):
    """The seconds since 1970; a time that the clock skips counts with the offset before the gap."""
    if time.tzinfo is None:
        time = time.replace(tzinfo=UTC)
    return int(tz.resolve_imaginary(time).astimezone(UTC).timestamp())


def series(random):
    """A series and its occurrences; None for a rule that does not occur often enough."""
    kind = random.choice(["zone"] * 7 + ["utc", "floating", "day"])
    name = random.choice(ZONES)
    zone = tz.gettz(name) if kind == "zone" else (UTC if kind == "utc" else None)
    begin = datetime(random.randint(2005, 2027), random.choice([1, 2, 3, 3, 4, 6, 9, 10, 10, 11, 12]),
                     random.randint(1, 28), random.choice([0, 1, 2, 2, 3, 9, 18, 23]), random.choice([0, 15, 30]))
    if kind == "day":
        begin = begin.replace(hour=0, minute=0)
    text = rule(random)
    first = next(iter(rrulestr(text + ";COUNT=1", dtstart=begin)), None)
    if first is None or first.year > begin.year + 4:
        return None
    start = first.replace(tzinfo=zone)

    def value(time):
        if kind == "day":
            return time.strftime("%Y%m%d")
        return time.strftime("%Y%m%dT%H%M%S") + ("Z" if kind == "utc" else "")

    parameters = {"zone": ";TZID=" + name, "day": ";VALUE=DATE"}.get(kind, "")
    naive_until = first + timedelta(days=random.randint(40, 2500))
    if random.random() < 0.5:
        count = random.randint(3, 60)
        text += f";COUNT={count}"
        times = list(rrulestr(text, dtstart=start))
    elif random.random() < 0.7:
        if kind in ("zone", "utc"):
            until = tz.resolve_imaginary(naive_until.replace(tzinfo=zone)).astimezone(UTC)
            text += until.strftime(";UNTIL=%Y%m%dT%H%M%SZ")
        else:
            text += ";UNTIL=" + value(naive_until)
        times = list(rrulestr(text, dtstart=start))
    else:
        times = list(rrulestr(text, dtstart=start).xafter(start, count=200, inc=True))
        naive_until = times[-1].replace(tzinfo=None) - timedelta(days=1)
    if len(times) < 3 or len(times) > 700 or times[-1].year > 2036:
        return None
    lines = [f"DTSTART{parameters}:{value(start)}", "RRULE:" + text]
    if kind != "day":
        lines.append("DURATION:PT30M")
    length = 86400 if kind == "day" else 1800
    kept = {moment(time): time for time in times}
    keys = sorted(kept)
    # Exceptions, in the form of the start or in UTC.
    for key in random.sample(keys[1:], min(len(keys) - 1, random.randint(0, 4))):
        time = kept.pop(key)
        if kind == "zone" and random.random() < 0.4:
            lines.append("EXDATE:" + datetime.fromtimestamp(key, UTC).strftime("%Y%m%dT%H%M%SZ"))
        else:
            lines.append(f"EXDATE{parameters}:{value(time)}")
    for _ in range(random.choice([0, 0, 1, 2])):
        extra = times[0] + timedelta(days=random.randint(1, 300))
        if kind != "day":
            extra += timedelta(minutes=45)
        if moment(extra) in keys:
            continue
        lines.append(f"RDATE{parameters}:{value(extra)}")
        kept[moment(extra)] = extra
    overrides, moved = [], []
    for key in random.sample(sorted(set(kept) & set(keys[1:])), min(len(set(kept) & set(keys[1:])), random.randint(0, 3))):
        time = kept.pop(key)
        new = time + timedelta(days=random.randint(-2, 2), minutes=0 if kind == "day" else random.choice([0, 90, -60]))
        override = [f"RECURRENCE-ID{parameters}:{value(time)}", f"DTSTART{parameters}:{value(new)}"]
        if kind != "day":
            override.append("DURATION:PT30M")
        if random.random() < 0.3:
            override.append("STATUS:CANCELLED")
        else:
            moved.append(moment(new))
        overrides.append(override)
    # A period of the series, or all of it.
    lower, upper = keys[0] - 86400, max(keys[-1], moment(naive_until.replace(tzinfo=zone))) + 86400
    if "COUNT" not in text and "UNTIL" not in text:
        upper = moment(naive_until.replace(tzinfo=zone))
    if random.random() < 0.6:
        lower = random.randint(lower, upper)
        upper = random.randint(lower, upper) + 86400
        if "COUNT" not in text and "UNTIL" not in text:
            upper = min(upper, moment(naive_until.replace(tzinfo=zone)))
    starts = sorted(time for time in list(kept) + moved if time < upper and time + length > lower)
    return {"lines": lines, "overrides": overrides, "from": lower, "until": upper, "starts": starts}


def main():
    count, seed, path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    source = random.Random(seed)
    made = []
    while len(made) < count:
        one = series(source)
        # Few periods without an occurrence are enough.
        if one is not None and one["until"] > one["from"] and (one["starts"] or source.random() < 0.1):
            made.append(one)
    with open(path, "w", encoding="utf-8") as file:
        file.write("[\n" + ",\n".join(json.dumps(one, separators=(",", ":")) for one in made) + "\n]\n")


main()
