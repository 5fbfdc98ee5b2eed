"""Compiles targets of the package against an SDK, each once for the same inputs."""
import json
import os
import pathlib
import re
import subprocess
import threading

from manifest import FRAMEWORKS, Manifest
from sdk import IMPORT, SDK, digest, in_place

CAN_IMPORT = re.compile(r"canImport\((\w+)")
# On Apple platforms, Foundation re-exports more than the toolchain's; the stub `AppleFoundation` has the rest.
FOUNDATION = re.compile(r"^(\s*(?:@\w+\s+|(?:public|package|internal|private)\s+)*import )(Foundation)(?=\s*(?:$|//))", re.M)
QUALIFIED = re.compile(r"(?<![\w.])Foundation\.(?=\w)")
# Modules that are in the search path here and in no SDK of Apple's.
ABSENT = re.compile(r"canImport\((?:Glibc|CDispatch)\)")
# A change of how targets are compiled compiles them again.
OWN = pathlib.Path(__file__).read_bytes()
CONDITION = re.compile(r"^\s*#(?:else)?if .*$", re.M)


class Outcome:
    """What came of compiling a target."""

    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        facts = json.loads((folder / "facts.json").read_text())
        self.errors: list[str] = facts["errors"]
        # A change that the target's users cannot see leaves its module the same, and compiles them not again.
        self.identity: str = facts["identity"]


class Configuration:
    """One platform, version of its SDK and set of traits."""

    def __init__(self, name: str, facts: dict, manifest: Manifest, cache: pathlib.Path, root: pathlib.Path):
        self.name, self.platform, self.traits = name, facts["platform"], facts["traits"]
        self.version, self.target = facts["sdk"], facts["target"]
        self.manifest, self.cache, self.root = manifest, cache, root
        self.sdk = SDK(cache, self.platform, self.version, self.target)
        # How far the compiler goes; `planted.py` shows what it misses without this stage.
        self.stage = "-emit-sil"
        self.outcomes: dict[str, Outcome] = {}
        self.compiled: list[str] = []
        self.used: dict[str, set[str]] = {}
        self.lock = threading.Lock()

    def text(self, name: str) -> dict[pathlib.Path, str]:
        """The sources of a target as this check compiles them."""
        texts = {}
        for source in self.manifest.sources(name):
            text = FOUNDATION.sub(r"\1\2; \1AppleFoundation", source.read_text())
            text = ABSENT.sub("false", QUALIFIED.sub("AppleFoundation.", text))
            texts[source.relative_to(self.root)] = text
        return texts

    def c_modules(self, names: list[str]) -> tuple[list[str], str]:
        """The options that make the C targets among the names known, and the identity of their headers."""
        options: list[str] = []
        contents: list[object] = []
        for name in [part for name in names for part in FRAMEWORKS.get(name, [name])]:
            folder = self.root / "Sources" / name
            if any(folder.rglob("*.swift")):
                continue
            if (folder / "module.modulemap").exists():
                headers = folder
                options += ["-Xcc", f"-fmodule-map-file={folder / 'module.modulemap'}"]
                if name == "CLlama":
                    # Those of set-up; the framework is made of the same source.
                    options += ["-Xcc", f"-I{os.environ['llama_prefix']}/include"]
            else:
                headers = folder / "include"
                own = headers / "module.modulemap"
                if not own.exists():
                    text = f'module {name} {{ umbrella "{headers}" export * }}\n'
                    own = in_place(
                        self.cache / f"maps/{name}-{digest(text)}",
                        lambda new, text=text: (new.mkdir(), (new / "module.modulemap").write_text(text))) / "module.modulemap"
                options += ["-Xcc", f"-fmodule-map-file={own}", "-Xcc", f"-I{headers}"]
            contents += [path.read_bytes() for path in sorted(headers.rglob("*")) if path.suffix in (".h", ".modulemap")]
        # Not of the options, which name the place of this clone.
        return options, digest(names, os.environ.get("llama_prefix"), *contents)

    def compile(self, name: str) -> Outcome:
        """Compiles a target whose dependencies have been compiled, if its inputs are new."""
        closure = self.manifest.closure(name, self.platform, self.traits)
        modules = [dependency for dependency in closure if self.manifest.is_swift(dependency)]
        texts = self.text(name)
        everything = "\n".join(texts.values())
        used = set(IMPORT.findall(everything)) | set(CAN_IMPORT.findall(everything)) | {"AppleFoundation"}
        # A module needs what the modules that it imports need.
        for module in modules:
            used |= self.used[module]
        with self.lock:
            self.used[name] = used
            stubs = [self.sdk.stub(stub) for stub in self.sdk.needed(used)]
        conditions = "\n".join(CONDITION.findall(everything))
        options = [
            *self.manifest.features(name), "-parse-as-library", "-package-name", self.manifest.package_name(name),
            *[part for trait in self.traits if re.search(rf"\b{trait}\b", conditions) for part in ("-D", trait)]]
        c_options, headers = self.c_modules(closure)
        identity = digest(
            self.sdk.identity, OWN, self.stage, self.sdk.base, options, headers, [stub for _, stub in stubs],
            [(module, self.outcomes[module].identity) for module in modules], *[part for pair in texts.items() for part in pair])
        command = [
            *self.sdk.base, *options, *c_options, "-module-name", name,
            *[part for folder, _ in stubs for part in ("-I", str(folder))],
            *[part for module in modules for part in ("-I", str(self.outcomes[module].folder))]]

        def make(new: pathlib.Path) -> None:
            new.mkdir()
            with self.lock:
                self.compiled.append(name)
            places = []
            for path, text in texts.items():
                place = new / "sources" / path
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text(text)
                places.append(str(place))
            errors, module = self.run(command, places, new, name), new / f"{name}.swiftmodule"
            facts = {"errors": errors, "identity": digest(module.read_bytes()) if module.exists() and not errors else identity}
            (new / "facts.json").write_text(json.dumps(facts))
            subprocess.run(["rm", "-rf", new / "sources"], check=True)

        outcome = Outcome(in_place(self.cache / "modules" / f"{name}-{identity}", make))
        with self.lock:
            self.outcomes[name] = outcome
        return outcome

    def run(self, command: list[str], places: list[str], new: pathlib.Path, name: str) -> list[str]:
        """Runs the compiler up to Swift's intermediate language; returns its errors, with the paths of the tree."""
        output = [self.stage, "-o", "/dev/null", "-emit-module-path", str(new / f"{name}.swiftmodule")]
        if self.stage == "-typecheck":
            output = [self.stage]
        # With this option a broken target leaves a module, by which the targets above it are judged, too. After some errors it
        # makes the compiler crash, which then is asked without it.
        for options in (["-experimental-allow-module-with-compiler-errors"], []):
            ended = subprocess.run([*command, *output, *options, *places], capture_output=True, text=True)
            if ended.returncode >= 0:
                break
        text = ended.stderr.replace(f"{new / 'sources'}/", "").replace("; import AppleFoundation", "")
        text = text.replace("AppleFoundation.", "Foundation.")
        if "error:" in text or "warning:" in text:
            return [text]
        return [f"{name}: the compiler ended with {ended.returncode}\n{text[:3000]}"] if ended.returncode else []
