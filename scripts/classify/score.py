#!/usr/bin/env python3
"""score.py HEARTH MODEL FOLDER: reads the pages of a folder with `hearth classify --decode`, and counts how many characters are
right and in their order; the right text of `page-1.png` is `page-1.txt`. Exit status 1 below 95 %."""
import glob
import json
import os
import subprocess
import sys
import tempfile
import time


def right(expected, found):
    """The length of the longest common subsequence: the characters that are right and in their order."""
    row = [0] * (len(found) + 1)
    for character in expected:
        before = 0
        for place, other in enumerate(found, 1):
            above = row[place]
            row[place] = before + 1 if character == other else max(row[place], row[place - 1])
            before = above
    return row[-1]


def main():
    hearth, model, folder = sys.argv[1:4]
    total = good = 0
    for truth in sorted(glob.glob(os.path.join(folder, "page-*.txt"))):
        with open(truth, encoding="utf-8") as file:
            expected = "".join(file.read().split())
        page = next(path for path in glob.glob(truth[:-4] + ".*") if not path.endswith(".txt"))
        with tempfile.TemporaryDirectory() as home:
            began = time.monotonic()
            result = subprocess.run(
                [hearth, "classify", "--model", model, "--decode", "--format", "json", page], capture_output=True,
                text=True, env={**os.environ, "HEARTH_HOME": home})
            seconds = time.monotonic() - began
        if result.returncode != 0:
            sys.exit(f"{page}: {result.stderr.strip()}")
        events = [json.loads(line) for line in result.stdout.splitlines()]
        found = [event["text"] for event in events if event["event"] == "character"]
        cut = next(event for event in events if event["event"] == "page")
        score = right(expected, found)
        total, good = total + len(expected), good + score
        print(f"{os.path.basename(page)}: {score} of {len(expected)} right, {len(found)} cells, {cut['direction']}, "
              f"turned by {cut['degrees']:.2f} degrees, {seconds:.2f} s")
    print(f"{good} of {total} characters are right and in their order")
    sys.exit(0 if total and good >= 0.95 * total else 1)


if __name__ == "__main__":
    main()
