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
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

import seed

KEY, SECRET = "HEARTHKEY", "hearth/secret+key"
PREFIX = "origin"


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def wait_for(port):
    for _ in range(300):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.1)
    sys.exit(f"publish.py: nothing listens on port {port}")


def signed(method, url, headers=()):
    request = AWSRequest(method, url, dict(headers))
    S3SigV4Auth(Credentials(KEY, SECRET), "s3", "us-east-1").add_auth(request)
    return dict(request.headers.items())


class Server:
    """An S3 server with a bucket named models, and the address at which it is read without a key."""

    def __init__(self, kind, folder):
        self.kind, self.port = kind, free_port()
        self.log = open(os.path.join(folder, f"{kind}.log"), "wb")
        self.endpoint = f"http://127.0.0.1:{self.port}"
        if kind == "rclone":
            os.makedirs(os.path.join(folder, "rclone", "models"))
            program = shutil.which("rclone")
            # Without a cache each request is on the disk when it is answered. With one, a catalog that was overwritten is
            # announced with its new length, and for seconds sent with the bytes of the old one.
            # Folders are forgotten after 50 ms: with 0 a timer of rclone fires all the time, and takes the processor.
            words = [program, "serve", "s3", "--addr", f"127.0.0.1:{self.port}", "--auth-key", f"{KEY},{SECRET}",
                     "--vfs-cache-mode", "off", "--dir-cache-time", "50ms",
                     os.path.join(folder, "rclone")]
        else:
            words = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(self.port)]
        environment = dict(os.environ, RCLONE_CONFIG=os.path.join(folder, "none.conf"), MOTO_S3_CUSTOM_ENDPOINTS="")
        self.process = subprocess.Popen(words, stdout=self.log, stderr=self.log, env=environment)
        wait_for(self.port)
        if kind == "moto":
            url = f"{self.endpoint}/models"
            urllib.request.urlopen(urllib.request.Request(url, method="PUT", headers=signed("PUT", url))).close()
        self.public = f"http://127.0.0.1:{self.front()}/models/{PREFIX}"

    def front(self):
        """A server that reads the bucket for people without a key, as a content delivery network does."""
        endpoint = self.endpoint

        class Front(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                given = {"Range": self.headers["Range"]} if self.headers["Range"] else {}
                connection = http.client.HTTPConnection(endpoint.split("//")[1], timeout=60)
                connection.request(self.command, self.path, headers=signed(self.command, endpoint + self.path, given))
                answer = connection.getresponse()
                # rclone answers ranges with 200; a delivery network does not.
                self.send_response(206 if answer.status == 200 and answer.headers["Content-Range"] else answer.status)
                for name in ["Content-Length", "Content-Range", "Cache-Control", "Content-Type", "ETag"]:
                    if answer.headers[name]:
                        self.send_header(name, answer.headers[name])
                if not answer.headers["Content-Length"]:
                    self.send_header("Connection", "close")
                    self.close_connection = True
                self.end_headers()
                if self.command == "GET":
                    shutil.copyfileobj(answer, self.wfile)
                connection.close()

            do_HEAD = do_GET

            def log_message(self, *words):
                pass

        class Quiet(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, request, address):
                """Clients that are killed in the middle of an answer are part of the test."""

        server = Quiet(("127.0.0.1", 0), Front)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return server.server_address[1]

    def settle(self):
        """Waits until the server has ended the requests of a publisher that was killed.

        rclone writes to files in place: a request that is still under way would write into the next publisher's files.
        """
        if self.kind != "rclone":
            return
        for _ in range(600):
            with open("/proc/net/tcp", encoding="ascii") as table:
                rows = [line.split() for line in table]
            # Column 1 is the local address, 3 the state: 08 is a connection that only the other side has closed.
            if not any(row[1].endswith(f":{self.port:04X}") and row[3] == "08" for row in rows):
                return
            time.sleep(0.01)

    def stop(self):
        self.process.terminate()
        self.process.wait()


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
            sys.exit(f"publish.py: {' '.join(words)}: status {process.returncode}\n"
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
                    sys.exit("publish.py: " + "; ".join(watcher.problems[:10]))
            if process.returncode == 0:
                break
            if process.returncode != -signal.SIGKILL:
                sys.exit(f"publish.py: status {process.returncode}\n{out.decode()}{errors.decode()[-2000:]}")
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
                sys.exit(f"publish.py: status {process.returncode}: {errors.decode()[-2000:]}")
    catalog = json.loads(read(server.public + "/models.json")[2])
    families = {entry["family"] for entry in catalog["models"]}
    if not {"one", "two"} <= families:
        sys.exit(f"publish.py: one publisher's release was lost: {sorted(families)}")


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
                sys.exit(f"publish.py: a wrong key: {errors}")
        with watcher.pause:
            publisher.run("origin", "prune", to, "--keep", "0")
        out, _ = publisher.run("origin", "check", server.public, "--all", "--format", "json")
        report = json.loads(out)
        # rclone forgets headers when it is asked for a range.
        if [found for found in report["findings"] if kind == "moto" or found["weight"] == "fault"]:
            sys.exit(f"publish.py: {report['findings']}")
        watcher.ended = True
        watcher.join()
        if watcher.problems:
            sys.exit("publish.py: " + "; ".join(watcher.problems[:10]))
        print(f"{kind}: {killed} kills in {versions} publications ({whole:.2f} s undisturbed); {len(watcher.seen)} catalogs "
              f"seen in {watcher.readings} readings and {watcher.checks} checks after kills ({watcher.torn} repeated in the "
              f"middle of the server's writing), none lacked a file; "
              f"{report['comparedBytes']} bytes compared at the end", flush=True)
        if model:
            answer, is_same = seed.steps(publisher, model)
            print(f"{kind}: a device that trusts one root alone pulled the model, and answered: {answer!r}; after a thief's "
                  f"publication {'the same' if is_same else 'ANOTHER ANSWER'}", flush=True)
            if not is_same:
                sys.exit("publish.py: the device's model changed")
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
