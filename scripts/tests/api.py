#!/usr/bin/env python3
"""The public API of each library module, as text in docs/api, out of the modules of the last `swift build`.

The views are compiled first: scripts/apple/views.py has them against a stand-in of SwiftUI.

    scripts/tests/api.py            writes docs/api/MODULE.txt and prints the number of public types of each module
    scripts/tests/api.py --check    fails if a file there differs from the built module
"""
import concurrent.futures
import difflib
import glob
import json
import os
import re
import subprocess
import sys

import built

MODULES = """HearthBase HearthHTTP HearthCatalog HearthTransfer HearthStore HearthDelivery HearthPublishing HearthInference HearthLlama
 HearthRouting HearthDatabase HearthAssistant HearthClassification Hearth HearthServer HearthUI""".split()
TYPES = {"swift.struct", "swift.class", "swift.enum", "swift.protocol", "swift.actor"}

graphs = os.path.join(built.folder, "api")
folder = "docs/api"
# The build for Linux has no views.
views = os.path.realpath(".build/views")


def graph(module):
    return f"{graphs}/{module}.symbols.json"


def is_old(module):
    """A graph stays as long as its module: a module is built again when a module that it imports changes."""
    compiled = f"{views if module == 'HearthUI' else built.modules}/{module}.swiftmodule"
    return not os.path.exists(graph(module)) or os.path.getmtime(graph(module)) <= os.path.getmtime(compiled)


def extract(modules):
    target = re.search(r'"unversionedTriple": "(.*?)"', built.output("swiftc", "-print-target-info"))[1]
    os.makedirs(graphs, exist_ok=True)
    options = ["-I", views, "-I", built.modules, "-target", target, "-minimum-access-level", "public", "-skip-synthesized-members",
               "-skip-inherited-docs", "-output-dir", graphs, *built.includes()]
    for module in modules:
        for path in [graph(module), *glob.glob(f"{graphs}/{module}@*.symbols.json")]:
            if os.path.exists(path):
                os.remove(path)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda module: built.output("swift-symbolgraph-extract", "-module-name", module, *options), modules))


def load(module):
    """The symbols of a module and of its extensions to types of other modules, and the types' conformances."""
    symbols, conformances = {}, {}
    # An extension of a type of another module is in a file of its own, MODULE@OTHER.symbols.json.
    for path in sorted(glob.glob(f"{graphs}/{module}.symbols.json") + glob.glob(f"{graphs}/{module}@*.symbols.json")):
        with open(path, encoding="utf-8") as file:
            graph = json.load(file)
        for symbol in graph["symbols"]:
            symbols[symbol["identifier"]["precise"]] = symbol
        for relation in graph["relationships"]:
            if relation["kind"] in ("conformsTo", "inheritsFrom"):
                name = relation.get("targetFallback", "").split(".")[-1]
                conformances.setdefault(relation["source"], {})[relation["target"]] = name
    return symbols, conformances


def lines_of(symbols, conformances):
    """One line for each declaration, below the line of its type and indented."""
    rows = []
    for identifier, symbol in symbols.items():
        text = " ".join("".join(part["spelling"] for part in symbol["declarationFragments"]).split())
        found = conformances.get(identifier, {})
        names = {symbols[target]["names"]["title"] if target in symbols else name for target, name in found.items()}
        names = sorted(name for name in names if name and name not in ("Copyable", "Escapable", "SendableMetatype"))
        # The declaration of a protocol names what it refines.
        if names and symbol["kind"]["identifier"] in TYPES - {"swift.protocol"}:
            head, where, condition = text.partition(" where ")
            text = f"{head}: {', '.join(names)}{where}{condition}"
        path = symbol["pathComponents"]
        rows.append(([*path[:-1]], path[-1], text))
    # A type before its members; several declarations of one name by their text.
    rows.sort(key=lambda row: (row[0] + [row[1]], row[2]))
    known, lines = set(), []
    for parents, name, text in rows:
        for depth in range(len(parents)):
            head = tuple(parents[:depth + 1])
            if head not in known:
                lines.append("    " * depth + "extension " + head[-1])
                known.add(head)
        known.add((*parents, name))
        lines.append("    " * len(parents) + text)
    return lines


if sys.argv[1:] not in ([], ["--check"]):
    sys.exit(__doc__)
subprocess.run(["scripts/apple/views.py", "--compile"], check=True)
extract([module for module in MODULES if is_old(module)])
total, changed = 0, []
for module in MODULES:
    symbols, conformances = load(module)
    types = [symbol for symbol in symbols.values() if symbol["kind"]["identifier"] in TYPES]
    outer = [symbol for symbol in types if len(symbol["pathComponents"]) == 1]
    total += len(types)
    print(f"api: {module}: {len(types)} public types, {len(types) - len(outer)} of them inside others; {len(symbols)} declarations")
    text = "".join(line + "\n" for line in lines_of(symbols, conformances))
    path = os.path.join(folder, module + ".txt")
    recorded = ""
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            recorded = file.read()
    if not sys.argv[1:]:
        os.makedirs(folder, exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    elif text != recorded:
        changed.append(module)
        differences = list(difflib.unified_diff(recorded.splitlines(), text.splitlines(), path, "built", n=1, lineterm=""))
        print("\n".join(differences[:60]))
print(f"api: {total} public types in all")
if changed:
    sys.exit(f"the public API of {', '.join(changed)} changed: review the differences, run scripts/tests/api.py, and commit {folder}")
