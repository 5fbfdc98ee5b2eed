#!/usr/bin/env python3
"""Compiles our SwiftUI, HearthUI and the programs of views/ for Linux with the objects of a debug build, and runs them."""
import os
import pathlib
import subprocess
import sys
import time

from manifest import Manifest
from sdk import HERE, digest, in_place

ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "scripts/tests"))
import built  # noqa: E402

CACHE = pathlib.Path(os.environ.get("HEARTH_CACHE") or pathlib.Path.home() / ".cache/hearth") / "apple"
BUILD = pathlib.Path(built.folder)
# The traits of a debug build.
TRAITS = ["Llama", "Server", "Vision"]


def sources(folder: pathlib.Path) -> list[str]:
    return [str(path) for path in sorted(folder.rglob("*.swift"))]


def compile_module(name: str, files: list[str], options: list[str], below: list[pathlib.Path], others: str = "") -> pathlib.Path:
    """The folder with a module and its object file, compiled anew if an input has changed."""
    identity = digest(name, options, below, others, *[pathlib.Path(file).read_bytes() for file in files])

    def make(new: pathlib.Path) -> None:
        new.mkdir()
        ended = subprocess.run([
            "swiftc", "-c", "-wmo", "-Onone", "-enable-testing", "-parse-as-library", "-swift-version", "6", "-module-name", name,
            "-emit-module", "-emit-module-path", str(new / f"{name}.swiftmodule"), "-o", str(new / f"{name}.o"),
            *[part for folder in below for part in ("-I", str(folder))], *options, *files])
        if ended.returncode:
            raise SystemExit(f"views: {name} does not compile")

    return in_place(CACHE / "views" / f"{name}-{identity}", make)


def main() -> int:
    begin = time.monotonic()
    manifest = Manifest(ROOT, CACHE, "linux")
    closure = manifest.closure("HearthUI", "linux", TRAITS)
    objects = [str(path) for name in closure for path in sorted((BUILD / f"{name}.build").rglob("*.o"))]
    # A changed interface below the views changes their code.
    modules = digest(*[(BUILD / f"Modules/{name}.swiftmodule").read_bytes() for name in closure if manifest.is_swift(name)])
    maps = list(built.includes())
    swiftui = compile_module("SwiftUI", sources(HERE / "stubs/SwiftUI"), ["-suppress-warnings"], [])
    package = ["-package-name", manifest.package["name"], *manifest.features("HearthUI"), *maps]
    views = compile_module("HearthUI", [str(path) for path in manifest.sources("HearthUI")], package, [swiftui, BUILD / "Modules"], modules)
    program = compile_module(
        "HearthViews", [*sources(HERE / "views"), str(ROOT / "Tests/Seeds/Pretended.swift")], package, [views, swiftui, BUILD / "Modules"],
        modules)
    executable = program / "views"
    inputs = [program / "HearthViews.o", views / "HearthUI.o", swiftui / "SwiftUI.o", *map(pathlib.Path, objects)]
    if not executable.exists() or any(path.stat().st_mtime > executable.stat().st_mtime for path in inputs):
        libraries = subprocess.run(
            ["pkg-config", "--libs", "llama"], check=True, capture_output=True, text=True,
            env={**os.environ, "PKG_CONFIG_PATH": f"{os.environ['llama_prefix']}/lib/pkgconfig"}).stdout.split()
        listed = program / "objects"
        listed.write_text("\n".join(map(str, inputs)))
        subprocess.run(["swiftc", "-o", str(executable), f"@{listed}", "-use-ld=lld", *libraries, "-lstdc++"], check=True)
    ended = subprocess.run([str(executable)], timeout=120).returncode
    print(f"views: {time.monotonic() - begin:.0f} s")
    return ended


if __name__ == "__main__":
    sys.exit(main())
