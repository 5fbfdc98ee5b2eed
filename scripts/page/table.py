#!/usr/bin/env python3
"""Writes Sources/CPage/files.inc, the table of the page's files in Sources/CPage/page.

    scripts/page/table.py            writes the table; run it after a file was added, renamed or removed
    scripts/page/table.py --check    fails if the table differs from the folder
"""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDER = os.path.join(ROOT, "Sources/CPage/page")
TABLE = os.path.join(ROOT, "Sources/CPage/files.inc")
ENDINGS = (".html", ".js", ".css", ".json", ".svg", ".png", ".ico", ".woff2", ".webmanifest", ".txt")


def names():
    found = []
    for folder, _, files in os.walk(FOLDER):
        for file in files:
            path = os.path.join(folder, file)
            name = os.path.relpath(path, FOLDER)
            if not file.endswith(ENDINGS) or not re.fullmatch(r"[A-Za-z0-9_./-]+", name):
                sys.exit(f"page/table.py: the page has no use for {name}: give it another name or ending")
            # An empty file cannot be embedded as an array.
            if os.path.getsize(path) > 0:
                found.append(name)
    return sorted(found)


def table():
    lines = ["// Written by scripts/page/table.py: the files of Sources/CPage/page."]
    entries = []
    for name in names():
        # Named by its file, so that a new file changes no other line.
        array = "page_" + re.sub(r"\W", "_", name)
        lines += [f"static const unsigned char {array}[] = {{", f'#embed "page/{name}"', "};"]
        entries.append(f'    HEARTH_PAGE_ENTRY("{name}", {array})')
    lines += ["", "#define HEARTH_PAGE_FILES \\"]
    lines.append(" \\\n".join(entries))
    return "\n".join(lines) + "\n"


text = table()
if sys.argv[1:] == ["--check"]:
    with open(TABLE, encoding="utf-8") as file:
        if file.read() != text:
            sys.exit("page/table.py: Sources/CPage/files.inc is out of date: run scripts/page/table.py")
elif not sys.argv[1:]:
    with open(TABLE, "w", encoding="utf-8") as file:
        file.write(text)
else:
    sys.exit(__doc__)
