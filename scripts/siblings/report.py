#!/usr/bin/env python3
"""Runs the tests of the package of scripts/siblings, and prints for each suite how many passed, failed and were left out.

    report.py FOLDER [FILTER]

left-out.txt names the tests that are left out, with their reasons. A name that no test has fails, and so does a test that is
named and would pass: each of them is run, too, in a process of its own.
"""
import collections
import json
import os
import subprocess
import sys
import tempfile

MAXIMUM = 12
MINUTES = 12


def left_out():
    with open(os.path.join(os.path.dirname(__file__), "left-out.txt"), encoding="utf-8") as file:
        lines = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    if len(lines) > MAXIMUM:
        sys.exit(f"siblings: {len(lines)} tests are left out, more than {MAXIMUM}")
    return dict(lines)


def name(identifier):
    """`Target.Suite/test(_:)/File.swift:1:2` as `Target.Suite/test`."""
    return identifier.split("(")[0]


def run(folder, events, *arguments):
    program = os.path.join(folder, ".build/debug/hearthPackageTests.xctest")
    command = [program, "--testing-library", "swift-testing", "--event-stream-output-path", events,
               "--event-stream-version", "0", "--experimental-maximum-parallelization-width", "6", *arguments]
    environment = {key: value for key, value in os.environ.items() if key != "SWIFT_DETERMINISTIC_HASHING"}
    found = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60 * MINUTES, env=environment)
    return found.returncode, found.stdout.decode(errors="replace")


def outcomes(events):
    """The tests that ran, each with whether it had an issue."""
    ended, failed = {}, set()
    with open(events, encoding="utf-8") as file:
        for line in file:
            record = json.loads(line)
            if record["kind"] != "event":
                continue
            event = record["payload"]
            test = event.get("testID")
            if event["kind"] == "testEnded" and "(" in test:
                ended[test] = name(test)
            elif event["kind"] == "issueRecorded" and test and not event.get("issue", {}).get("isKnown"):
                failed.add(test)
    return {short: test in failed for test, short in ended.items()}


def main(folder, filters):
    reasons = left_out()
    choice = [part for text in filters for part in ("--filter", text)]
    skipped = [part for test in reasons for part in ("--skip", test.replace(".", r"\.") + r"\(")]
    # Tests of HTTP keep times of their own: they run apart from those that compute a lot.
    runs = [choice] if filters else [["--filter", "HearthHTTPTests"], ["--skip", "HearthHTTPTests"]]
    results, failures = {}, 0
    for part in runs:
        with tempfile.TemporaryDirectory() as place:
            events = os.path.join(place, "events")
            status, text = run(folder, events, *part, *skipped)
            results |= outcomes(events)
        if status != 0:
            failures += 1
            print(text)
    suites = collections.defaultdict(lambda: [0, 0, 0])
    for test, has_failed in results.items():
        suites[test.split("/")[0]][1 if has_failed else 0] += 1
    if not filters:
        for test in reasons:
            suites[test.split("/")[0]][2] += 1
    print(f"{'suite':50} passed failed left out")
    for suite, (passed, failed, left) in sorted(suites.items()):
        print(f"{suite:50} {passed:6} {failed:6} {left:8}")
    total = [sum(column) for column in zip(*suites.values())]
    print(f"{'all':50} {total[0]:6} {total[1]:6} {total[2]:8}")
    if failures or total[1] or not total[0]:
        sys.exit("siblings: tests failed")
    if filters:
        return
    for test, reason in reasons.items():
        with tempfile.TemporaryDirectory() as place:
            events = os.path.join(place, "events")
            run(folder, events, "--filter", test.replace(".", r"\.") + r"\(")
            has_failed = outcomes(events).get(test)
        if not has_failed:
            sys.exit(f"siblings: {test} is left out, and " + ("would pass" if has_failed is False else "does not exist"))
        print(f"left out: {test.split('.', 1)[1]}: {reason}")


main(sys.argv[1], sys.argv[2:])
