"""The calendars and reminders that `imported.py` imports: the reported ones, and those that this file writes.

A case is its name, its bytes, and, where the judges are known to be wrong or to fail, what is right, with the reason.
"""
import json
import random
import re
from pathlib import Path

HERE = Path(__file__).resolve().parent


def calendar(*parts, head="VERSION:2.0\nPRODID:-//Other//EN\n"):
    return ("BEGIN:VCALENDAR\n" + head + "".join(parts) + "END:VCALENDAR\n").replace("\n", "\r\n")


def event(lines, kind="VEVENT"):
    return f"BEGIN:{kind}\nDTSTAMP:20260101T000000Z\n{lines.strip()}\nEND:{kind}\n"


def zone(name, offset, summer=None):
    """A definition of Central Europe's clock, or of a fixed offset."""
    if summer is None:
        return (f"BEGIN:VTIMEZONE\nTZID:{name}\nBEGIN:STANDARD\nDTSTART:16010101T000000\nTZOFFSETFROM:{offset}\n"
                f"TZOFFSETTO:{offset}\nEND:STANDARD\nEND:VTIMEZONE\n")
    return (f"BEGIN:VTIMEZONE\nTZID:{name}\nBEGIN:STANDARD\nDTSTART:16010101T030000\nTZOFFSETFROM:{summer}\nTZOFFSETTO:{offset}\n"
            "RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10\nEND:STANDARD\nBEGIN:DAYLIGHT\nDTSTART:16010101T020000\n"
            f"TZOFFSETFROM:{offset}\nTZOFFSETTO:{summer}\nRRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3\nEND:DAYLIGHT\nEND:VTIMEZONE\n")


def given():
    for line in (HERE / "cases.jsonl").read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        if "base64" in case:
            import base64
            yield case["name"], base64.b64decode(case["base64"])
        else:
            yield case["name"], case["text"].encode()


# What is right where icalendar with recurring-ical-events is not the judge: the starts, or the reason alone where only Hearth's
# own sums are compared.
EXCEPTIONS = {
    "cr.ics": (["2026-04-01T09:00:00Z"], "CR alone ends lines"),
    "dupuid.ics": (["2026-04-01T09:00:00Z", "2026-04-02T09:00:00Z"], "two events under one UID are both kept"),
    "override.ics": (["2026-03-02T08:00:00Z", "2026-03-05T08:00:00Z", "2026-03-10T14:00:00Z"], "a cancelled occurrence is gone"),
    "untildate.ics": (["2026-03-02T22:00:00Z", "2026-03-03T22:00:00Z", "2026-03-04T22:00:00Z"], "UNTIL of a day is the whole day"),
    "badrrule.ics": (["2026-04-01T09:00:00Z"], "a broken rule is listed once"),
    "emptyrrule.ics": (["2026-04-01T09:00:00Z"], "a broken rule is listed once"),
    "secondly.ics": (["2026-04-01T09:00:00Z"], "a rule of each second is not expanded"),
    "negdur.ics": (["2026-04-01T09:00:00Z"], "an end before the start does not become it"),
    "dtendmixed.ics": (["2026-04-01"], "a whole day that ends at a time of day is a whole day"),
    "16_tz_gmt.ics": (["2026-04-01T08:00:00Z"], "the name says an offset"),
    "17_tz_colon.ics": (["2026-04-01T14:00:00Z"], "the name says an offset, with a colon and no quotes"),
    "17_unreadable_start.ics": (["2026-04-01T12:00:00Z"], "one of five can be read"),
}
# Where starts agree and ends do not.
ENDS = {
    "gap.ics": "an occurrence in the skipped hour is one hour long",
    "khal-05.ics": "an occurrence in the skipped hour is one hour long",
    "overlap.ics": "the hour that comes twice counts once",
}


