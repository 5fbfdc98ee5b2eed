#!/usr/bin/env python3
"""Copies the words that the views share with the page: texts/*.js of the page into Sources/HearthUI/Words.

    scripts/apple/words.py          writes the Swift files
    scripts/apple/words.py --check  ends with 1 if they differ, or if a view uses a word that the page lacks
"""
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEXTS = ROOT / "Sources/CPage/page/texts"
VIEWS = ROOT / "Sources/HearthUI"
SAMPLE = ROOT / "Examples/HearthSample"
PAIR = re.compile(r'("(?:[^"\\]|\\.)*"):\s*("(?:[^"\\]|\\.)*")')
# A view names a word in full, or begins its name with these texts and ends it with a code.
NAMED = re.compile(r'\b(?:words|self|Words\(locale\))\(\s*"([^"\\]+)"')
CHOSEN = re.compile(r'\? "([a-z.-]+)" : "([a-z.-]+)"')
FAMILIES = re.compile(r'\b(?:of|word)\("([^"\\]+)"')
# A name that is put together as it is looked up is not found.
JOINED = re.compile(r'\b(?:words|word|of|Words\(locale\))\(\s*"([^"]*\\\([^"]*)"')
LANGUAGES = {"en": "English", "de": "German"}
PARTS = ["", "models", "forms", "answer", "read"]


def pairs(name: str) -> dict[str, str]:
    """The words of a file of the page."""
    return {json.loads(key): json.loads(value) for key, value in PAIR.findall((TEXTS / f"{name}.js").read_text())}


def table(language: str) -> dict[str, str]:
    words: dict[str, str] = {}
    for part in PARTS:
        words |= pairs(f"{part}-{language}" if part else language)
    return words


def used(words: dict[str, str]) -> tuple[list[str], list[str]]:
    """The keys that the views use, and the names without a word."""
    text = "\n".join(
        path.read_text() for folder in (VIEWS, SAMPLE) for path in sorted(folder.rglob("*.swift"))
        if "Words+" not in path.name)
    names, families = set(NAMED.findall(text)), set(FAMILIES.findall(text))
    names |= {name for pair in CHOSEN.findall(text) for name in pair if f"{name}" in words}
    keys = {
        key for key in words
        if key in names or key.rsplit(".", 1)[0] in names and key.rsplit(".", 1)[1] in ("one", "other")
        or any(key.startswith(f"{family}.") for family in families)}
    missing = [
        name for name in names if name not in keys and f"{name}.other" not in keys] + [
        family for family in families if not any(key.startswith(f"{family}.") for key in keys)]
    return sorted(keys), missing + JOINED.findall(text)


def swift(comment: str, name: str, words: dict[str, str]) -> str:
    lines = [f"        {json.dumps(key, ensure_ascii=False)}:\n            {json.dumps(value, ensure_ascii=False)}," for key, value in words.items()]
    return (
        "// Written by scripts/apple/words.py from the texts of the page.\n\nextension Words {\n"
        f"    /// {comment}\n    static let {name}: [String: String] = [\n" + "\n".join(lines) + "\n    ]\n}\n")


def main() -> int:
    tables = {language: table(language) for language in LANGUAGES}
    keys, missing = used(tables["en"])
    missing += [key for key in keys if key not in tables["de"]]
    files = {
        f"Words+{LANGUAGES[language]}.swift": swift(
            f"The words in {LANGUAGES[language]}.", LANGUAGES[language].lower(), {key: words[key] for key in keys if key in words})
        for language, words in tables.items()}
    files["Words+Refusals.swift"] = swift(
        "The sentences of failures in German, by code.", "refusals", pairs("refusals-de"))
    if missing:
        print(f"words: the page has no words for {', '.join(sorted(missing))}", file=sys.stderr)
        return 1
    changed = [name for name, text in files.items() if not (VIEWS / "Words" / name).exists() or (VIEWS / "Words" / name).read_text() != text]
    if "--check" not in sys.argv:
        for name in changed:
            (VIEWS / "Words" / name).write_text(files[name])
        return 0
    for name in changed:
        print(f"words: {name} differs from the page: run scripts/apple/words.py", file=sys.stderr)
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main())
