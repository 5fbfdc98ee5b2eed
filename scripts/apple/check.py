#!/usr/bin/env python3
"""Compiles the targets that apps of Apple's platforms use, for iOS and macOS, on Linux: see scripts/apple/README.md.

    scripts/apple/check.py              every target of table.json in every configuration
    scripts/apple/check.py TARGET…      these targets and those that they need
    HEARTH_APPLE_CONFIGURATIONS=ios,macos  chooses configurations
"""
import concurrent.futures
import json
import os
import pathlib
import re
import sys
import threading
import time

from manifest import Manifest
from sdk import HERE
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


def compile_all(configuration: Configuration, order: list[str], pool: concurrent.futures.Executor, failures: list[str]) -> list:
    """Hands the targets to the pool as soon as what they need has been compiled."""
    done = {name: threading.Event() for name in order}
    needs = {
        name: [d for d in configuration.manifest.closure(name, configuration.platform, configuration.traits) if d in done]
        for name in order}

    def run(name: str) -> None:
        try:
            outcome = configuration.compile(name)
            if outcome.errors and os.environ.get("HEARTH_APPLE_LIVE"):
                print("\n".join(outcome.errors), flush=True)
        except BaseException as error:
            failures.append(f"{configuration.name}: {name}: {error}")
            raise
        finally:
            done[name].set()

    def wait(name: str):
        for dependency in needs[name]:
            done[dependency].wait()
        return pool.submit(run, name).result()

    threads = [threading.Thread(target=lambda name=name: wait(name), daemon=True) for name in order]
    for thread in threads:
        thread.start()
    return threads


def main() -> int:
    begin = time.monotonic()
    root = HERE.parents[1]
    cache = pathlib.Path(os.environ.get("HEARTH_CACHE") or pathlib.Path.home() / ".cache/hearth") / "apple"
    cache.mkdir(parents=True, exist_ok=True)
    table = json.loads((HERE / "table.json").read_text())
    manifest = Manifest(root, cache, "mac", table["programs"])
    wanted = [name for name in os.environ.get("HEARTH_APPLE_CONFIGURATIONS", "").split(",") if name]
    configurations = [
        Configuration(name, facts, manifest, cache, root)
        for name, facts in table["configurations"].items() if not wanted or name in wanted]
    failures: list[str] = []
    shown: dict[str, list[str]] = {}
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("HEARTH_APPLE_JOBS", "2"))) as pool:
        orders = [chosen(manifest, table, configuration, sys.argv[1:]) for configuration in configurations]
        threads = [
            thread for configuration, order in zip(configurations, orders)
            for thread in compile_all(configuration, order, pool, failures)]
        for thread in threads:
            thread.join()
    for configuration, order in zip(configurations, orders):
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
    for failure in failures:
        print(f"apple: {failure}")
    print(f"apple: {time.monotonic() - begin:.0f} s")
    return 1 if shown or failures else 0


if __name__ == "__main__":
    sys.exit(main())
