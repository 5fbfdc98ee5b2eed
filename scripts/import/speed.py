#!/usr/bin/env python3
"""Measures the import of a large model against a copy and the digests of both copies, in interleaved pairs, and the memory of the import.

    scripts/import/speed.py FOLDER IMPORTER WORK [PAIRS]

IMPORTER FOLDER FILE writes a GGUF file into the folder WORK. Prints the seconds of each pair, the
median of the ratios, and the peak of the importer's anonymous memory. The import synchronizes its file; the copy is not.
"""

import os
import shutil
import statistics
import subprocess
import sys
import time

folder, importer, work = sys.argv[1:4]
pairs = int(sys.argv[4]) if len(sys.argv) > 4 else 5
weights = [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.endswith(".safetensors")]


def seconds(body):
    os.sync()
    start = time.time()
    body()
    return time.time() - start


def copy():
    place = os.path.join(work, "copy")
    os.makedirs(place, exist_ok=True)
    subprocess.run(["cp", *weights, place], check=True)
    copies = [os.path.join(place, os.path.basename(name)) for name in weights]
    subprocess.run(["sha256sum", *weights, *copies], check=True, stdout=subprocess.DEVNULL)


def run():
    """The peak of RssAnon in MB: mapped pages are no memory of the process."""
    process = subprocess.Popen([importer, folder, os.path.join(work, "model.gguf")], stdout=subprocess.DEVNULL)
    peak = 0
    while process.poll() is None:
        try:
            with open(f"/proc/{process.pid}/status") as file:
                for line in file:
                    if line.startswith("RssAnon"):
                        peak = max(peak, int(line.split()[1]))
        except OSError:
            pass
        time.sleep(0.005)
    if process.returncode:
        raise SystemExit(f"the import failed: {process.returncode}")
    run.peak = max(run.peak, peak / 1000)


run.peak = 0
ratios = []
for pair in range(pairs):
    for path in ("copy", "model.gguf"):
        place = os.path.join(work, path)
        shutil.rmtree(place) if os.path.isdir(place) else os.path.exists(place) and os.remove(place)
    copied = seconds(copy)
    start = time.time()
    os.sync()
    synced = time.time() - start
    imported = seconds(run)
    ratios.append(imported / copied)
    print(f"copy and digests {copied:.2f} s, then to the disk {synced:.2f} s, import {imported:.2f} s", flush=True)
print(f"median of import to copy {statistics.median(ratios):.2f}, anonymous memory at most {run.peak:.0f} MB")
