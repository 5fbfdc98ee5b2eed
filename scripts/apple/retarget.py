#!/usr/bin/env python3
"""Makes a resource folder of the compiler for an Apple platform out of the modules that the Linux toolchain has.

The compiled modules of the standard library and Foundation name the platform they were made for. In a copy, another
platform of the same length is put over that name, so that the compiler reads them for iOS or macOS. The copy serves to
compile sources and throw the result away: no program is linked with it, and it never leaves the cache.

    scripts/apple/retarget.py ios|macos FOLDER
"""
import os
import pathlib
import shutil
import sys

LINUX = b"x86_64-unknown-linux-gnu"
# The version's zeros fill the name up to LINUX's length; a module for an older version than the target's is accepted.
PLATFORMS = {
    "ios": (b"arm64-apple-ios18.0.0000", "arm64-apple-ios", "iphoneos"),
    "macos": (b"arm64-apple-macosx15.000", "arm64-apple-macos", "macosx"),
}
# Modules that Apple's SDK lacks, or that tests alone use.
ABSENT = ("Glibc", "Cxx", "XCTest", "FoundationNetworking", "FoundationXML", "_Test", "Testing")


def toolchain() -> pathlib.Path:
    """The resource folder of the toolchain whose swiftc is called."""
    found = shutil.which("swiftc")
    if not found:
        sys.exit("retarget: there is no swiftc in PATH")
    return pathlib.Path(os.path.realpath(found)).parents[1] / "lib/swift"


def retarget(platform: str, folder: pathlib.Path) -> None:
    """Writes the resource folder for one platform."""
    name, file, folder_name = PLATFORMS[platform]
    assert len(name) == len(LINUX), platform
    resources = toolchain()
    modules = folder / folder_name
    modules.mkdir(parents=True)
    for link in ("clang", "apinotes", "host"):
        if (resources / link).exists():
            (folder / link).symlink_to(resources / link)
    # The lock of Synchronization is declared by Linux's calls; scripts/apple/sdk declares what it needs.
    shims = folder / "shims"
    shims.mkdir()
    for header in (resources / "shims").iterdir():
        if header.name != "module.modulemap":
            (shims / header.name).symlink_to(header)
    text = (resources / "shims/module.modulemap").read_text()
    start = text.index("module _SynchronizationShims")
    end = text.index("}", start) + 1
    (shims / "module.modulemap").write_text(text[:start] + text[end:])
    for source in sorted((resources / "linux").glob("*.swiftmodule")):
        compiled = source / (LINUX.decode() + ".swiftmodule")
        if source.name.startswith(ABSENT) or not compiled.exists():
            continue
        target = modules / source.name
        target.mkdir()
        (target / f"{file}.swiftmodule").write_bytes(compiled.read_bytes().replace(LINUX, name))


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in PLATFORMS:
        sys.exit(__doc__)
    retarget(sys.argv[1], pathlib.Path(sys.argv[2]))
