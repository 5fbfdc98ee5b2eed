#!/usr/bin/env python3
"""Imports calendars, reminders and contacts of other programs, and compares what is stored with what others make of it.

    scripts/stores/imported.py TEST…        TEST runs the built tests with the filter that is added to it

The judges: icalendar with recurring-ical-events for the instants of the files themselves, tables by hand where those are known
to be wrong and for contacts (calendars.py, cards.py), and khal, todoman and khard for the files that the import has stored.
PYTHONPATH has the packages of scripts/requirements/records.txt. Needs khal, todoman and khard; EVOLUTION=1 asks Evolution Data
Server, too.
"""
import datetime
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import icalendar
import recurring_ical_events
from calendars import ENDS, all_cases
from cards import all_cards

ZONE = "America/New_York"
FROM, UNTIL = datetime.datetime(2025, 1, 1, tzinfo=datetime.UTC), datetime.datetime(2028, 1, 1, tzinfo=datetime.UTC)
# A guess of icalendar's that Hearth makes, too.
warnings.filterwarnings("ignore", message="Timezone .* is a globally unique TZID")
failures = []


def wrong(name, text):
    failures.append(name)
    print(f"WRONG {name}: {text}")


def instant(value):
    """A day, or a moment in UTC, as Hearth writes it."""
    if not isinstance(value, datetime.datetime):
        return value.isoformat()
    if value.tzinfo is None:
        import zoneinfo
        value = value.replace(tzinfo=zoneinfo.ZoneInfo(ZONE))
    return value.astimezone(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def judged(data):
    """The starts and ends of the events in three years, as icalendar with recurring-ical-events has them."""
    icalendar.use_zoneinfo()
    calendar = icalendar.Calendar.from_ical(data)
    found = []
    for event in recurring_ical_events.of(calendar, components=["VEVENT"]).between(FROM, UNTIL):
        if str(event.get("STATUS", "")).upper() == "CANCELLED":
            continue
        start = event["DTSTART"].dt
        end = event["DTEND"].dt if "DTEND" in event else start
        if not isinstance(start, datetime.datetime) and end == start:
            end = start + datetime.timedelta(days=1)
        found.append((instant(start), instant(end)))
    return sorted(found)


def plain(data):
    """The text of a file, for counting its records."""
    for mark, encoding in ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"), (b"B\0", "utf-16-le"), (b"\0B", "utf-16-be")):
        if data.startswith(mark):
            break
    else:
        try:
            encoding = "utf-8"
            data.decode(encoding)
        except UnicodeDecodeError:
            encoding = "latin-1"
    text = re.sub("\r+\n?", "\n", data.decode(encoding).replace("\ufeff", ""))
    return re.sub("\n[ \t]", "", text)


def records(data, kind):
    """The number of records of a kind: series with their occurrences, equal components once."""
    parts = dict.fromkeys(re.findall(rf"^BEGIN:{kind}\n.*?^END:{kind}$", plain(data), re.S | re.M | re.I))
    total, series = 0, set()
    for part in parts:
        uid = re.search("^UID:(.*)$", part, re.M | re.I)
        uid = uid[1] if uid else part
        if re.search("^RECURRENCE-ID", part, re.M | re.I):
            if uid not in series and not re.search(rf"^UID:{re.escape(uid)}$(?!.*RECURRENCE-ID)", "".join(p for p in parts if "RECURRENCE-ID" not in p.upper()), re.M | re.I):
                series.add(uid)
                total += 1
        else:
            total += 1
    return total


def check_sums(case, outcome, homes):
    """The sums of an import, the second one, and the bytes of what cannot be read."""
    name, data = case[0], case[1]
    for kind, member, store in (("VEVENT", "events", "calendar"), ("VTODO", "reminders", "reminders"), ("VCARD", "contacts", "contacts")):
        first, second = (outcome.get("first") or {}).get(member), (outcome.get("second") or {}).get(member)
        count = 0 if outcome.get("error") else records(data, kind)
        if kind == "VCARD" and name in ("nested.vcf", "utf16.vcf"):
            count = 1
        if first is None:
            if count:
                wrong(name, f"{count} {kind}, and no outcome")
            continue
        total = sum(first[key] for key in ("added", "changed", "skipped", "unreadable"))
        if total != count:
            wrong(name, f"{count} {kind}, and the sum is {total}: {first}")
        again = {"added": 0, "changed": 0, "skipped": first["added"], "unreadable": first["unreadable"]}
        if any(second[key] != value for key, value in again.items()) or second.get("action"):
            wrong(name, f"the second import is no repetition: {second}")
        kept = sorted((homes / name / store / ".unreadable").glob("*"))
        lost = sum(problem["code"] == "unreadable-occurrence" for problem in first["problems"])
        if len(kept) < first["unreadable"] or len(kept) > first["unreadable"] + lost:
            wrong(name, f"{first['unreadable']} unreadable, and {len(kept)} kept")
        export = (homes / name / f"{store}.export").read_bytes()
        for file in kept:
            for part in re.findall(rf"(?is)BEGIN:{kind}\r?\n.*?END:{kind}\r?\n".encode(), file.read_bytes()):
                if part not in data or part not in export:
                    wrong(name, f"bytes of {file.name} are not those of the file, or are not exported")


def check_instants(case, outcome):
    """The instants that Hearth lists, with those of the judges."""
    name, data, right = case
    entries = [entry for entry in outcome["entries"] if entry["store"] == "calendar"]
    starts = sorted(entry["start"] for entry in entries)
    if isinstance(right, tuple):
        if starts != sorted(right[0]):
            wrong(name, f"{starts} instead of {right[0]} ({right[1]})")
        return "by hand"
    try:
        wanted = judged(data)
    except Exception as error:  # The judge fails: nothing can be read.
        if starts:
            wrong(name, f"the judge says {type(error).__name__}, and Hearth lists {starts}")
        return "refused by both"
    found = sorted((entry["start"], entry["end"]) for entry in entries)
    if name in ENDS:
        found, wanted = starts, [start for start, _ in wanted]
    if found != wanted:
        wrong(name, f"Hearth lists {found[:6]}…, the judge {wanted[:6]}… ({len(found)} and {len(wanted)})")
    return "icalendar"


def run(command, **more):
    environment = {**os.environ, "TZ": ZONE, "LC_ALL": "C.UTF-8", "PYTHONPATH": ""}
    return subprocess.run(command, capture_output=True, text=True, env={**environment, **more.pop("env", {})}, **more)


LOCALE = f"""[locale]
timeformat = %H:%M
dateformat = %Y-%m-%d
longdateformat = %Y-%m-%d
datetimeformat = %Y-%m-%d %H:%M
longdatetimeformat = %Y-%m-%d %H:%M
local_timezone = {ZONE}
default_timezone = {ZONE}
"""
# What khal shows otherwise, and why.
KHAL = {
    **dict.fromkeys(("rdateperiod.ics", "form-period-duration.ics", "form-period-end.ics", "form-period-both.ics"), "khal does not support periods"),
    **dict.fromkeys(("zone-own-7-0.ics", "zone-own-7-1.ics", "zone-own-8-0.ics", "zone-own-8-1.ics"), "khal takes the database's zone of that name"),
    **dict.fromkeys(("vobject-01.ics", "vobject-09.ics", "vobject-13.ics"), "khal takes the database's EST, which has no summer time"),
    "startnotinrule.ics": "khal leaves out a start that is no occurrence of the rule",
    "untildate.ics": "khal ends at the midnight of the last day",
    "overlap.ics": "khal takes the second of the two hours",
    "gap.ics": "khal lists an occurrence in the skipped hour an hour earlier",
}


def check_khal(outcomes, homes, work):
    """khal lists the same starts of thirteen months from the stored files, without a traceback."""
    folders = {name: homes / name / "calendar" / "personal" for name in outcomes}
    folders = {name: folder for name, folder in folders.items() if folder.is_dir() and any(folder.iterdir())}
    config = "[calendars]\n" + "".join(f"[[{name}]]\npath = {folder}\n" for name, folder in folders.items()) + LOCALE
    config += f"[default]\ndefault_calendar = {next(iter(folders))}\n[sqlite]\npath = {work}/khal.db\n"
    (work / "khal").write_text(config, encoding="utf-8")
    listing = run(["khal", "-c", work / "khal", "list", "--format", "{calendar}|{start-long-full}|{all-day} {cancelled}", "--day-format", "", "2026-01-01", "400d"])
    for line in listing.stderr.splitlines():
        # khal says of periods that it does not support them.
        if ("Traceback" in line or "Skipping" in line or "Error" in line) and "VALUE=PERIOD" not in line:
            wrong("khal", line)
    found = {name: set() for name in folders}
    import zoneinfo
    for line in dict.fromkeys(listing.stdout.splitlines()):
        if line.count("|") != 2:
            continue
        name, start, kind = line.split("|")
        if "CANCELLED" in kind:
            continue
        if kind.startswith("True"):
            found[name].add(start[:10])
        else:
            moment = datetime.datetime.strptime(start, "%Y-%m-%d %H:%M").replace(tzinfo=zoneinfo.ZoneInfo(ZONE))
            found[name].add(instant(moment)[:16])
    compared = 0
    for name in folders:
        wanted = {entry["start"][:16] for entry in outcomes[name]["entries"] if entry["store"] == "calendar"}
        wanted = {start for start in wanted if "2026-01-02" < start < "2027-02-01"}
        # khal lists a day's events once for each day that they cover.
        shown = {start for start in found[name] if "2026-01-02" < start < "2027-02-01"}
        compared += 1
        if name not in KHAL and shown != wanted:
            wrong(name, f"khal lists {sorted(shown ^ wanted)[:4]} otherwise ({len(shown)} and {len(wanted)})")
    return compared


def check_todoman(outcomes, homes, work):
    """todoman lists the same due times from the stored files."""
    lists = work / "todo"
    lists.mkdir()
    for name in outcomes:
        folder = homes / name / "reminders" / "personal"
        if folder.is_dir():
            shutil.copytree(folder, lists / name.replace(".", "-"))
    (work / "todoman.py").write_text(
        f'path = "{lists}/*"\ndate_format = "%Y-%m-%d"\ntime_format = "%H:%M"\ndefault_list = "todo-00-ics"\ncache_path = "{work}/todo.db"\n', encoding="utf-8")
    listing = run(["todoman", "--porcelain", "--config", work / "todoman.py", "list", "--status", "ANY"])
    if "Traceback" in listing.stderr or listing.returncode:
        wrong("todoman", listing.stderr[-600:])
        return 0
    found = {}
    for one in json.loads(listing.stdout):
        due = one["due"]
        if due is not None:
            due = datetime.datetime.fromtimestamp(due, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        found[one["list"]] = found.get(one["list"], []) + [(one["summary"], due)]
    compared = 0
    for name in outcomes:
        wanted = [(entry["title"], entry.get("end")) for entry in outcomes[name]["entries"] if entry["store"] == "reminders"]
        shown = found.get(name.replace(".", "-"), [])
        compared += len(wanted)
        for title, due in wanted:
            seen = [moment for summary, moment in shown if summary == title]
            # A whole day is the midnight of the device there.
            if not any(moment == due or moment and due and len(due) == 10 and moment[:10] == due for moment in seen):
                wrong(name, f"todoman lists {seen} for {title} of {due}")
    return compared


def text(contact):
    """A contact as in the tables."""
    parts = [contact["name"], ", ".join(one["value"] for one in contact["numbers"]), ", ".join(one["value"] for one in contact["mails"]), contact.get("birthday") or ""]
    return " ".join(" | ".join(parts).split())


def check_contacts(cases, outcomes, homes, work):
    """Names, numbers, mails and birthdays against the tables, and numbers and mails against khard."""
    for name, _, right in cases:
        found = sorted(text(contact) for contact in outcomes[name]["contacts"])
        wanted = sorted(" ".join(row.split()) for row in right or [])
        if found != wanted:
            wrong(name, f"{found} instead of {wanted}")
    books = {name: homes / name / "contacts" / "personal" for name, _, _ in cases}
    books = {name: folder for name, folder in books.items() if folder.is_dir() and any(folder.iterdir())}
    names = {name: f"book{index}" for index, name in enumerate(books)}
    config = "[addressbooks]\n" + "".join(f"[[{names[name]}]]\npath = {folder}\n" for name, folder in books.items())
    (work / "khard").write_text(config + "[general]\ndefault_action = list\n", encoding="utf-8")
    shown = {}
    for command, members in (("phone", "numbers"), ("email", "mails")):
        listing = run(["khard", "-c", work / "khard", command, "--parsable"])
        if "Traceback" in listing.stderr or "Error when parsing" in listing.stderr + listing.stdout:
            wrong("khard", (listing.stdout + listing.stderr)[-600:])
        shown[members] = {}
        for line in listing.stdout.splitlines():
            if line.count("\t") >= 2:
                value, contact = line.split("\t")[:2]
                shown[members].setdefault(contact, set()).add(re.sub("[^0-9A-Za-z@.+]", "", value))
    compared = 0
    for name in books:
        for contact in outcomes[name]["contacts"]:
            for members in ("numbers", "mails"):
                for entry in contact[members]:
                    value = re.sub("[^0-9A-Za-z@.+]", "", entry["value"])
                    everywhere = {one for values in shown[members].values() for one in values}
                    compared += 1
                    if not any(value in one for one in everywhere):
                        wrong(name, f"khard does not list {entry['value']} of {contact['name']}")
    return len(books), compared


# What Evolution Data Server shows otherwise, and why.
EVOLUTION = {
    **dict.fromkeys(("gap.ics", "khal-05.ics"), "an hour late on the day after the skipped hour"),
    "overlap.ics": "the second of the two hours",
    **dict.fromkeys(("zone-own-8-0.ics", "zone-own-8-1.ics"), "the database's zone of that name"),
    **dict.fromkeys(("vobject-01.ics", "vobject-09.ics", "vobject-13.ics"), "the database's EST, which has no summer time"),
}


def check_evolution(outcomes, folder):
    """Evolution Data Server lists the same starts and names from the stored files."""
    there = folder / "evolution"
    there.mkdir()
    more = {"HOME": str(there), "GSETTINGS_BACKEND": "memory", "GIO_USE_VFS": "local"}
    more |= {f"XDG_{name}_HOME": str(there / name) for name in ("DATA", "CONFIG", "CACHE")}
    asked = run(["dbus-run-session", "--", "/usr/bin/python3", Path(__file__).resolve().parent / "evolution.py", folder], env=more, timeout=300)
    if asked.returncode:
        sys.exit(asked.stderr[-2000:])
    counts = [0, 0]
    for name, found in json.loads((folder / "evolution.json").read_bytes()).items():
        if "error" in found:
            wrong(name, f"Evolution Data Server says {found['error']}")
        if "starts" in found:
            # An occurrence at the beginning or the end of the period is in it or not.
            wanted = sorted(entry["start"] for entry in outcomes[name]["entries"] if entry["store"] == "calendar")
            wanted = [start for start in wanted if "2025-01-02" < start < "2027-12-30"]
            starts = sorted(start for start in found["starts"] if "2025-01-02" < start < "2027-12-30")
            counts[0] += 1
            if starts != wanted and name not in EVOLUTION:
                wrong(name, f"Evolution Data Server lists {sorted(set(starts) ^ set(wanted))[:4]} otherwise")
        if "names" in found:
            counts[1] += 1
            if sorted(found["names"]) != sorted(contact["name"] for contact in outcomes[name]["contacts"]):
                wrong(name, f"Evolution Data Server lists {found['names']}")
    return counts


def main():
    calendars, contacts = list(all_cases()), list(all_cards())
    work = Path(tempfile.mkdtemp())
    try:
        (work / "in" / "cases").mkdir(parents=True)
        (work / "in" / "homes").mkdir()
        for name, data, _ in calendars + contacts:
            (work / "in" / "cases" / name).write_bytes(data)
        tests = subprocess.run([*sys.argv[1:], "ImportedFilesTests"], env={**os.environ, "HEARTH_IMPORTED": str(work / "in"), "TZ": ZONE, "PYTHONPATH": ""})
        if tests.returncode:
            sys.exit("the import of the files failed")
        outcomes = {one["name"]: one for one in json.loads((work / "in" / "outcomes.json").read_bytes())}
        homes = work / "in" / "homes"
        kinds = {}
        for case in calendars + contacts:
            check_sums(case, outcomes[case[0]], homes)
        for case in calendars:
            kind = check_instants(case, outcomes[case[0]])
            kinds[kind] = kinds.get(kind, 0) + 1
        events = check_khal({name: outcomes[name] for name, _, _ in calendars}, homes, work)
        todos = check_todoman({name: outcomes[name] for name, _, _ in calendars}, homes, work)
        books, values = check_contacts(contacts, outcomes, homes, work)
        if os.environ.get("EVOLUTION"):
            calendars_there, books_there = check_evolution(outcomes, work / "in")
            print(f"Evolution Data Server agrees on {calendars_there} calendars and {books_there} address books")
    finally:
        if os.environ.get("KEEP"):
            print(work)
        else:
            shutil.rmtree(work)
    print(f"{len(calendars)} calendars and reminders: " + ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())))
    print(f"{len(contacts)} files of contacts against the table; khal agrees on {events} calendars, todoman on {todos} reminders, khard on {values} values of {books} address books")
    if failures:
        sys.exit(f"{len(failures)} wrong")


if __name__ == "__main__":
    main()
