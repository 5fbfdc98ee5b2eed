#!/usr/bin/env python3
"""Publishes to two S3 servers of other people, and kills the publisher at random moments.

    scripts/publish/kills.py BINARY [--kills N] [--server rclone|moto] [--model FILE.gguf]

Needs the packages of scripts/requirements/s3.txt. `rclone serve s3` checks signatures and ignores conditions; moto obeys
conditions and checks no signature. A watcher reads the public address all the time, and once more after each kill: it must
never see a catalog of which a file is missing or has another length.

With a model, a new publisher's steps follow, to an answer on a device that trusts this publisher alone (publish/seed.py).
"""
import argparse
import hashlib
import http.client
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

import seed
from bucket import KEY, PREFIX, SECRET, Server


def read(url, range_=None):
    headers = {"Range": range_} if range_ else {}
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=60) as answer:
        return answer.status, dict(answer.headers), answer.read()


class Watcher(threading.Thread):
    """Reads the public catalog again and again, and asks for the last byte of each file that it names."""

    def __init__(self, public):
        super().__init__(daemon=True)
        self.public, self.seen, self.problems, self.readings, self.checks = public, set(), [], 0, 0
        self.torn = 0
        self.pause, self.ended = threading.Lock(), False

    def run(self):
        while not self.ended:
            with self.pause:
                self.look()
            time.sleep(0.02)

    def look(self):
        """Examines the catalog unless it was seen before."""
        found = self.catalog()
        if found is None:
            return
        self.readings += 1
        data, catalog = found
        digest = hashlib.sha256(data).hexdigest()
        if digest not in self.seen:
            self.seen.add(digest)
            self.examine(catalog)

    def check(self):
        """Examines the catalog after a kill, whether it was seen before or not."""
        with self.pause:
            self.checks += 1
            found = self.catalog()
            if found is None:
                self.problems.append("after a kill there is no catalog")
            else:
                self.examine(found[1])

    def catalog(self):
        """The bytes of the catalog, and the catalog; None if there is none.

        rclone overwrites files in place. So a reader may get less than the announced length, or other bytes, which no device takes;
        it reads again. A catalog that stays so is a problem.
        """
        for _ in range(50):
            try:
                data = read(self.public + "/models.json")[2]
                return data, json.loads(data)
            except (http.client.IncompleteRead, ValueError) as error:
                self.torn += 1
                last = error
                time.sleep(0.05)
            except (OSError, http.client.HTTPException):
                return None
        self.problems.append(f"the catalog stays broken: {last}")
        return None

    def examine(self, catalog):
        for entry in catalog["models"]:
            for url, size in [(entry["downloadUrl"], entry["sizeBytes"]),
                              (entry["index"]["url"], entry["index"]["sizeBytes"])]:
                try:
                    status, headers, _ = read(f"{self.public}/{url}", f"bytes={size - 1}-{size - 1}")
                    total = headers.get("Content-Range", "").split("/")[-1]
                    if status != 206 or total != str(size):
                        self.problems.append(f"serial {catalog['serial']}: {url} has {total} of {size} bytes")
                except urllib.error.HTTPError as error:
                    self.problems.append(f"serial {catalog['serial']}: {url}: status {error.code}")


