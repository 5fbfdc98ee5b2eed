#!/usr/bin/env python3
"""Checks that each row of docs/requirements has a state, and that the tests, walks and checks of the page it names exist.

    scripts/tests/requirements.py             exit status 1 if a row names what does not exist
    scripts/tests/requirements.py --filter    prints the choice of `swift test --filter` for the tests of all rows
    scripts/tests/requirements.py --walks     prints the walks of all rows, for scripts/walks/run.sh
    scripts/tests/requirements.py --page      prints the checks of all rows, for scripts/page/run.sh

A row names a test as `Suite.function`, a walk as `walks: name`, a check of the page as `page: file.check_name`.
"""
import glob
import os
import re
import sys

FOLDER = "docs/requirements"
# Rows that no test of this machine can show.
ELSEWHERE = ("Apple",)
TYPE = re.compile(r"\s*(?:@\w+(?:\([^@]*\))?\s+)*(?:(?:package|public|private|fileprivate|final|nonisolated) )*"
                  r"(?:struct|class|enum|extension|actor) ([\w.]+)")


def tests():
    """The tests of all suites, as `Suite.function`; of a suite in a suite, `Outer.Suite.function`."""
    for path in glob.glob("Tests/**/*.swift", recursive=True):
        types, is_test = [], False
        with open(path, encoding="utf-8") as file:
            for line in file:
                depth = len(line) - len(line.lstrip())
                found = TYPE.match(line)
                if found:
                    types = [(place, name) for place, name in types if place < depth] + [(depth, found[1])]
                is_test = is_test or re.search(r"@Test\b", line) is not None
                function = re.search(r"\bfunc (\w+)", line)
                if function and is_test:
                    is_test = False
                    yield ".".join([name for place, name in types if place < depth] + [function[1]])


def functions(pattern, prefix):
    """The functions of scripts that begin with a prefix, as (name of the file, rest of the name)."""
    for path in glob.glob(pattern):
        with open(path, encoding="utf-8") as file:
            for name in re.findall(rf"^def ({prefix}\w+)", file.read(), re.M):
                yield os.path.basename(path)[:-len(".py")], name


def rows():
    """The rows of all tables: the file and the row's name, the state, what shows it."""
    for path in sorted(glob.glob(f"{FOLDER}/*.md")):
        with open(path, encoding="utf-8") as file:
            for line in file:
                cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
                if re.fullmatch(r"[A-D]\d+", cells[0].lstrip("| ")):
                    yield path, cells[0].lstrip("| "), cells


def named(cells):
    """What the last cell of a row names: tests, walks and checks of the page."""
    spans = re.findall(r"`([^`]+)`", cells[-1])
    return ([span for span in spans if re.fullmatch(r"[A-Z]\w*(\.[A-Z]\w*)*\.[a-z]\w*", span)],
            [span[len("walks: "):] for span in spans if span.startswith("walks: ")],
            [span[len("page: "):] for span in spans if span.startswith("page: ")])


def problems():
    known = set(tests())
    walks = {name[len("walk_"):] for _, name in functions("scripts/walks/walk_*.py", "walk_")}
    checks = {f"{file}.{name}" for file, name in functions("scripts/page/*.py", "check_")}
    last = {}
    for path, row, cells in rows():
        place = f"{path}: {row}"
        # A1, A2 and so on, without a gap.
        if int(row[1:]) != last.get((path, row[0]), 0) + 1:
            yield f"{place} does not follow {row[0]}{last.get((path, row[0]), 0)}"
        last[path, row[0]] = int(row[1:])
        if len(cells) != 4:
            yield f"{place} has {len(cells)} cells"
            continue
        if not re.fullmatch(r"works|works otherwise: .+|" + "|".join(ELSEWHERE), cells[2]):
            yield f"{place} has the unknown state {cells[2]}"
        shown, walked, checked = named(cells)
        if cells[2] not in ELSEWHERE and not shown and not walked and not checked:
            yield f"{place} is shown by nothing"
        yield from (f"{place} names the test {name}, which does not exist" for name in shown if name not in known)
        yield from (f"{place} names the walk {name}, which does not exist" for name in walked if name not in walks)
        yield from (f"{place} names the check {name}, which does not exist" for name in checked if name not in checks)
    if not last:
        yield f"{FOLDER} has no rows"


os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
everything = [named(cells) for _, _, cells in rows()]
match sys.argv[1:]:
    case []:
        found = list(problems())
        print("\n".join(found), end="\n" if found else "")
        sys.exit(1 if found else 0)
    case ["--filter"]:
        suites = {}
        for name in sorted({name for tests, _, _ in everything for name in tests}):
            suite, function = name.split(".")[-2:]
            suites.setdefault(suite, set()).add(function)
        print("|".join(rf"{suite}/({'|'.join(sorted(suites[suite]))})\(" for suite in sorted(suites)))
    case ["--walks"]:
        files = dict((name[len("walk_"):], file[len("walk_"):]) for file, name in functions("scripts/walks/walk_*.py", "walk_"))
        print(" ".join(f"{files[name]}:{name}" for name in sorted({name for _, walks, _ in everything for name in walks})))
    case ["--page"]:
        print(" ".join(sorted({name.replace(".", ":") for _, _, checks in everything for name in checks})))
    case _:
        sys.exit(__doc__)
