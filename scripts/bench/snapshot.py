"""A snapshot of many small files from a hub whose server answers late, beside eight programs of curl at once."""

import contextlib
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

from measure import pairs, run
from origin import CACHE, HEARTH, free_port, wait_for

COUNT = int(os.environ.get("BENCH_SNAPSHOT_FILES", "40"))
SIZE = 1 << 20
DELAY_MS = 50
REPOSITORY = "bench/snapshot"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
# The first is what an engine opens; without it, a hub's repository is no model.
NAMES = ["model.onnx"] + [f"data-{number:04}.bin" for number in range(1, COUNT)]


def publish(folder):
    """The files, and the answers of a hub's API about them; returns the folder of the files."""
    files = os.path.join(folder, REPOSITORY, "resolve", COMMIT)
    facts = os.path.join(folder, "api", "models", REPOSITORY, "tree")
    os.makedirs(files)
    os.makedirs(facts)
    noise = random.Random(20261123)
    tree = []
    for name in NAMES:
        data = noise.randbytes(SIZE)
        with open(os.path.join(files, name), "wb") as file:
            file.write(data)
        tree.append({"type": "file", "path": name, "size": SIZE, "oid": hashlib.sha1(data).hexdigest(),
                     "lfs": {"oid": hashlib.sha256(data).hexdigest(), "size": SIZE, "pointerSize": 132}})
    with open(os.path.join(facts, COMMIT), "w") as file:
        json.dump(tree, file)
    # `api/models/NAME` is the repository's facts and the folder of its tree: the server takes this file for the folder.
    with open(os.path.join(folder, "api", "models", REPOSITORY, "index.json"), "w") as file:
        json.dump({"id": REPOSITORY, "sha": COMMIT, "gated": False, "tags": []}, file)
    return files


@contextlib.contextmanager
def late_server(folder, state):
    """The address of a server of the folder that answers each request after 50 ms."""
    port = free_port()
    log = os.path.join(state, "delayed.log")
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "delayed.py")
    with open(log, "w") as file:
        server = subprocess.Popen([sys.executable, script, str(port), folder, str(DELAY_MS)],
                                  stdout=subprocess.DEVNULL, stderr=file)
    try:
        wait_for(f"http://127.0.0.1:{port}/api/models/{REPOSITORY}", server, log)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()


def same(left, right):
    """Ends the run if a side brought other bytes."""
    for name in NAMES:
        with open(os.path.join(left, name), "rb") as one, open(os.path.join(right, name), "rb") as other:
            if one.read() != other.read():
                raise SystemExit(f"{right}/{name} has other bytes")


def snapshot():
    with tempfile.TemporaryDirectory(dir=CACHE) as state:
        published = os.path.join(state, "published")
        files = publish(published)
        with late_server(published, state) as address:
            home, folder = os.path.join(state, "home"), os.path.join(state, "peer")

            def ours():
                subprocess.run(["sync"], check=True)
                result = run([HEARTH, "pull", f"hf:{REPOSITORY}:*", "--no-probe", "--quiet"],
                             {"HEARTH_HOME": home, "HF_ENDPOINT": address, "HF_TOKEN": "", "HF_HOME": state})
                models = os.path.join(home, "models")
                family = os.path.join(models, next(name for name in os.listdir(models) if not name.startswith(".")))
                same(files, os.path.join(family, "active"))
                shutil.rmtree(home)
                return result

            def curls():
                subprocess.run(["sync"], check=True)
                os.mkdir(folder)
                result = run(["sh", "-ec", f'cd "$1"; shift; printf "%s\\n" "$@" | xargs -P8 -I@ curl -sS --fail -o @ '
                              f'{address}/{REPOSITORY}/resolve/{COMMIT}/@', "sh", folder, *NAMES])
                same(files, folder)
                shutil.rmtree(folder)
                return result

            pairs("pull-snapshot", ours, curls, "s", gib=COUNT * SIZE / (1 << 30))
