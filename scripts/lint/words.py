#!/usr/bin/env python3
"""Finds figures of speech and retired names in comments, string literals and documentation, and words of the command
line in string literals of the libraries.

    scripts/lint/words.py                    checks the enforced files; exit status 1 if there is a hit
    scripts/lint/words.py --report PATH...   prints the hits below the paths and their number per file; always exits 0
"""
import glob
import os
import re
import sys

# What has to be clean: all sources, scripts and documents. docs/evidence and docs/api are made by programs.
ENFORCED = ["Sources", "scripts", "Makefile", "Package.swift", *sorted(glob.glob("*.md")), *sorted(glob.glob("docs/*.md")), "docs/requirements"]

# Each phrase with the reason it is refused; the phrases are matched as whole words, in any case.
PHRASES = {
    "name the actor": [
        r"whoever", r"nobody", r"somebody", r"anybody", r"everybody", r"behind (?:\w+ )?\w+(?:['’]s)? back",
        r"as far as any(?:body|one) knows",
    ],
    "name the fact": [
        r"(?<!there )is none", r"by itself", r"g(?:i|a)ves? way", r"ha(?:s|ve) to do(?! with)", r"at work", r"lets? go",
        r"letting go", r"h(?:o|e)lds? on to", r"holding on to", r"(?:lets|takes) in who", r"c(?:o|a)mes? apart",
        r"is there(?=[.,;:)]|$)",
    ],
    "one spelling": [r"licen[c]es?", r"organi[s]ations?", r"quanti[s](?:e[ds]?|ing|ations?)", r"publici[s]e[sd]?"],
    "retired name": [
        r"artefacts?", r"made to fit", r"mend(?:s|ed|ing)?", r"changes? over", r"change-over", r"standing",
        r"wish(?:es|ed)?", r"shel(?:f|ves)", r"left-?overs?", r"visitors?", r"knock(?:s|ed|ing)?", r"odds",
        r"departures?", r"patience", r"flights?", r"take-?offs?", r"airports?",
    ],
}
RULES = [(re.compile(r"(?<![\w-])(?:" + p + r")(?![\w-])", re.I), why) for why, ps in PHRASES.items() for p in ps]
# `making` is a plain verb; as a part of the name of a type it is retired.
COMPOUND = re.compile(r"\bMaking[A-Z]\w*|\b[A-Za-z]+Making\b")

# Retired names as words of an identifier, in folders whose names are changed; extend the list with them.
RENAMED = ["Sources/Hearth/", "Sources/HearthCommand/"]
IDENTIFIER = re.compile(r"\b[A-Za-z]\w*\b")
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
RETIRED = {
    "artefact", "artefacts", "mend", "mended", "mending", "standing", "wish", "wishes", "shelf", "shelves", "leftover",
    "leftovers", "visitor", "visitors", "knock", "odds", "departure", "patience", "flight", "takeoff", "airport",
}

# The libraries serve apps, whose users have no command line; `HearthCommand` adds its words to the remedies. The refusals of
# the server are read by programmers of its clients, and name the command that makes a key.
COMMAND_LINE = re.compile(
    r"\bhearth (?:chat|config|doctor|host|licenses|list|models|prune|publish|pull|remove|rollback|route|show|transfers|update|use|verify)\b"
    r"|(?<![\w-])(?<!keys create NAME )--[a-z]+(?:-[a-z]+)*|\b(?:HF|HEARTH)_[A-Z_]+")
# The apps that are connected have options and variables of their own.
LIBRARY = re.compile(r"Sources/Hearth(?!Command/|TestSupport/|Server/Connect/Apps/)\w*/.*\.swift$")

SWIFT = re.compile(r'(?P<text>#?"""[\s\S]*?"""#?|#"[^\n]*?"#|"(?:\\.|[^"\\\n])*")|(?P<comment>//[^\n]*|/\*[\s\S]*?\*/)')
INTERPOLATION = re.compile(r"\\#?\((?:[^()\n]|\((?:[^()\n]|\([^()\n]*\))*\))*\)")
CODE = re.compile(r"```[\s\S]*?```|``[^`\n]*``|`[^`\n]*`")
SHELL = re.compile(r"(?:^|\s)#[^\n]*|\"[^\"\n]*\"", re.M)


def blank(match):
    """Replaces code by a mark of as many lines, so that line numbers stay."""
    return "\u00b7" + "\n" * match.group().count("\n")


def prose(path, text):
    """The parts of a file that people read, each with its line."""
    if path.endswith(".md"):
        return [(1, text)]
    pattern = SWIFT if path.endswith((".swift", ".h", ".c", ".cpp", ".js", ".css", ".html")) else SHELL
    return [(text.count("\n", 0, m.start()) + 1, m.group()) for m in pattern.finditer(text)]


def hits(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if path.endswith(".swift") and path.startswith(tuple(RENAMED)):
        for number, line in enumerate(SWIFT.sub(blank, text).split("\n"), 1):
            for name in IDENTIFIER.findall(line):
                if RETIRED & {word.lower() for word in WORD.findall(name)}:
                    yield number, name, "retired name"
    isLibrary = LIBRARY.search(path)
    for first, part in prose(path, text):
        # The name of a variable alone is a key of the environment.
        if isLibrary and part[0] in '"#' and not re.fullmatch(r'"\w+"', part):
            for match in COMMAND_LINE.finditer(part):
                yield first + part.count("\n", 0, match.start()), match.group(), "a word of the command line"
        raw = INTERPOLATION.sub(blank, part)
        found = [(m, "retired name") for m in COMPOUND.finditer(raw)]
        for match, why in found:
            yield first + raw.count("\n", 0, match.start()), match.group(), why
        plain = CODE.sub(blank, raw)
        for rule, why in RULES:
            for match in rule.finditer(plain):
                yield first + plain.count("\n", 0, match.start()), match.group(), why


def files(place):
    if os.path.isfile(place):
        yield place
    for folder, _, names in os.walk(place):
        for name in sorted(names):
            # This file has all of them, and the other is German.
            if name != os.path.basename(__file__) and not re.search(r"(^|-)de\.js$", name) and name.endswith((".swift", ".h", ".c", ".cpp", ".md", ".sh", ".py", ".js", ".css", ".html")):
                yield os.path.join(folder, name)


arguments = sys.argv[1:]
isReport = arguments[:1] == ["--report"]
total = 0
for place in arguments[1:] if isReport else ENFORCED:
    if not os.path.exists(place):
        sys.exit(f"scripts/lint/words.py: {place} does not exist; correct the list in the script")
    for path in files(place):
        found = sorted(hits(path))
        total += len(found)
        for line, phrase, why in found:
            print(f"{path}:{line}: \"{phrase}\" ({why})")
        if found and isReport:
            print(f"{path}: {len(found)}")
sys.exit(1 if total and not isReport else 0)