def zones():
    """Names of zones: the name, what is defined, the start of 09:00 on 1 April 2026, and why the judge is not asked."""
    spelled = [
        ("Europe/Berlin", "07", None), ("/freeassociation.sourceforge.net/Europe/Berlin", "07", None),
        ("/mozilla.org/20050126_1/Europe/Berlin", "07", None), ("W. Europe Standard Time", "07", None),
        ("\"W. Europe Standard Time\"", "07", None), ("Tokyo Standard Time", "00", None), ("Eastern Standard Time", "13", None),
        ("India Standard Time", "03:30", None), ("Etc/GMT+7", "16", None), ("UTC", "09", None),
        ("europe/berlin", "07", "names in any case"), ("EUROPE/BERLIN", "07", "names in any case"),
        ("w. europe standard time", "07", "names in any case"), ("America/New York", "13", "a blank for the underscore"),
        ("GMT+0100", "08", "an offset"), ("UTC+02:00", "07", "an offset"), ("+0545", "03:15", "an offset"),
        ("\"+05:45\"", "03:15", "an offset"), ("UTC-3", "12", "an offset"), ("GMT-05:00", "14", "an offset with a colon"),
        ("\"GMT-05:00\"", "14", "an offset"), ("\"(UTC+09:00) Osaka, Sapporo, Tokyo\"", "00", "a city"),
        ("\"(UTC+01:00) Amsterdam, Berlin, Bern\"", "07", "a city"), ("(UTC+01:00) Amsterdam\\, Berlin", "07", "a city"),
        ("\"(UTC-05:00) Eastern Time (US & Canada)\"", "13", "a name of Windows"), ("\"(UTC+04:30) Nowhere\"", "04:30", "an offset"),
        ("Mars/Olympus", "13", "the device's zone"), ("Customized Time Zone", "13", "the device's zone"),
    ]
    for index, (name, hour, reason) in enumerate(spelled):
        hour, minute = (hour + ":00").split(":")[:2]
        text = calendar(event(f"UID:zone-{index}\nSUMMARY:Zone\nDTSTART;TZID={name}:20260401T090000\nDTEND;TZID={name}:20260401T100000"))
        start = [f"2026-04-01T{hour}:{minute}:00Z"]
        yield f"zone-name-{index:02}.ics", text.encode(), (start, reason) if reason else None
    defined = [
        ("Home", "Home", None), ("Customized Time Zone", "Customized Time Zone", None),
        ("\"(UTC+01:00) Own, Place\"", "(UTC+01:00) Own\\, Place", None), ("home", "Home", "names in any case"),
        ("\"A; B\"", "A\\; B", None), ("A\\, B", "A\\, B", "a comma escaped in a parameter"), ("HOME", "home", "names in any case"),
        ("W. Europe Standard Time", "W. Europe Standard Time", "the file's definition counts"),
        ("Europe/Berlin", "Europe/Berlin", "the file's definition counts"), ("Home", "\"Home\"", "a quoted TZID"),
    ]
    for index, (name, own, reason) in enumerate(defined):
        for place, (before, after) in enumerate([(zone(own, "+0230"), ""), ("", zone(own, "+0230"))]):
            text = calendar(before, event(f"UID:own-{index}\nSUMMARY:Zone\nDTSTART;TZID={name}:20260401T090000\nDURATION:PT1H"), after)
            why = reason or ("a definition behind the event" if place else None)
            yield f"zone-own-{index}-{place}.ics", text.encode(), (["2026-04-01T06:30:00Z"], why) if why else None


def encodings():
    text = calendar(zone("Office", "+0100", "+0200"), event(
        "UID:enc\nSUMMARY:Größe und Café\nDTSTART;TZID=Office:20260301T090000\nDTEND;TZID=Office:20260301T100000\nRRULE:FREQ=WEEKLY;COUNT=8"))
    right = ([f"2026-{day}T{8 if day < '03-29' else 7:02}:00:00Z"
              for day in ("03-01", "03-08", "03-15", "03-22", "03-29", "04-05", "04-12", "04-19")], "encodings")
    mark = "\ufeff"
    for name, data in {
        "plain": text.encode(), "mark": (mark + text).encode(), "utf16-le": b"\xff\xfe" + text.encode("utf-16-le"),
        "utf16-be": b"\xfe\xff" + text.encode("utf-16-be"), "utf16-bare": text.encode("utf-16-le"),
        "windows": text.encode("cp1252"), "cr": text.replace("\r\n", "\r").encode(), "lf": text.replace("\r\n", "\n").encode(),
        "crcrlf": text.replace("\r\n", "\r\r\n").encode(),
        "marks": (mark + text + mark + calendar()).encode(), "lower": re.sub("^(BEGIN|END|DTSTART|RRULE|UID|TZID)", lambda m: m[0].lower(), text, flags=re.M).encode(),
        "folded": re.sub("(.{9})(?=.)", "\\1\r\n ", text.replace("\r\n", "\n")).replace("\n", "\r\n").replace("\r\r\n", "\r\n").encode(),
        "tabs": text.replace("SUMMARY:Gr", "SUMMARY:G\r\n\tr").encode(), "blank": text.replace("\r\nUID", "\r\n\r\nUID").encode(),
    }.items():
        yield f"encoding-{name}.ics", data, right
    quoted = calendar(event(
        "UID:qp\nSUMMARY;ENCODING=QUOTED-PRINTABLE;CHARSET=UTF-8:Gr=C3=BC=\n=C3=9Fe\nDTSTART:20260401T090000Z\nDTEND:20260401T100000Z"),
        head="VERSION:1.0\nPRODID:x\n")
    yield "encoding-quoted.ics", quoted.encode(), (["2026-04-01T09:00:00Z"], "vCalendar 1.0")
    yield "encoding-quoted-fold.ics", quoted.replace("=\r\n=", "=\r\n =").encode(), (["2026-04-01T09:00:00Z"], "vCalendar 1.0")


