#!/usr/bin/env python3
"""Kills an app and the service that downloads for it, N times while eight models arrive: kill.py PROBE [N [FAULT…]].

The app is Tests/BackgroundProbe, the service daemon.py, and the models come from a server here, which serves as many bytes as the
kills so far allow: the kills cover all of the download, its checks and the installations. At the end every installed file must have
its SHA-256, no byte may have been ordered while an order for it ran or after one had brought it, and the server may not have sent
more than 1.05 times the bytes. With faults of daemon.py, bytes may be sent again, and only the files are checked.

HEARTH_BACKGROUND_BYTES   the bytes of all models (default 640 MiB)
SEED                      of the moments (default: a new one, which is told)
"""
import hashlib
import http.server
import json
import os
import pathlib
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
SHARES = [1, 2, 4, 6, 9, 12, 20, 26]
PIECE = 16 << 20
STEP = 16 << 10
LIMIT = 1.05
# The longest time that the last steps may take after the kills, in seconds.
LONGEST_END = 240


class Origin(http.server.ThreadingHTTPServer):
    """Serves the models; counts what it has sent of each, and holds back what the kills do not allow yet."""
    daemon_threads = True

    def __init__(self, total, seed):
        super().__init__(("127.0.0.1", 0), Answer)
        source = random.Random(seed)
        block = source.randbytes(1 << 20)
        self.models = {}
        for number, share in enumerate(SHARES):
            size = total * share // sum(SHARES) + source.randrange(4096)
            # A head that no two models share, so that no two pieces do.
            data = f"model {number} ".encode() + block * (size // len(block) + 1)
            self.models[f"model-{number}"] = memoryview(bytearray(data[:size]))
        for data in self.models.values():
            for offset in range(0, len(data), 1 << 20):
                data[offset:offset + 8] = source.randbytes(8)[:len(data[offset:offset + 8])]
        self.total = sum(map(len, self.models.values()))
        self.sent, self.allowed = dict.fromkeys(self.models, 0), 0
        self.condition = threading.Condition()

    def handle_error(self, request, address):
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, address)

    def manifest(self):
        return json.dumps({"schemaVersion": 1, "currentVersion": "1.0.0", "models": [
            {"id": name, "version": "1.0.0", "filename": f"{name}-v1.0.0.gguf", "sizeBytes": len(data),
             "sha256": hashlib.sha256(data).hexdigest(), "minAppVersion": "1.0.0", "downloadUrl": f"files/{name}"}
            for name, data in self.models.items()]}).encode()

    def allow(self, count):
        with self.condition:
            self.allowed = count
            self.condition.notify_all()

    def take(self, name, count):
        """Waits until so many bytes may be sent, and counts them."""
        with self.condition:
            self.condition.wait_for(lambda: sum(self.sent.values()) + count <= self.allowed)
            self.sent[name] += count


class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def setup(self):
        # Bytes in the system's buffers are sent and never arrive if the reader is killed.
        self.request.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, STEP)
        super().setup()

    def log_message(self, *_):
        pass

    def do_GET(self):
        name = self.path.rsplit("/", 1)[1]
        data = memoryview(self.server.body) if name == "models.json" else self.server.models.get(name)
        if data is None:
            return self.send_error(404)
        first, last = 0, len(data) - 1
        if asked := self.headers.get("Range"):
            start, _, end = asked.removeprefix("bytes=").partition("-")
            first, last = int(start), min(last, int(end)) if end else last
        self.send_response(206 if asked else 200)
        if asked:
            self.send_header("Content-Range", f"bytes {first}-{last}/{len(data)}")
        self.send_header("Content-Length", str(last + 1 - first))
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("ETag", f'"{name}"')
        self.end_headers()
        try:
            for offset in range(first, last + 1, STEP):
                piece = data[offset:min(last + 1, offset + STEP)]
                if name in self.server.models:
                    self.server.take(name, len(piece))
                self.wfile.write(piece)
        except OSError:
            self.close_connection = True


