#!/usr/bin/env python3
"""Runs the views of HearthUI on Linux as trees, with the view models of the last `swift build`.

    scripts/apple/views.py                  all tests of scripts/apple/views
    scripts/apple/views.py --compile        only compiles the views, into .build/views
    scripts/apple/views.py --filter NAME    options of Swift Testing

SwiftUI is the stand-in of scripts/apple/stubs/SwiftUI: it keeps texts, labels, values and actions, and draws nothing. A part whose
inputs did not change is not compiled again.
"""
import glob
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tests"))
import built  # noqa: E402

FOLDER = pathlib.Path(".build/views").resolve()
# Doubles of the view models' own tests.
SUPPORT = """HearthTests/Support/Doubles.swift HearthTests/Support/Models.swift HearthTests/Support/Watching.swift
 HearthAssistantTests/Actions/MemoryStores.swift HearthAssistantTests/Conversations/MemoryConversationStore.swift""".split()
# Objects of the tests' program that the views don't need, or have their own of.
OTHERS = re.compile(r"/(\w*Tests|HearthUI|HearthServer|HearthCommand|hearth|\w*Probe|hearthPackage\w*)\.build/|/hearthPackage\w*\.derived/")


def build_facts():
    """The name of the package, by which its modules see each other, and the arguments that link its tests."""
    text = pathlib.Path(".build/debug.yaml").read_text()
    package = re.search(r'"-package-name","(.*?)"', text)[1]
    command = re.search(r'"C\.hearthPackageTests-[^"]*\.test":\n.*?args: (\[.*?\])\n', text, re.S)
    arguments = json.loads(command[1])
    listed = next(part[1:] for part in arguments if part.startswith("@"))
    objects = [line.strip().strip("'") for line in pathlib.Path(listed).read_text().splitlines()]
    libraries = [part for part in arguments[1:arguments.index("-o")] if part[:2] in ("-L", "-l") and len(part) > 2]
    return package, [path for path in objects if not OTHERS.search(path)], libraries


def run(name, inputs, command):
    """Runs a command unless its inputs and it are as they were. Returns whether it ran."""
    stamp = FOLDER / f"{name}.stamp"
    facts = hashlib.sha256("\n".join(command).encode())
    for path in inputs:
        status = os.stat(path)
        facts.update(f"{path} {status.st_mtime_ns} {status.st_size}\n".encode())
    if stamp.exists() and stamp.read_text() == facts.hexdigest():
        return False
    stamp.unlink(missing_ok=True)
    ended = subprocess.run(command, capture_output=True, text=True)
    if ended.returncode or "warning: " in ended.stderr:
        sys.exit(f"views: {name} does not compile without errors and warnings\n{ended.stderr}{ended.stdout}")
    stamp.write_text(facts.hexdigest())
    return True


def main(options):
    FOLDER.mkdir(parents=True, exist_ok=True)
    package, objects, libraries = build_facts()
    modules = sorted(glob.glob(f"{built.modules}/Hearth*.swiftmodule"))
    includes = ["-I", str(FOLDER), "-I", built.modules, *built.includes()]
    common = ["swiftc", "-parse-as-library", "-wmo", "-Onone", "-swift-version", "6", "-package-name", package]
    plugins = pathlib.Path(built.output("sh", "-c", "command -v swiftc")).resolve().parent.parent / "lib/swift/host/plugins/testing"

    def compile(name, sources, *more):
        module = FOLDER / f"{name}.swiftmodule"
        inputs = [*sources, *(modules if more else []), *(FOLDER / f"{part}.swiftmodule" for part in more[:1] if (FOLDER / f"{part}.swiftmodule").exists())]
        command = [*common, "-module-name", name, "-emit-module", "-emit-module-path", str(module), "-c", "-o", str(FOLDER / f"{name}.o")]
        run(name, inputs, [*command, *(includes if more else []), *more[1:], *sources])

    compile("SwiftUI", sorted(glob.glob("scripts/apple/stubs/SwiftUI/*.swift")))
    compile("HearthUI", sorted(glob.glob("Sources/HearthUI/**/*.swift", recursive=True)), "SwiftUI", "-enable-testing")
    if options == ["--compile"]:
        return 0
    tests = sorted(glob.glob("scripts/apple/views/*.swift")) + [f"Tests/{path}" for path in SUPPORT]
    compile("ViewTests", tests, "HearthUI", "-plugin-path", str(plugins))
    own = [str(FOLDER / f"{name}.o") for name in ("SwiftUI", "HearthUI", "ViewTests")]
    listed = FOLDER / "objects.txt"
    listed.write_text("\n".join([*own, *objects]) + "\n")
    program = FOLDER / "views"
    run("link", [*own, *objects], ["swiftc", "-emit-executable", "-o", str(program), f"@{listed}", *libraries])
    return subprocess.run([program, "--testing-library", "swift-testing", *options]).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