def forms():
    """Forms of times, periods, exceptions and ends."""
    series = "DTSTART;TZID=Europe/Berlin:20260302T090000\nDURATION:PT1H\nRRULE:FREQ=DAILY;COUNT=6"
    texts = {
        "period-duration": "DTSTART:20260302T090000Z\nDURATION:PT1H\nRDATE;VALUE=PERIOD:20260305T090000Z/PT2H",
        "period-end": "DTSTART:20260302T090000Z\nDURATION:PT1H\nRDATE;VALUE=PERIOD:20260305T090000Z/20260305T120000Z",
        "period-both": "DTSTART:20260302T090000Z\nDURATION:PT1H\nRDATE;VALUE=PERIOD:20260305T090000Z/PT30M,20260306T090000Z/P1D",
        "rdate-list": "DTSTART:20260302T090000Z\nDURATION:PT1H\nRDATE:20260305T090000Z,20260307T100000Z",
        "rdate-zone": "DTSTART;TZID=Europe/Berlin:20260302T090000\nDURATION:PT1H\nRDATE;TZID=Asia/Tokyo:20260401T090000",
        "rdate-days": "DTSTART;VALUE=DATE:20260302\nRDATE;VALUE=DATE:20260305,20260306",
        "exdate-utc": series + "\nEXDATE:20260304T080000Z", "exdate-zone": series + "\nEXDATE;TZID=Europe/Berlin:20260304T090000,20260305T090000",
        "no-end": "DTSTART:20260302T090000Z", "day": "DTSTART;VALUE=DATE:20260302", "days": "DTSTART;VALUE=DATE:20260302\nDTEND;VALUE=DATE:20260305",
        "week": "DTSTART;VALUE=DATE:20260302\nDURATION:P1W", "duration-days": "DTSTART;TZID=Europe/Berlin:20260328T120000\nDURATION:P1D",
        "duration-mixed": "DTSTART:20260302T090000Z\nDURATION:P1DT2H30M", "floating": "DTSTART:20260302T090000\nDTEND:20260302T100000",
        "floating-series": "DTSTART:20260302T090000\nDTEND:20260302T100000\nRRULE:FREQ=WEEKLY;BYDAY=MO,TH;COUNT=9",
        "two-zones": "DTSTART;TZID=Europe/Berlin:20260302T090000\nDTEND;TZID=America/New_York:20260302T110000",
        "until-utc": "DTSTART;TZID=Europe/Berlin:20260302T090000\nDURATION:PT1H\nRRULE:FREQ=DAILY;UNTIL=20260306T080000Z",
        "monthly-last": "DTSTART;TZID=Europe/Berlin:20260130T090000\nDURATION:PT1H\nRRULE:FREQ=MONTHLY;BYDAY=-1FR;COUNT=12",
        "yearly": "DTSTART;VALUE=DATE:20200229\nRRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29",
        "across-spring": "DTSTART;TZID=America/New_York:20260301T080000\nDURATION:PT1H\nRRULE:FREQ=WEEKLY;COUNT=6",
        "across-autumn": "DTSTART;TZID=Europe/London:20261020T080000\nDURATION:PT1H\nRRULE:FREQ=DAILY;COUNT=9",
        "southern": "DTSTART;TZID=Australia/Sydney:20260401T080000\nDURATION:PT1H\nRRULE:FREQ=DAILY;COUNT=9",
    }
    for name, lines in texts.items():
        yield f"form-{name}.ics", calendar(event(f"UID:{name}\nSUMMARY:{name}\n{lines}")).encode(), None
    moved = event("UID:moved\nSUMMARY:Moved\nRECURRENCE-ID;TZID=Europe/Berlin:20260303T090000\nDTSTART;TZID=Europe/Berlin:20260303T120000\nDURATION:PT2H")
    yield "form-moved.ics", calendar(event("UID:moved\nSUMMARY:Series\n" + series), moved).encode(), None
    yield "form-moved-first.ics", calendar(moved, event("UID:moved\nSUMMARY:Series\n" + series)).encode(), None
    yield "form-exdate-day.ics", calendar(event(f"UID:exday\nSUMMARY:x\n{series}\nEXDATE;VALUE=DATE:20260304")).encode(), (
        [f"2026-03-0{day}T08:00:00Z" for day in (2, 3, 5, 6, 7)], "an excluded day excludes the occurrence of the day")


