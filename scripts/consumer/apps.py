#!/usr/bin/env python3
"""Compiles the sample apps of Tests/Consumer against the built modules, as code of another package; none has more than 25 lines.

    scripts/consumer/apps.py            all
    scripts/consumer/apps.py NAME…      these
"""
import concurrent.futures
import glob
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tests"))
import built  # noqa: E402

LINES = 25


def check(path):
    with open(path, encoding="utf-8") as file:
        count = len(file.readlines())
    if count > LINES:
        print(f"{path} has {count} lines, and may have {LINES}")
    name = path.split("/")[2]
    compiles = built.compiles([path], "-module-name", f"{name}App", "-enable-upcoming-feature", "MemberImportVisibility",
                              "-I", built.modules, *INCLUDES)
    return compiles and count <= LINES


INCLUDES = list(built.includes())
paths = [f"Tests/Consumer/{name}/main.swift" for name in sys.argv[1:]] or sorted(glob.glob("Tests/Consumer/*/main.swift"))
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    results = list(pool.map(check, paths))
print(f"consumer: {results.count(True)} of {len(paths)} sample apps compile")
sys.exit(0 if all(results) else 1)
