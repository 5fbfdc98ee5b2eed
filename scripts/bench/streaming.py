"""Reading an answer: UTF-8 assembly, stop strings, the split of thinking and of action blocks, without a model."""

import json
import subprocess

from measure import built, report

# What the figures of HearthStreamBench end with, and how often each was taken for its best.
UNITS = {"MBps": "MB/s", "ns": "ns", "short": "ratio"}


def reading():
    output = subprocess.run([built("HearthStreamBench")], check=True, capture_output=True, text=True).stdout
    for name, value in json.loads(output).items():
        report(f"reading-{name}", ours=value, unit=UNITS[name.rsplit("-", 1)[1]], runs=15)
