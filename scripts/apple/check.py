#!/usr/bin/env python3
"""Compiles the targets that apps of Apple's platforms use, for iOS and macOS, on Linux: see scripts/apple/README.md.

    scripts/apple/check.py              every target of table.json in every configuration
    scripts/apple/check.py TARGET…      these targets and those that they need
    HEARTH_APPLE_CONFIGURATIONS=ios,macos  chooses configurations
"""
import concurrent.futures
import json
import os
import re
import sys
import threading
import time

from manifest import Manifest, location
from sdk import HERE, prune
from targets import Configuration

ERROR = re.compile(r"(?:error|warning): ")


def chosen(manifest: Manifest, table: dict, configuration: Configuration, names: list[str]) -> list[str]:
    """The targets to compile in a configuration, each after those that it needs."""
    order: list[str] = []
    for name, where in table["targets"].items():
        if names and name not in names or where != "all" and configuration.name not in where:
            continue
        needed = manifest.closure(name, configuration.platform, configuration.traits) + [name]
        order += [target for target in needed if manifest.is_swift(target) and target not in order]
    return order


class Run:
    """The compilation of a configuration's targets, each as soon as those that it needs are done."""

    def __init__(self, configuration: Configuration, order: list[str], before: list["Run"]):
        self.configuration, self.order = configuration, order
        # Most targets are the same in two configurations of one platform; the second then finds the first's result.
        self.before = [run for run in before if run.configuration.platform == configuration.platform]
        self.done = {name: threading.Event() for name in order}
        self.failures: list[str] = []

    def threads(self, pool: concurrent.futures.Executor) -> list[threading.Thread]:
        return [threading.Thread(target=self.compile, args=(name, pool), daemon=True) for name in self.order]

    def compile(self, name: str, pool: concurrent.futures.Executor) -> None:
        needed = self.configuration.manifest.closure(name, self.configuration.platform, self.configuration.traits)
        for event in [self.done[other] for other in needed if other in self.done] + [
                run.done[name] for run in self.before if name in run.done]:
            event.wait()
        try:
            outcome = pool.submit(self.configuration.compile, name).result()
            if outcome.errors and os.environ.get("HEARTH_APPLE_LIVE"):
                print("\n".join(outcome.errors), flush=True)
        except (Exception, SystemExit) as error:
            self.failures.append(f"{self.configuration.name}: {name}: {type(error).__name__}: {error}")
        finally:
            self.done[name].set()


def main() -> int:
    begin = time.monotonic()
    root, cache = location()
    table = json.loads((HERE / "table.json").read_text())
    manifest = Manifest(root, cache, "mac", table["programs"])
    wanted = [name for name in os.environ.get("HEARTH_APPLE_CONFIGURATIONS", "").split(",") if name]
    configurations = [
        Configuration(name, facts, manifest, cache, root)
        for name, facts in table["configurations"].items() if not wanted or name in wanted]
    runs: list[Run] = []
    for configuration in configurations:
        runs.append(Run(configuration, chosen(manifest, table, configuration, sys.argv[1:]), runs[:]))
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("HEARTH_APPLE_JOBS", "2"))) as pool:
        threads = [thread for run in runs for thread in run.threads(pool)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    shown: dict[str, list[str]] = {}
    for run in runs:
        configuration, order = run.configuration, run.order
        broken = [name for name in order if name in configuration.outcomes and configuration.outcomes[name].errors]
        for name in broken:
            for text in configuration.outcomes[name].errors:
                shown.setdefault(text, []).append(configuration.name)
        print(
            f"apple {configuration.name}: {configuration.target}, SDK {configuration.version}"
            f"{', traits ' + ' '.join(configuration.traits) if configuration.traits else ''}: {len(order)} targets, "
            f"{len(configuration.compiled)} compiled now, {len(broken)} with errors{': ' + ' '.join(broken) if broken else ''}")
    for text, names in shown.items():
        print(f"== {', '.join(names)}: {len(ERROR.findall(text))} messages\n{text}")
    failures = [failure for run in runs for failure in run.failures]
    print("".join(f"apple: {failure}\n" for failure in failures), end="")
    prune(cache)
    print(f"apple: {time.monotonic() - begin:.0f} s")
    return 1 if shown or failures else 0


if __name__ == "__main__":
    sys.exit(main())
