"""What an Apple SDK is here: the retargeted modules of the toolchain, our C headers and our stubs, compiled into the cache."""
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time

import retarget

# A crash of the compiler is told in a few lines.
os.environ["SWIFT_BACKTRACE"] = "enable=no"

HERE = pathlib.Path(__file__).resolve().parent
OWN = pathlib.Path(__file__).read_bytes()
IMPORT = re.compile(
    r"^[ \t]*(?:@\w+[ \t]+|(?:public|package|internal|private)[ \t]+)*import[ \t]+(?:(?:struct|class|enum|protocol|func|typealias|let|var)[ \t]+)?(\w+)",
    re.M)
# Libraries that Debian has, too: of Apple's SDK, and for the server on macOS those of Homebrew.
LIBRARIES = ["sqlite3.h", "zlib.h", "zconf.h", "libxml2/libxml", "histedit.h", "microhttpd.h", "qrcodegen", "cmark-gfm*.h"]
# Headers of the C library that other headers include; all are declared in one of ours.
FORWARDED = """assert ctype errno fcntl inttypes locale math poll pthread signal spawn stdio stdlib string strings sys/mman
 iconv netinet/in termios wctype sys/select sys/ioctl sys/param sys/resource sys/socket sys/stat sys/time sys/types sys/uio sys/un sys/wait time unistd dlfcn wchar""".split()


def digest(*parts: object) -> str:
    """A short name for a combination of texts and bytes."""
    hasher = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else str(part).encode()
        hasher.update(len(data).to_bytes(8, "little") + data)
    return hasher.hexdigest()[:20]


def in_place(folder: pathlib.Path, make) -> pathlib.Path:
    """The folder, made by `make(path)` in another place first if it isn't there."""
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".new-") as place:
            make(pathlib.Path(place) / "new")
            try:
                (pathlib.Path(place) / "new").rename(folder)
            except OSError:
                if not folder.exists():
                    raise
    else:
        # The time of its last use, by which `prune` decides.
        os.utime(folder)
    return folder


class Stub:
    """One folder of scripts/apple/stubs: the interface of a module of Apple's, written by us."""

    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        facts = folder / "stub.json"
        self.facts = json.loads(facts.read_text()) if facts.exists() else {}
        self.sources = sorted(folder.glob("*.swift"))
        self.name = self.facts.get("module", folder.name)
        self.text = "\n".join(source.read_text() for source in self.sources)
        self.imports = set(IMPORT.findall(self.text))

    def is_on(self, platform: str) -> bool:
        """Whether the platform's SDK has the module."""
        return platform in self.facts.get("platforms", ["ios", "macos"])

    def version(self, sdk: int) -> str:
        """The module's version in an SDK, for `canImport(_, _version:)`."""
        return str(self.facts.get("versions", {}).get(str(sdk), ""))


