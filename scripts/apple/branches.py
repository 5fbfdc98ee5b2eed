#!/usr/bin/env python3
"""Tells which configurations compile each `#if` branch of the sources, those of Linux among them.

    scripts/apple/branches.py           the branches by their conditions, and those that no configuration compiles
    scripts/apple/branches.py --all     each branch with its place

The exit status is 1 if a branch is compiled by none. Conditions are read with the compiler's rules: an `#elseif` holds if no
branch before it does, and a branch is compiled if the branches around it are.
"""
import dataclasses
import json
import os
import pathlib
import re
import sys

from manifest import Manifest, location
from sdk import HERE, Stub

DIRECTIVE = re.compile(r"^\s*#(if|elseif|else|endif)\b(.*?)\s*(?://.*)?$")
WORD = re.compile(r"\s*(&&|\|\||!|\(|\)|>=|<|,|\w+:?|[\d.]+|\S)")


@dataclasses.dataclass
class View:
    """One way in which the sources are compiled."""

    name: str
    system: str
    machine: str
    modules: dict[str, str]  # A module that can be imported, and its version.
    words: set[str]
    targets: set[str]

    def holds(self, text: str) -> bool:
        """Whether a condition holds."""
        tokens = WORD.findall(text)
        value = self.either(tokens)
        if tokens:
            raise SystemExit(f"branches: what is {' '.join(tokens)} in #if {text}?")
        return value

    def either(self, tokens: list[str]) -> bool:
        value = self.both(tokens)
        while tokens[:1] == ["||"]:
            tokens.pop(0)
            value = self.both(tokens) or value
        return value

    def both(self, tokens: list[str]) -> bool:
        value = self.one(tokens)
        while tokens[:1] == ["&&"]:
            tokens.pop(0)
            value = self.one(tokens) and value
        return value

    def one(self, tokens: list[str]) -> bool:
        word = tokens.pop(0)
        if word == "!":
            return not self.one(tokens)
        if word == "(":
            value = self.either(tokens)
            tokens.pop(0)
            return value
        if tokens[:1] != ["("]:
            return word == "true" or word in self.words
        end = tokens.index(")")
        arguments, tokens[: end + 1] = tokens[1:end], []
        return self.call(word, arguments)

    def call(self, name: str, arguments: list[str]) -> bool:
        first = arguments[0]
        if name == "os":
            return first == self.system
        if name == "arch":
            return first == self.machine
        if name == "canImport":
            wanted = "".join(arguments[3:]) if "_version:" in arguments else "0"
            return first in self.modules and numbers(self.modules[first] or "1") >= numbers(wanted)
        if name == "targetEnvironment":
            return False
        if name in ("swift", "compiler"):
            version = numbers("".join(arguments[1:]))
            return (6, 3) >= version if first == ">=" else (6, 3) < version
        if name in ("hasFeature", "hasAttribute"):
            return True
        raise SystemExit(f"branches: {name}({' '.join(arguments)}) is not understood")


def numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))


def branches(source: pathlib.Path, views: list[View]):
    """Each branch: its line, its condition with those before it, and the views that compile it."""
    stack: list[dict] = []
    is_text = False
    for number, line in enumerate(source.read_text().splitlines(), 1):
        if line.count('"""') % 2:
            is_text = not is_text
        found = None if is_text else DIRECTIVE.match(line)
        if not found:
            continue
        kind, condition = found.groups()
        if kind == "if":
            stack.append({"around": stack[-1]["now"] if stack else views, "left": None, "text": ""})
            stack[-1]["left"] = stack[-1]["around"]
        level = stack[-1]
        if kind == "endif":
            stack.pop()
            continue
        level["now"] = [view for view in level["left"] if kind == "else" or view.holds(condition)]
        level["left"] = [view for view in level["left"] if view not in level["now"]]
        level["text"] = (level["text"] + " / " if level["text"] else "") + (f"#{kind}{condition}" if kind != "else" else "#else")
        yield number, level["text"], level["now"]


def linux(manifest: Manifest, name: str, traits: list[str]) -> View:
    """A build of the whole package on this machine."""
    modules = {target: "" for target in manifest.targets} | {name: "" for name in ("Foundation", "FoundationNetworking", "Glibc")}
    modules |= {"Dispatch": "", "Observation": "", "Synchronization": ""}
    return View(name, "Linux", os.uname().machine, modules, set(traits), set(manifest.targets))


def apple(manifest: Manifest, table: dict, name: str) -> View:
    """A configuration of `make apple`."""
    facts = table["configurations"][name]
    platform, traits = facts["platform"], facts["traits"]
    modules = {"Foundation": "", "Dispatch": "", "Observation": "", "Synchronization": ""}
    for folder in (HERE / "stubs").iterdir():
        stub = Stub(folder)
        if stub.is_on(platform):
            modules[folder.name] = stub.version(facts["sdk"])
    targets = {
        target for target, where in table["targets"].items()
        if (where == "all" or name in where) and target in manifest.targets}
    for target in list(targets):
        targets |= set(manifest.closure(target, platform, traits))
    return View(
        name, {"ios": "iOS", "macos": "macOS"}[platform], "arm64", modules | {target: "" for target in targets}, set(traits), targets)


def main() -> int:
    root, cache = location()
    table, manifest = json.loads((HERE / "table.json").read_text()), Manifest(root, cache, "linux")
    mac = Manifest(root, cache, "mac")
    views = [linux(manifest, f"linux{suffix}", traits) for suffix, traits in table["linux"].items()]
    views += [apple(mac, table, name) for name in table["configurations"]]
    groups: dict[tuple[str, str], list[str]] = {}
    total, never = 0, []
    for name, target in manifest.targets.items():
        if target["type"] == "test" or "Tests" in str(manifest.folder(name)) or not manifest.is_swift(name):
            continue
        for source in manifest.sources(name):
            for line, text, compiled in branches(source, [view for view in views if name in view.targets]):
                place = f"{source.relative_to(root)}:{line}"
                total += 1
                names = " ".join(view.name for view in compiled)
                groups.setdefault((text, names), []).append(place)
                if not compiled:
                    never.append(f"{place}: {text}")
    if "--all" in sys.argv:
        for (text, names), places in sorted(groups.items()):
            print("\n".join(f"{place}: {text}: {names or 'none'}" for place in places))
    else:
        for (text, names), places in sorted(groups.items()):
            print(f"{len(places):4} {text}: {names or 'none'}")
    print(f"branches: {total}, {len(never)} that no configuration compiles")
    print("\n".join(never), end="\n" if never else "")
    return 1 if never else 0


if __name__ == "__main__":
    sys.exit(main())
