"""The package as `swift package dump-package` describes it: targets, and what each needs on a platform with some traits."""
import hashlib
import json
import os
import pathlib
import subprocess
import tempfile


# Headers of the framework of llama.cpp: scripts/apple/xcframework.sh lays those of these targets into it.
FRAMEWORKS = {"CLlama": ["CLlama", "CLlamaShim"]}
# How the manifest tells a Mac from this machine.
HOST = "#if os(Linux)\n"


def location() -> tuple[pathlib.Path, pathlib.Path]:
    """The root of the tree, and the folder of the cache that belongs to this check."""
    kept = pathlib.Path(os.environ.get("HEARTH_CACHE") or pathlib.Path.home() / ".cache/hearth") / "apple"
    kept.mkdir(parents=True, exist_ok=True)
    return pathlib.Path(__file__).resolve().parents[2], kept


class Manifest:
    """The manifest as a host reads it: this machine, or a Mac on which the framework of llama.cpp has been made."""

    def __init__(self, root: pathlib.Path, cache: pathlib.Path, host: str, programs: dict[str, dict] | None = None):
        self.root = root
        text = (root / "Package.swift").read_text()
        if host == "mac":
            if HOST not in text:
                raise SystemExit(f"apple: Package.swift has no {HOST.strip()}, by which a Mac reads another manifest")
            text = text.replace(HOST, "#if !os(Linux)\n")
        kept = cache / f"manifest-{host}-{hashlib.sha256(text.encode()).hexdigest()[:16]}.json"
        if not kept.exists():
            kept.write_text(self.dump(text))
        self.package = json.loads(kept.read_text())
        self.targets = {target["name"]: target for target in self.package["targets"]}
        # Code of other packages, which sees what an app sees.
        self.programs = programs or {}
        for name, facts in self.programs.items():
            self.targets[name] = {
                "name": name, "type": "regular", "path": facts["path"],
                "dependencies": [{"byName": [needed, None]} for needed in facts["needs"]],
                "settings": self.targets["HearthBase"]["settings"]}

    def package_name(self, name: str) -> str:
        """The package of a target, whose targets see each other's package declarations."""
        return "an-app" if name in self.programs else self.package["name"]

    @staticmethod
    def dump(text: str) -> str:
        """What `swift package dump-package` says of a manifest; it needs no sources."""
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "Package.swift").write_text(text)
            (pathlib.Path(folder) / "Frameworks/CLlama.xcframework").mkdir(parents=True)
            ended = subprocess.run(
                ["swift", "package", "--package-path", folder, "dump-package"], capture_output=True, text=True)
            if ended.returncode:
                raise SystemExit(f"apple: the manifest does not compile\n{ended.stderr}")
            return ended.stdout

    def folder(self, name: str) -> pathlib.Path:
        """The folder of a target's sources."""
        target = self.targets[name]
        return self.root / (target.get("path") or f"Sources/{name}")

    def dependencies(self, name: str, platform: str, traits: list[str]) -> list[str]:
        """The targets that a target needs itself, in the manifest's order."""
        found = []
        for entry in self.targets[name]["dependencies"]:
            kind, value = next(iter(entry.items()))
            if kind not in ("byName", "target"):
                raise SystemExit(f"apple: {name} depends on a {kind}; only targets are understood")
            dependency, condition = value[0], value[1] or {}
            platforms, wanted = condition.get("platformNames"), condition.get("traits")
            if platforms and platform not in platforms or wanted and not set(wanted) & set(traits):
                continue
            found.append(dependency)
        return found

    def closure(self, name: str, platform: str, traits: list[str]) -> list[str]:
        """All targets that a target needs, each after those that it needs itself."""
        order: list[str] = []

        def visit(target: str) -> None:
            for dependency in self.dependencies(target, platform, traits):
                visit(dependency)
            if target not in order:
                order.append(target)

        visit(name)
        return order[:-1]

    def is_swift(self, name: str) -> bool:
        """Whether a target has sources in Swift; targets have one language."""
        return self.targets[name]["type"] not in ("system", "binary") and any(self.sources(name))

    def sources(self, name: str) -> list[pathlib.Path]:
        """The Swift sources of a target; catalogs of documentation hold examples that are none."""
        folder = self.folder(name)
        excluded = [folder / path for path in self.targets[name].get("exclude", [])]
        return sorted(
            path for path in folder.rglob("*.swift")
            if not any(part.endswith(".docc") for part in path.parts) and not any(e == path or e in path.parents for e in excluded))

    def features(self, name: str) -> list[str]:
        """The compiler's options out of the target's settings."""
        options: list[str] = []
        for setting in self.targets[name]["settings"]:
            kind, value = next(iter(setting["kind"].items()))
            text = value.get("_0") if isinstance(value, dict) else value
            if kind == "enableUpcomingFeature":
                options += ["-enable-upcoming-feature", text]
            elif kind == "swiftLanguageMode":
                options += ["-swift-version", text]
            elif kind == "treatAllWarnings":
                options += ["-warnings-as-errors"]
        return options