class SDK:
    """The modules of one platform in one version of its SDK."""

    def __init__(self, cache: pathlib.Path, platform: str, version: int, target: str):
        self.cache, self.platform, self.version = cache, platform, version
        compiler = subprocess.run(["swiftc", "--version"], capture_output=True, text=True, check=True).stdout
        headers = [path for path in sorted((HERE / "sdk").rglob("*")) if path.is_file()]
        self.identity = digest(
            compiler, (HERE / "retarget.py").read_bytes(), platform, *[path.read_bytes() for path in headers])
        # One copy serves all versions: a compiled module has no part that only a newer system has.
        self.resources = in_place(
            cache / f"toolchain-{platform}-{self.identity}", lambda new: retarget.retarget(platform, new))
        # Beside the rest in the cache, so that every clone of the tree has the same options.
        declarations = in_place(
            cache / f"declarations-{self.identity}", lambda new: shutil.copytree(HERE / "sdk", new))
        self.headers = in_place(cache / f"headers-{digest(LIBRARIES, FORWARDED)}", self.collect_headers)
        # The oldest system that the package runs on; stubs say themselves what came later.
        self.base = [
            "swiftc", "-frontend", "-target", target, "-resource-dir", str(self.resources),
            "-module-cache-path", str(cache / f"clang-{self.identity}"), "-I", str(declarations), "-disable-objc-interop",
            "-Xcc", "-nostdlibinc", "-Xcc", f"-I{self.headers}", "-Xcc", f"-I{declarations / 'include'}",
            "-plugin-path", str(retarget.toolchain() / "host/plugins"),
        ]
        # The toolchain's Foundation imports Glibc, which Apple's SDK lacks, so there is an empty one.
        self.base += ["-I", str(in_place(cache / f"glibc-{digest(self.identity, OWN)}", self.compile_glibc))]
        self.read_stubs(HERE / "stubs")

    def read_stubs(self, folder: pathlib.Path) -> None:
        """Takes the stubs of a folder for the SDK's modules."""
        self.stubs = {stub.name: stub for stub in map(Stub, sorted(folder.iterdir())) if stub.is_on(self.platform)}
        self.built: dict[str, tuple[pathlib.Path, str]] = {}

    @staticmethod
    def collect_headers(folder: pathlib.Path) -> None:
        """Links the headers of libraries, and names the headers of the C library that they include."""
        multiarch = subprocess.run(["gcc", "-print-multiarch"], capture_output=True, text=True).stdout.strip()
        folder.mkdir()
        for library in LIBRARIES:
            places = [pathlib.Path("/usr/include"), pathlib.Path("/usr/include") / multiarch]
            found = [path for place in places for path in place.glob(library)]
            if not found:
                raise SystemExit(f"apple: /usr/include has no {library}; run make setup")
            for path in found:
                (folder / path.name).symlink_to(path)
        for name in FORWARDED:
            header = folder / f"{name}.h"
            header.parent.mkdir(exist_ok=True)
            header.write_text('#pragma once\n#include "darwin.h"\n')

    def compile_glibc(self, new: pathlib.Path) -> None:
        """Compiles the module Glibc, which declares nothing itself."""
        new.mkdir()
        subprocess.run(
            [*self.base, "-emit-module", "-module-name", "Glibc", "-o", str(new / "Glibc.swiftmodule"), "-parse-as-library", "-"],
            input=b"import SwiftGlibc", check=True)

    def needed(self, names: set[str]) -> list[str]:
        """The stub modules among the names and what those import, each after what it needs."""
        order: list[str] = []

        def visit(name: str) -> None:
            if name in order or name not in self.stubs:
                return
            for other in sorted(self.stubs[name].imports - {name}):
                visit(other)
            order.append(name)

        for name in sorted(names):
            visit(name)
        return order

    def stub(self, name: str) -> tuple[pathlib.Path, str]:
        """The folder with a compiled stub, and its identity."""
        if name in self.built:
            return self.built[name]
        stub = self.stubs[name]
        below = [self.stub(other) for other in self.needed(stub.imports - {name})]
        conditions = [f"SDK_{number}" for number in range(26, self.version + 1) if f"SDK_{number}" in stub.text]
        options = [option for condition in conditions for option in ("-D", condition)]
        if version := stub.version(self.version):
            options += ["-user-module-version", version]
        if stub.facts.get("overlay"):
            options += ["-import-underlying-module"]
        identity = digest(self.identity, stub.text, options, [identity for _, identity in below], *self.base)

        def make(new: pathlib.Path) -> None:
            new.mkdir()
            command = [
                *self.base, "-emit-module", "-module-name", name, "-o", str(new / f"{name}.swiftmodule"),
                "-swift-version", "6", "-parse-as-library", "-suppress-warnings", "-enable-library-evolution",
                "-experimental-skip-all-function-bodies", *options,
                *[part for folder, _ in below for part in ("-I", str(folder))], *map(str, stub.sources)]
            ended = subprocess.run(command, capture_output=True, text=True)
            if ended.returncode:
                raise SystemExit(f"apple: the stub {name} does not compile\n{ended.stderr}")

        folder = in_place(self.cache / "modules" / f"{name}-{identity}", make)
        self.built[name] = (folder, identity)
        return self.built[name]


def prune(cache: pathlib.Path) -> None:
    """Removes compiled modules that no check has used for a day."""
    for folder in (cache / "modules").iterdir():
        if folder.stat().st_mtime < time.time() - 86400:
            shutil.rmtree(folder, ignore_errors=True)
