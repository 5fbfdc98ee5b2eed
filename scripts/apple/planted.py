#!/usr/bin/env python3
"""Plants the 30 errors of plants.json, each alone, in a copy of the sources, and shows that `make apple` finds every one.

    scripts/apple/planted.py            all
    scripts/apple/planted.py NUMBER…    these, counted from 1

Each error names its kind and where it is found: `apple` in every configuration, `macos` on macOS alone, `26` or `27` with that SDK
alone. Those of the kind `sil` are also compiled with `-typecheck`, which has to miss them.
"""
import collections
import json
import os
import pathlib
import shutil
import sys
import tempfile

import sdk
from manifest import Manifest, location
from targets import Configuration

# A framework whose second version has other declarations than its first.
KIT = """// developer.apple.com/documentation
public enum Planted {
    #if SDK_27
    public static func added() -> Int {}
    #else
    public static func removed() -> Int {}
    #endif
}

// developer.apple.com/documentation
public protocol PlantedProtocol {
    func old()
    #if SDK_27
    func added()
    #endif
}
"""
WHERE = {
    "apple": ["ios", "macos", "ios-sdk26", "ios-llama"], "macos": ["macos"], "26": ["ios-sdk26"],
    "27": ["ios", "macos", "ios-llama"],
}


class Field:
    """A copy of the tree, with all configurations."""

    def __init__(self, folder: pathlib.Path):
        root, self.cache = location()
        self.root = folder
        shutil.copytree(root / "Sources", folder / "Sources", symlinks=True)
        shutil.copy(root / "Package.swift", folder)
        # The stubs of the tree, and the framework above.
        shutil.copytree(sdk.HERE / "stubs", folder / "stubs")
        kit = folder / "stubs/PlantedKit"
        kit.mkdir()
        (kit / "PlantedKit.swift").write_text(KIT)
        (kit / "stub.json").write_text('{"versions": {"26": "1.4", "27": "2.0"}}')
        self.table = json.loads((sdk.HERE / "table.json").read_text())
        self.manifest = Manifest(folder, self.cache, "mac")

    def found(self, target: str, names: list[str], stage: str) -> dict[str, str]:
        """The configurations that refuse the target, each with its first message."""
        messages = {}
        for name in names:
            configuration = Configuration(name, self.table["configurations"][name], self.manifest, self.cache, self.root)
            configuration.sdk.read_stubs(self.root / "stubs")
            for needed in self.manifest.closure(target, configuration.platform, configuration.traits):
                if self.manifest.is_swift(needed):
                    configuration.compile(needed)
            configuration.stage = stage
            errors = "\n".join(configuration.compile(target).errors).splitlines()
            lines = [line for line in errors if "error: " in line and not line.startswith(" ")]
            if errors:
                messages[name] = lines[0] if lines else errors[0]
        return messages

    def plant(self, plant: dict) -> list[str]:
        """What is wrong with the finding of one error."""
        path = self.root / "Sources" / plant["target"] / plant["file"]
        before = path.read_text() if path.exists() else None
        if "find" in plant and (before or "").count(plant["find"]) < 1:
            return [f"{path.name} no longer has the text {plant['find']!r}"]
        path.write_text(before.replace(plant["find"], plant["put"], 1) if "find" in plant else plant["put"])
        try:
            names = WHERE["apple"]
            messages = self.found(plant["target"], names, "-emit-sil")
            wrong = [f"not found in {name}" for name in WHERE[plant["in"]] if name not in messages]
            wrong += [f"also found in {name}: {messages[name]}" for name in messages if name not in WHERE[plant["in"]]]
            wrong += [
                f"{name} tells of another place: {message}" for name, message in messages.items()
                if plant["file"] not in message]
            if plant["kind"] == "sil":
                missed = self.found(plant["target"], ["ios"], "-typecheck")
                wrong += [f"-typecheck finds it, too: {message}" for message in missed.values()]
        finally:
            if before is None:
                path.unlink()
            else:
                path.write_text(before)
        print(f"     {next(iter(messages.values()), 'nothing')[:150]}", flush=True)
        return wrong


def main() -> int:
    os.environ.setdefault("llama_prefix", "")
    plants = json.loads((sdk.HERE / "plants.json").read_text())
    chosen = [int(number) for number in sys.argv[1:]] or range(1, len(plants) + 1)
    kinds: collections.Counter = collections.Counter()
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        field = Field(pathlib.Path(folder))
        for number in chosen:
            plant = plants[number - 1]
            print(f"{number:3}. {plant['kind']} in {plant['target']}/{plant['file']}, to be found in {plant['in']}", flush=True)
            wrong = field.plant(plant)
            print("".join(f"     WRONG: {text}\n" for text in wrong), end="", flush=True)
            if wrong:
                failed.append(number)
            else:
                kinds[plant["kind"]] += 1
    shown = ", ".join(f"{count} of {kind}" for kind, count in kinds.items())
    print(f"planted: {sum(kinds.values())} of {len(chosen)} errors found where they have to be ({shown})")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
