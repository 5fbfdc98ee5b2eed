#!/usr/bin/env python3
"""Writes scripts/README.md, the index of the scripts, out of the first sentence of each.

    scripts/lint/index.py            writes the index
    scripts/lint/index.py --check    fails if it is out of date, if a stage of `make verify` has no folder or a folder's stage.sh is
                                     no stage, if a document names a stage or a script that does not exist, or
                                     if docs/evidence has more than one small record of each stage
"""
import glob
import os
import re
import subprocess
import sys
import textwrap

INDEX = "scripts/README.md"
HEAD = """# Scripts

The stage X of `make verify` is `scripts/X/stage.sh`; the folders in the second list serve several
stages. `scripts/lint/index.py` writes this page out of the first sentence of each file.
"""
# Files without comments.
SAID = {
    "apple/plants.json": "The errors that scripts/apple/planted.py plants.",
    "apple/table.json": "The configurations of `make apple`, and the targets that each compiles.",
    "bench/thresholds.json": "The bars of the benchmarks.",
    "clients/llama-server-tests.txt": "The tests of llama.cpp's server that pass.",
    "publish/sigv4.json": "Requests that botocore has signed.",
    "schemas/schemas.jsonl": "The schemas.",
    "schemas/patterns.jsonl": "The patterns of the tools.",
    "stores/cases.jsonl": "Files of calendars and contacts that other programs were reported to read wrongly.",
    "stores/series.json": "Series of events whose occurrences python-dateutil has computed.",
}
# Interfaces of Apple's system, and what runs against them, which scripts/apple/README.md explains.
DECLARATIONS = ("scripts/apple/sdk/", "scripts/apple/stubs/", "scripts/apple/listings/", "scripts/siblings/stand-ins/",
                "scripts/siblings/additions/")
# What may name stages and scripts that have been: records of their time.
HISTORY = ("docs/evidence/",)


def tracked(*places):
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", "--", *places]
    names = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\0")
    return sorted(name for name in names if name and os.path.exists(name))


def sentence(path):
    """What a script says first."""
    name = path[len("scripts/"):]
    if name in SAID:
        return SAID[name]
    with open(path, encoding="utf-8") as file:
        text = file.read()
    text = re.sub(r"\A#!.*\n", "", text)
    if text.startswith('"""'):
        text = text[3:text.index('"""', 3)]
    elif text.startswith("//"):
        text = "\n".join(line[2:] for line in re.match(r"(//.*\n)+", text)[0].splitlines())
    elif text.startswith("#"):
        text = "\n".join(line[1:] for line in re.match(r"(#.*\n)+", text)[0].splitlines())
    else:
        sys.exit(f"{path} does not begin with what it is; or say it in scripts/lint/index.py")
    # Up to the end of the sentence, or where the examples begin; without the name of the script and its arguments.
    text = re.split(r"\n\s*\n|\n {2,}|\n\t", text)[0]
    text = re.sub(rf"^({re.escape(os.path.basename(path))}\b[^:.]*|make [a-z-]+): ", "", " ".join(text.split()))
    text = re.split(r"[.:](?=$)|\.(?= [A-Z])", text)[0].strip()
    if len(text) > 160:
        text = re.split(r"[:;](?= )", text)[0]
    return text[0].upper() + text[1:] + "." if text.split()[0].islower() else text + "."


def index(stages, files):
    folders = {}
    for path in files:
        parts = path.split("/")
        folders.setdefault(parts[1] if len(parts) > 2 else "", []).append(path)
    lines = [HEAD]

    def section(title, names):
        lines.append(f"## {title}\n")
        for name in names:
            if name:
                lines.append(f"`{name}/`\n")
            for path in sorted(folders[name], key=lambda path: (not path.endswith("/stage.sh"), path)):
                text = f"`{path.split('/', 2)[-1] if name else path[len('scripts/'):]}`: {sentence(path)}"
                lines.append(textwrap.fill(text, 100, initial_indent="- ", subsequent_indent="  ", break_long_words=False,
                                           break_on_hyphens=False))
            lines.append("")

    section("Set-up and goals of make", [""])
    section("Stages", stages)
    section("Shared by stages", sorted(set(folders) - set(stages) - {""}))
    return "\n".join(lines).rstrip() + "\n"


def problems(stages):
    for stage in stages:
        if not os.access(f"scripts/{stage}/stage.sh", os.X_OK):
            yield f"the stage {stage} has no scripts/{stage}/stage.sh that can be run"
    for path in glob.glob("scripts/*/stage.sh"):
        if path.split("/")[1] not in stages:
            yield f"{path} is no stage of scripts/verify.sh"
    for path in tracked("*.md", "*.swift", "*.sh", "*.py", "*.h", "Makefile"):
        if path.startswith(HISTORY) or path == INDEX:
            continue
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                for name in re.findall(r"\bSTAGE=([a-z][a-z-]*)", line):
                    if name not in stages:
                        yield f"{path}:{number}: no stage is named {name}"
                for name in re.findall(r"(?<![\w./$}-])scripts/[\w./-]*\w", line):
                    if not glob.glob(name + "*") and not re.search(r"/[A-Z]+\b", name):
                        yield f"{path}:{number}: there is no {name}"


def records(stages):
    """What docs/evidence has beside the newest passing record of each stage."""
    seen = {}
    for path in sorted(glob.glob("docs/evidence/*"), reverse=True):
        stage = re.fullmatch(r"docs/evidence/\d{4}-\d\d-\d\d-(.*)\.md", path)
        if not stage or stage[1] not in stages:
            yield f"{path} is no record of a stage"
        elif seen.setdefault(stage[1], path) != path:
            yield f"{path} is older than {seen[stage[1]]}"
        elif os.path.getsize(path) > 3000:
            yield f"{path} has more than 3,000 bytes"


os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
stages = subprocess.run(["scripts/verify.sh", "--stages"], check=True, capture_output=True, text=True).stdout.split()
text = index(stages, [path for path in tracked("scripts") if path != INDEX and not path.startswith(DECLARATIONS)])
found = []
if sys.argv[1:] == ["--check"]:
    with open(INDEX, encoding="utf-8") as file:
        if file.read() != text:
            found.append(f"{INDEX} is out of date: run scripts/lint/index.py")
    found += [*problems(stages), *records(stages)]
elif not sys.argv[1:]:
    with open(INDEX, "w", encoding="utf-8") as file:
        file.write(text)
else:
    sys.exit(__doc__)
print("\n".join(found), end="\n" if found else "")
sys.exit(1 if found else 0)
