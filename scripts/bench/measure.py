"""Pairs measured in turns, their medians, and the one line a figure is reported in."""

import collections
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

THRESHOLDS = json.load(open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "thresholds.json")))
PAIRS = int(os.environ.get("BENCH_PAIRS", "7"))
results = []
# What a command said, the seconds it took, its peak resident memory in MiB and its processor seconds, user and system.
Run = collections.namedtuple("Run", "output seconds peak cpu")


def say(text):
    print(text, file=sys.stderr, flush=True)


def number(value):
    return f"{value:.3f}" if value < 10 else f"{value:.1f}"


def holds(bar, value):
    return value >= float(bar[2:]) if bar.startswith(">=") else value <= float(bar[2:])


def spread(values):
    return f"{number(min(values))}..{number(max(values))}"


def report(name, **facts):
    """Prints `bench NAME key=value …` and says whether the bar, if it has one, was met."""
    bars = THRESHOLDS.get(name, {})
    met = True
    for key in ("ratio", "ours"):
        if key in bars and key in facts:
            met = holds(bars[key], facts[key])
            facts["bar"] = bars[key]
            facts["verdict"] = "met" if met else "MISSED"
            if "aim" in bars:
                facts["aim"] = bars["aim"]
                facts["aimed"] = "reached" if holds(bars["aim"], facts[key]) else "short"
    text = " ".join(f"{key}={number(value) if isinstance(value, float) else value}" for key, value in facts.items())
    print(f"bench {name} {text}", flush=True)
    results.append({"name": name, "met": met, **facts})


def ratios(left, right):
    return [x / y for x, y in zip(left, right)]


def pairs(name, ours, peer, unit, gib=None, count=None):
    """Measures both sides in turns, the one to begin changing each time, and reports the median of the pairs' ratios.

    A side returns its figure, or a `Run`, whose seconds are the figure; with `gib`, what both moved in GiB, its processor
    seconds are reported too.
    """
    count = count or PAIRS
    left, right = [], []
    for turn in range(count):
        sides = [(left, ours), (right, peer)]
        for values, side in sides if turn % 2 == 0 else reversed(sides):
            values.append(side())
        shown = [number(getattr(values[-1], "seconds", values[-1])) for values in (left, right)]
        say(f"  {name} {turn + 1}/{count}: ours {shown[0]}, peer {shown[1]} {unit}")
    a, b = ([getattr(value, "seconds", value) for value in values] for values in (left, right))
    of_pairs = ratios(a, b)
    facts = {"ratio": statistics.median(of_pairs), "ours": statistics.median(a), "peer": statistics.median(b), "unit": unit,
             "pairs": count, "spread": f"{min(of_pairs):.3f}..{max(of_pairs):.3f}", "ours_spread": spread(a),
             "peer_spread": spread(b)}
    if gib:
        for side, values in (("ours", left), ("peer", right)):
            facts[f"{side}_cpu_s_per_gib"] = statistics.median(run.cpu for run in values) / gib
    report(name, **facts)


def built(product):
    """The path of a program of Benchmarks, built now."""
    command = ["scripts/bench/build.sh", product]
    say(f"building {product}")
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def run(command, environment=None):
    """Runs to the end, with all the children it waits for, and returns a `Run`.

    What it writes goes into files: read from a pipe, every line of it would wake this interpreter, on a core that is measured.
    The kernel counts the moment before exec too, so the memory figure is never below this interpreter's own (about 12).
    """
    with tempfile.TemporaryFile() as output_file, tempfile.TemporaryFile() as error_file:
        begin = time.perf_counter()
        process = subprocess.Popen(
            command, env={**os.environ, **(environment or {})}, stdin=subprocess.DEVNULL, stdout=output_file,
            stderr=error_file)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begin
        output_file.seek(0)
        error_file.seek(0)
        output = output_file.read()
        errors = error_file.read()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}:\n{errors.decode(errors='replace')[-2000:]}")
    return Run(output.decode(), seconds, usage.ru_maxrss / 1024, usage.ru_utime + usage.ru_stime)