class Children:
    """The app and the service; each is started again when it has ended."""
    def __init__(self, folder, probe, origin, faults, source):
        self.folder, self.probe, self.origin, self.faults, self.source = folder, probe, origin, faults, source
        self.app = self.service = None
        self.output = open(f"{folder}/app.txt", "ab")
        self.done = False

    def keep(self):
        if self.service is None or self.service.poll() is not None:
            self.service = subprocess.Popen(
                [sys.executable, HERE / "daemon.py", f"{self.folder}/service", *self.faults],
                env=os.environ | {"SEED": str(self.source.random())})
        if not self.done and (self.app is None or self.app.poll() is not None):
            if self.app is not None and self.app.returncode == 0 and self.app.args[1] == "front":
                self.done = True
                return
            words = ["background" if self.source.random() < 0.25 else "front", f"{self.folder}/home",
                     f"http://127.0.0.1:{self.origin.server_port}/models.json", f"{self.folder}/service/socket", str(PIECE)]
            self.app = subprocess.Popen([self.probe, *words], stdout=self.output, stderr=self.output)

    def kill(self, child):
        child.kill()
        child.wait()

    def end(self):
        for child in (self.app, self.service):
            if child is not None and child.poll() is None:
                self.kill(child)


def ordered_twice(path):
    """The orders for bytes for which another order ran, or which one had brought."""
    alive, brought, wrong = {}, [], []
    for line in open(path):
        entry = json.loads(line)
        key = entry["task"]
        if entry["event"] == "ordered":
            for other in [*alive.values(), *brought]:
                if other["sha256"] == entry["sha256"] and other["start"] < entry["end"] and entry["start"] < other["end"]:
                    wrong.append((other, entry))
            alive[key] = entry
        else:
            ended = alive.pop(key, None)
            if entry["event"] == "landed" and ended:
                brought.append(ended)
    return wrong


def check(folder, origin, faults):
    problems = []
    files = {path.stat().st_size: path for path in pathlib.Path(f"{folder}/home").rglob("*.gguf") if path.is_file()}
    for name, data in origin.models.items():
        path = files.get(len(data))
        if path is None or hashlib.sha256(path.read_bytes()).digest() != hashlib.sha256(data).digest():
            problems.append(f"{name} is {'wrong' if path else 'missing'}")
    if not faults:
        problems += [f"{second['id']} orders bytes of {first['id']}" for first, second in ordered_twice(f"{folder}/service/orders.jsonl")]
        if sum(origin.sent.values()) > LIMIT * origin.total:
            problems.append("too many bytes were sent")
    return problems


def main():
    probe, count, faults = sys.argv[1], int((sys.argv + ["200"])[2]), sys.argv[3:]
    seed = os.environ.get("SEED") or str(random.randrange(1 << 32))
    source = random.Random(seed)
    folder = tempfile.mkdtemp(prefix="hearth-background-")
    origin = Origin(int(os.environ.get("HEARTH_BACKGROUND_BYTES", 640 << 20)), seed)
    origin.body = origin.manifest()
    threading.Thread(target=origin.serve_forever, daemon=True).start()
    children = Children(folder, probe, origin, faults, source)
    kills = {"app": 0, "service": 0}
    try:
        begun = time.monotonic()
        while sum(kills.values()) < count and not children.done:
            origin.allow(int(origin.total * 1.0 * (sum(kills.values()) + 1) / count))
            children.keep()
            time.sleep(source.uniform(0.02, 0.5))
            what = source.choice(["app", "service"])
            child = getattr(children, what)
            if child is not None and child.poll() is None:
                children.kill(child)
                kills[what] += 1
        origin.allow(origin.total * 10)
        end = time.monotonic() + LONGEST_END
        while not children.done and time.monotonic() < end:
            children.keep()
            time.sleep(0.05)
        problems = check(folder, origin, faults)
        if not children.done:
            problems.append(f"the app did not end in {LONGEST_END} s")
        if sum(kills.values()) < count:
            problems.append("the app ended before the last kill")
    finally:
        children.end()
    sent = sum(origin.sent.values())
    orders = sum(json.loads(line)["event"] == "ordered" for line in open(f"{folder}/service/orders.jsonl"))
    print(f"background{' with ' + ', '.join(faults) if faults else ''}: {kills['app']} kills of the app and {kills['service']} of the "
          f"service while {len(SHARES)} models of {origin.total >> 20} MiB came in {orders} orders and {time.monotonic() - begun:.0f} s; "
          f"{sent / origin.total:.4f} times the bytes were sent")
    if problems:
        print(*problems, f"seed {seed}, {folder}", sep="\n")
        return 1
    shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
