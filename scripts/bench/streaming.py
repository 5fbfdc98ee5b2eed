"""Reading an answer: UTF-8 assembly, stop strings, the split of thinking and of action blocks, without a model."""

import json
import os
import subprocess

from measure import report, say

# What the figures of HearthStreamBench end with, and how often each was taken for its best.
UNITS = {"MBps": "MB/s", "ns": "ns", "short": "ratio"}


def reading():
    path = f"--pkg-config-path={os.environ['LLAMA_BIN']}/../lib/pkgconfig"
    build = ["swift", "build", "-c", "release", "--static-swift-stdlib", "--no-color-diagnostics", path]
    say("building the bench")
    subprocess.run(build + ["--product", "HearthStreamBench"], check=True, stdout=subprocess.DEVNULL)
    folder = subprocess.run(build + ["--show-bin-path"], check=True, capture_output=True, text=True).stdout.strip()
    output = subprocess.run([f"{folder}/HearthStreamBench"], check=True, capture_output=True, text=True).stdout
    for name, value in json.loads(output).items():
        report(f"reading-{name}", ours=value, unit=UNITS[name.rsplit("-", 1)[1]], runs=15)
