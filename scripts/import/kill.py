#!/usr/bin/env python3
"""Kills imports of a large model at many moments: no file may appear, the next try goes on, and the end is the same file.

    scripts/import/kill.py FOLDER IMPORTER WORK MOMENTS

IMPORTER FOLDER FILE writes a GGUF file into the folder WORK, and prints how many bytes of it an earlier import had written.
"""

import hashlib
import os
import re
import subprocess
import sys
import time

folder, importer, work, moments = *sys.argv[1:4], int(sys.argv[4])
target = os.path.join(work, "killed.gguf")


def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def state(path):
    return sorted((entry.name, entry.stat().st_size, entry.stat().st_mtime_ns) for entry in os.scandir(path))


before = state(folder)
whole = os.path.join(work, "whole.gguf")
start = time.time()
subprocess.run([importer, folder, whole], check=True, stdout=subprocess.DEVNULL)
seconds = time.time() - start
wanted = digest(whole)
os.remove(whole)
resumed, finished, killed = [], 0, 0
while killed < moments:
    process = subprocess.Popen([importer, folder, target], stdout=subprocess.PIPE, text=True)
    # Short runs most of all: a run that finishes starts anew.
    moment = seconds * (0.02 + 0.6 * ((killed * 7) % moments) / moments)
    try:
        text = process.communicate(timeout=moment)[0]
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        killed += 1
        if os.path.exists(target):
            # The kill came after the rename.
            assert digest(target) == wanted, "an unfinished file"
            os.remove(target)
        continue
    assert process.returncode == 0, f"the import failed: {text}"
    assert digest(target) == wanted, "another file"
    os.remove(target)
    finished += 1
    resumed.append(int(re.search(r"resumed (\d+)", text)[1]))
text = subprocess.run([importer, folder, target], check=True, stdout=subprocess.PIPE, text=True).stdout
resumed.append(int(re.search(r"resumed (\d+)", text)[1]))
assert digest(target) == wanted, "another file"
os.remove(target)
assert os.listdir(work) == [], f"left in the folder: {os.listdir(work)}"
assert state(folder) == before, "the model's own files have changed"
assert any(resumed), "no import went on"
print(f"killed {killed} times, finished {finished + 1} times, of which {sum(map(bool, resumed))} went on")
