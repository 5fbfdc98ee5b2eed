"""Pairs measured in turns, their medians, and the one line a figure is reported in."""

import json
import os
import statistics
import subprocess
import sys
import time

THRESHOLDS = json.load(open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "thresholds.json")))
PAIRS = int(os.environ.get("BENCH_PAIRS", "7"))
results = []


def say(text):
    print(text, file=sys.stderr, flush=True)


def number(value):
    return f"{value:.3f}" if value < 10 else f"{value:.1f}"


def holds(bar, value):
    return value >= float(bar[2:]) if bar.startswith(">=") else value <= float(bar[2:])


def report(name, **facts):
    """Prints `bench NAME key=value …` and says whether the bar, if it has one, was met."""
    bars = THRESHOLDS.get(name, {})
    met = True
    for key in ("ratio", "ours"):
        if key in bars and key in facts:
            met = holds(bars[key], facts[key])
            facts["bar"] = bars[key]
            facts["verdict"] = "met" if met else "MISSED"
    text = " ".join(f"{key}={number(value) if isinstance(value, float) else value}" for key, value in facts.items())
    print(f"bench {name} {text}", flush=True)
    results.append({"name": name, "met": met, **facts})


def pairs(name, ours, peer, unit):
    """Measures both sides in turns, the one to begin changing each time, and reports the median of the pairs' ratios."""
    left, right = [], []
    for turn in range(PAIRS):
        sides = [(left, ours), (right, peer)]
        for values, side in sides if turn % 2 == 0 else reversed(sides):
            values.append(side())
        say(f"  {name} {turn + 1}/{PAIRS}: ours {number(left[-1])}, peer {number(right[-1])} {unit}")
    ratios = [a / b for a, b in zip(left, right)]
    report(
        name, ratio=statistics.median(ratios), ours=statistics.median(left), peer=statistics.median(right),
        unit=unit, pairs=PAIRS, spread=f"{min(ratios):.3f}..{max(ratios):.3f}")


def run(command, environment=None):
    """Runs to the end; returns standard output, the seconds taken and the peak resident memory in MiB.

    The kernel counts the moment before exec too, so the memory figure is never below this interpreter's own (about 12).
    """
    begin = time.perf_counter()
    process = subprocess.Popen(
        command, env={**os.environ, **(environment or {})}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE)
    # Both pipes are small talk here; reading them one after the other cannot fill the second.
    output = process.stdout.read()
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}:\n{errors.decode(errors='replace')[-2000:]}")
    return output.decode(), seconds, usage.ru_maxrss / 1024
