#!/usr/bin/env python3
"""Checks that a Mac's reading of the manifest leads an app for iOS to no target that only Linux or a computer has.

    scripts/apple/graph.py

A library that is found through pkg-config is one of Linux or of Homebrew. `table.json` names further targets under `computers`.
"""
import json
import sys

from manifest import Manifest, location
from sdk import HERE


def problems(manifest: Manifest, computers: list[str]):
    """What an app for iOS would have to build, and cannot."""
    roots = {
        target: product["name"] for product in manifest.package["products"] for target in product["targets"]
        if "library" in product["type"] and target not in computers}
    for root, product in roots.items():
        for traits in ([], ["Llama"]):
            for name in [*manifest.closure(root, "ios", traits), root]:
                target = manifest.targets.get(name)
                if target is None:
                    yield f"{product}: {root} needs {name}, which no Mac has"
                elif target.get("pkgConfig") or name in computers:
                    yield f"{product}: {root} needs {name} on iOS, with the traits {traits}"
    for trait in manifest.package["traits"]:
        if trait["name"] == "default" and set(trait["enabledTraits"]) - {"Llama"}:
            yield f"the default traits on a Mac are {', '.join(sorted(trait['enabledTraits']))}"


def main() -> int:
    table, manifest = json.loads((HERE / "table.json").read_text()), Manifest(*location(), "mac")
    found = sorted(set(problems(manifest, table["computers"])))
    libraries = sum("library" in product["type"] for product in manifest.package["products"])
    print("\n".join(found) if found else f"graph: nothing of Linux in {libraries} libraries for iOS")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