def reminders():
    """Reminders: the due times are compared with todoman's, which asks icalendar."""
    due = ["DUE:20260401T090000Z", "DUE;TZID=Europe/Berlin:20260401T090000", "DUE;VALUE=DATE:20260401", "DUE:20260401T090000", "",
           "DTSTART:20260401T080000Z\nDUE:20260401T090000Z", "DUE;TZID=W. Europe Standard Time:20260401T090000", "DUE;TZID=GMT+0100:20260401T090000",
           "DUE:20260401T090000Z\nPRIORITY:1", "DUE:20260401T090000Z\nSTATUS:COMPLETED\nCOMPLETED:20260330T100000Z\nPERCENT-COMPLETE:100",
           "DTSTART;TZID=Europe/Berlin:20260401T090000\nDUE;TZID=Europe/Berlin:20260401T100000\nRRULE:FREQ=WEEKLY;COUNT=3",
           "DUE:20260401T090000Z\nPRIORITY:high", "DUE:20260401T090000Z\nDTSTART:20260401T090000Z\nRRULE:FREQ=SOMETIMES", "DUE:soon", "DUE:20260401T090000Z\nCOMPLETED:yes",
           "DUE;TZID=\"(UTC+01:00) Amsterdam, Berlin\":20260401T090000"]
    for index, lines in enumerate(due):
        yield f"todo-{index:02}.ics", calendar(event(f"UID:todo-{index}\nSUMMARY:Todo {index}\n{lines}", "VTODO")).encode(), None
    both = calendar(event("UID:mixed-e\nSUMMARY:Event\nDTSTART:20260401T090000Z\nDTEND:20260401T100000Z"), event("UID:mixed-t\nSUMMARY:Todo mixed\nDUE:20260402T090000Z", "VTODO"))
    yield "todo-mixed.ics", both.encode(), None


def mutations(count, seed=5):
    """Good files with a change that leaves their times as they are, or makes one of them unreadable."""
    source = random.Random(seed)
    base = [calendar(event(f"UID:m{index}\nSUMMARY:Mutated\nLOCATION:Somewhere\\, here\nDTSTART;TZID=Europe/Berlin:20260302T090000\n"
                           f"DTEND;TZID=Europe/Berlin:20260302T1{index}0000\nRRULE:FREQ=WEEKLY;COUNT=5\nX-OTHER;A=\"b;c:d\":kept"))
            for index in range(5)]

    def swap(lines):
        inner = lines[4:-3]
        source.shuffle(inner)
        return lines[:4] + inner + lines[-3:]

    def case(lines):
        place = source.randrange(3, len(lines) - 2)
        return lines[:place] + [re.sub("^[A-Z-]+", lambda match: match[0].lower(), lines[place])] + lines[place + 1:]

    def fold(lines):
        place = source.randrange(3, len(lines) - 2)
        cut = source.randrange(1, max(2, len(lines[place])))
        return lines[:place] + [lines[place][:cut] + "\r\n " + lines[place][cut:]] + lines[place + 1:]

    def blank(lines):
        place = source.randrange(4, len(lines) - 2)
        return lines[:place] + [""] + lines[place:]

    def unknown(lines):
        place = source.randrange(4, len(lines) - 2)
        return lines[:place] + [f"X-NEW-{source.randrange(99)};P=1:{source.random()}"] + lines[place:]

    def quoted(lines):
        return [line.replace("TZID=Europe/Berlin", 'TZID="Europe/Berlin"') for line in lines]

    kinds = [swap, case, fold, blank, unknown, quoted]
    for index in range(count):
        lines = source.choice(base).split("\r\n")
        for _ in range(source.randint(1, 3)):
            lines = source.choice(kinds)(lines)
        yield f"mutation-{index:02}.ics", "\r\n".join(lines).encode(), None
    for index, start in enumerate(["", "20260402", "2026-03-02T09:00", "20260230T090000", "99999999T999999"]):
        text = base[0].replace("20260302T090000\r\nDTEND", f"{start}\r\nDTEND")
        right = ([f"2026-04-{day:02}" for day in (2, 9, 16, 23, 30)], "a start that is a day") if start == "20260402" else ([], "the start cannot be read")
        yield f"mutation-start-{index}.ics", text.encode(), right