class Publisher:
    def __init__(self, binary, server, folder):
        self.binary, self.server, self.folder = binary, server, folder
        self.environment = {
            "PATH": os.environ["PATH"], "HOME": folder, "HEARTH_HOME": os.path.join(folder, "home"), "NO_COLOR": "1",
            "RCLONE_CONFIG_R2_TYPE": "s3", "RCLONE_CONFIG_R2_ACCESS_KEY_ID": KEY,
            "RCLONE_CONFIG_R2_SECRET_ACCESS_KEY": SECRET, "RCLONE_CONFIG_R2_ENDPOINT": server.endpoint,
            "RCLONE_CONFIG_R2_REGION": "us-east-1",
        }

    def start(self, *words, **more):
        return subprocess.Popen(
            [self.binary, *words], env=dict(self.environment, **more), stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run(self, *words, expect=0, **more):
        process = self.start(*words, **more)
        out, errors = process.communicate(timeout=600)
        if process.returncode != expect:
            sys.exit(f"kills.py: {' '.join(words)}: status {process.returncode}\n"
                     f"{out.decode()}{errors.decode()[-2000:]}")
        return out.decode(), errors.decode()

    def model(self, name, megabytes):
        """A model file of random bytes."""
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(b"GGUF" + (3).to_bytes(4, "little") + bytes(16) + b"\0" * 8)
            for _ in range(megabytes):
                file.write(random.randbytes(1 << 20))
        return path

    def publish(self, path):
        return ["publish", path, "--to", f"r2:models/{PREFIX}", "--public", self.server.public]


def kills(publisher, watcher, count):
    """Publishes versions one after the other; each attempt is killed at a random moment until one is quicker."""
    to = f"r2:models/{PREFIX}"
    # How long an undisturbed publication takes, of one, two and three parts.
    whole = {}
    for number, size in enumerate([2, 9, 17]):
        begin = time.monotonic()
        publisher.run(*publisher.publish(publisher.model(f"m-v0.0.{number + 1}-q4.gguf", size)))
        whole[size] = time.monotonic() - begin
    killed, version = 0, 0
    while killed < count:
        version += 1
        size = random.choice(list(whole))
        path = publisher.model(f"m-v1.0.{version}-q4.gguf", size)
        attempts = 0
        while True:
            # The later ones live longer, so that each version is published at last.
            attempts += 1
            process = publisher.start(*publisher.publish(path))
            if killed < count:
                try:
                    process.wait(timeout=random.uniform(0.01, whole[size] * (1 + attempts / 8)))
                except subprocess.TimeoutExpired:
                    process.send_signal(signal.SIGKILL)
            out, errors = process.communicate()
            if process.returncode == -signal.SIGKILL:
                killed += 1
                publisher.server.settle()
                watcher.check()
                if watcher.problems:
                    sys.exit("kills.py: " + "; ".join(watcher.problems[:10]))
            if process.returncode == 0:
                break
            if process.returncode != -signal.SIGKILL:
                sys.exit(f"kills.py: status {process.returncode}\n{out.decode()}{errors.decode()[-2000:]}")
        os.remove(path)
        if version % 4 == 0:
            # No device reads while files go, since only the present catalog counts.
            with watcher.pause:
                for old in range(max(1, version - 4), version):
                    publisher.run("unpublish", f"m@1.0.{old}", "--to", to)
                publisher.run("origin", "prune", to, "--keep", "0")
                publisher.run("origin", "check", watcher.public)
    return killed, version, max(whole.values())


def together(publisher, server):
    """Two publishers at the same moment: on a server that obeys conditions, no catalog is lost."""
    paths = [publisher.model(f"{name}-v1.0.0-q4.gguf", 1) for name in ["one", "two"]]
    waiting = list(paths)
    while waiting:
        running = [(path, publisher.start(*publisher.publish(path))) for path in waiting]
        waiting = []
        for path, process in running:
            _, errors = process.communicate(timeout=600)
            if process.returncode == 75 and b"[origin-changed]" in errors:
                waiting.append(path)
            elif process.returncode != 0:
                sys.exit(f"kills.py: status {process.returncode}: {errors.decode()[-2000:]}")
    catalog = json.loads(read(server.public + "/models.json")[2])
    families = {entry["family"] for entry in catalog["models"]}
    if not {"one", "two"} <= families:
        sys.exit(f"kills.py: one publisher's release was lost: {sorted(families)}")


def check(kind, binary, count, model):
    folder = tempfile.mkdtemp(prefix="hearth-publish-")
    server = Server(kind, folder)
    try:
        publisher = Publisher(binary, server, folder)
        watcher = Watcher(server.public)
        watcher.start()
        killed, versions, whole = kills(publisher, watcher, count)
        to = f"r2:models/{PREFIX}"
        publisher.run("rollout", "m@0.0.1", "--percent", "10", "--to", to)
        publisher.run("yank", "m@0.0.1", "--reason", "old", "--to", to)
        if kind == "moto":
            together(publisher, server)
        else:
            _, errors = publisher.run(
                "unpublish", "m@0.0.1", "--to", to, expect=1, RCLONE_CONFIG_R2_SECRET_ACCESS_KEY="wrong")
            if "[bucket-refused]" not in errors:
                sys.exit(f"kills.py: a wrong key: {errors}")
        with watcher.pause:
            publisher.run("origin", "prune", to, "--keep", "0")
        out, _ = publisher.run("origin", "check", server.public, "--all", "--format", "json")
        report = json.loads(out)
        # rclone forgets headers when it is asked for a range.
        if [found for found in report["findings"] if kind == "moto" or found["weight"] == "fault"]:
            sys.exit(f"kills.py: {report['findings']}")
        watcher.ended = True
        watcher.join()
        if watcher.problems:
            sys.exit("kills.py: " + "; ".join(watcher.problems[:10]))
        print(f"{kind}: {killed} kills in {versions} publications ({whole:.2f} s undisturbed); {len(watcher.seen)} catalogs "
              f"seen in {watcher.readings} readings and {watcher.checks} checks after kills ({watcher.torn} repeated in the "
              f"middle of the server's writing), none lacked a file; "
              f"{report['comparedBytes']} bytes compared at the end", flush=True)
        if model:
            answer, is_same = seed.steps(publisher, model)
            print(f"{kind}: a device that trusts one root alone pulled the model, and answered: {answer!r}; after a thief's "
                  f"publication {'the same' if is_same else 'ANOTHER ANSWER'}", flush=True)
            if not is_same:
                sys.exit("kills.py: the device's model changed")
    except SystemExit:
        with open(server.log.name, errors="replace") as log:
            print("".join(log.readlines()[-20:]), file=sys.stderr)
        raise
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
arguments.add_argument("binary")
arguments.add_argument("--kills", type=int, default=200)
arguments.add_argument("--server", choices=["rclone", "moto"])
arguments.add_argument("--model", help="a GGUF file for the steps of a new publisher")
options = arguments.parse_args()
for name in [options.server] if options.server else ["rclone", "moto"]:
    check(name, os.path.abspath(options.binary), options.kills, options.model)