def series(count, seed=47):
    """Series whose occurrences python-dateutil has computed, too."""
    for index, line in enumerate((HERE / "series.json").read_text(encoding="utf-8").splitlines()):
        line = line.strip().rstrip(",")
        if index >= count or not line.startswith("{"):
            continue
        one = json.loads(line)
        parts = [event("UID:series\nSUMMARY:Series\n" + "\n".join(one["lines"]))]
        parts += [event("UID:series\nSUMMARY:Series\n" + "\n".join(lines)) for lines in one["overrides"]]
        cancelled = any("STATUS:CANCELLED" in lines for lines in one["overrides"])
        yield f"series-{index:02}.ics", calendar(*parts).encode(), "cancelled" if cancelled else None


def written_by_vobject(count=16):
    import datetime

    import vobject
    from dateutil import tz
    for index in range(count):
        made = vobject.iCalendar()
        one = made.add("vevent")
        one.add("uid").value = f"vobject-{index}"
        one.add("summary").value = f"By vobject, {index}; ünïcode"
        zone_name = ["Europe/Berlin", "America/New_York", "Asia/Tokyo", "UTC"][index % 4]
        start = datetime.datetime(2026, 3, 20 + index % 8, 8 + index % 12, 30, tzinfo=tz.gettz(zone_name))
        one.add("dtstart").value = start if index % 5 else start.date()
        one.add("dtend").value = start + datetime.timedelta(hours=2) if index % 5 else start.date() + datetime.timedelta(days=1)
        if index % 3 == 0:
            one.add("rrule").value = ["FREQ=DAILY;COUNT=5", "FREQ=WEEKLY;COUNT=7", "FREQ=MONTHLY;COUNT=4"][index // 3 % 3]
        data = made.serialize()
        right = None
        if "TZID:EST" in data:
            days = 5 if index == 9 else 1
            right = ([(start + datetime.timedelta(days=day)).astimezone(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ") for day in range(days)],
                     "vobject defines a zone under the name EST, which is another one in the database")
        yield f"vobject-{index:02}.ics", data.encode(), right


def written_by_khal():
    """Events that khal writes, in Berlin."""
    import os
    import subprocess
    import tempfile
    given = [
        ["2026-03-10", "10:00", "11:30", "By khal, with a comma"], ["2026-03-28", "23:00", "2026-03-29", "04:00", "Over the change"],
        ["2026-03-24", "A day"], ["2026-03-24", "2026-03-27", "Three days"], ["-r", "weekly", "-u", "2026-05-27", "2026-03-11", "08:00", "08:30", "Weekly"],
        ["-r", "daily", "-u", "2026-04-05", "2026-03-25", "02:30", "03:30", "Daily over the change"], ["-r", "monthly", "-u", "2026-12-31", "2026-01-31", "09:00", "10:00", "On the last"],
        ["-r", "yearly", "2026-03-01", "09:00", "10:00", "Each year"], ["-l", "Café; Nr. 5", "2026-04-01", "09:00", "10:00", "Grüße", "::", "Notes, with a comma"],
        ["-m", "15m", "2026-04-02", "09:00", "10:00", "With an alarm"],
    ]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "calendar").mkdir()
        (folder / "config").write_text(
            f"[calendars]\n[[one]]\npath = {folder}/calendar\n[locale]\ntimeformat = %H:%M\ndateformat = %Y-%m-%d\nlongdateformat = %Y-%m-%d\n"
            "datetimeformat = %Y-%m-%d %H:%M\nlongdatetimeformat = %Y-%m-%d %H:%M\nlocal_timezone = Europe/Berlin\ndefault_timezone = Europe/Berlin\n"
            f"[default]\ndefault_calendar = one\n[sqlite]\npath = {folder}/khal.db\n", encoding="utf-8")
        environment = {**os.environ, "TZ": "Europe/Berlin", "LC_ALL": "C.UTF-8", "PYTHONPATH": ""}
        for index, words in enumerate(given):
            before = set((folder / "calendar").iterdir())
            subprocess.run(["khal", "-c", folder / "config", "new", "-a", "one", *words], check=True, capture_output=True, env=environment)
            made = set((folder / "calendar").iterdir()) - before
            assert len(made) == 1, words
            yield f"khal-{index:02}.ics", made.pop().read_bytes(), None


def all_cases():
    for name, data in given():
        if name.endswith(".ics"):
            yield name, data, EXCEPTIONS.get(name)
    for group in (zones(), encodings(), forms(), reminders(), mutations(30), series(24), written_by_vobject(), written_by_khal()):
        yield from group
