"""The model that is pulled, the folder it is published in, and the nginx that serves both it and a hub."""

import contextlib
import json
import os
import random
import shutil
import socket
import struct
import subprocess
import sys
import time
import urllib.request

from measure import run, say

HEARTH = os.environ.get("HEARTH_BINARY")
CACHE = os.environ.get("BENCH_CACHE")
FAMILY = "bench-pull"
# What the hub calls the same file: HUB_REPOSITORY at HUB_COMMIT.
HUB_REPOSITORY = "bench/pull"
HUB_COMMIT = "0123456789abcdef0123456789abcdef01234567"


def text(value):
    return struct.pack("<Q", len(value)) + value.encode()


def make_model(path, size, is_sparse):
    """A well-formed GGUF file of `size` bytes: one tensor of noise, the same every time, or of zeros that take no room."""
    facts = text("general.architecture") + struct.pack("<I", 8) + text("bench")
    length = size
    for _ in range(2):  # the header's own length does not depend on the number in it
        tensor = text("noise") + struct.pack("<IQIQ", 1, length, 24, 0)
        header = b"GGUF" + struct.pack("<IQQ", 3, 1, 1) + facts + tensor
        header += bytes(-len(header) % 32)
        length = size - len(header)
    noise = random.Random(20261121)
    with open(path + ".tmp", "wb") as file:
        file.write(header)
        if is_sparse:
            file.truncate(size)
            length = 0
        while length > 0:
            piece = min(length, 1 << 20)
            file.write(noise.randbytes(piece))
            length -= piece
    os.rename(path + ".tmp", path)


class Origin:
    """A published folder with one model; made once and kept in the cache."""

    def __init__(self, size, is_sparse=False):
        self.size = size
        self.folder = os.path.join(CACHE, f"origin-{size}{'-sparse' if is_sparse else ''}")
        models = os.path.join(self.folder, "models")
        if not os.path.exists(os.path.join(self.folder, "models.json")):
            say(f"making and publishing a model of {size} bytes once")
            # Published where it lies: nothing is copied, and holes stay holes.
            os.makedirs(models, exist_ok=True)
            source = os.path.join(models, f"{FAMILY}-v1.0.0-i8.gguf")
            # In a process of its own: a child's peak memory is never counted below what its parent once held.
            subprocess.run([sys.executable, os.path.abspath(__file__), source, str(size), str(int(is_sparse))], check=True)
            run([HEARTH, "publish", source, "--family", FAMILY, "--version", "1.0.0", "--variant", "i8", "--to", self.folder])
        with open(os.path.join(self.folder, "models.json")) as file:
            entry = json.load(file)["models"][0]
        self.sha256, self.location = entry["sha256"], entry["downloadUrl"]
        self.name = os.path.basename(self.location)
        self.path = os.path.join(self.folder, self.location)

    def warm(self):
        """The measured program reads from a warm page cache."""
        with open(self.path, "rb") as file:
            while file.read(1 << 20):
                pass


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def configuration(origin, state, port, storage):
    temporary = "\n".join(
        f"  {kind}_temp_path {state}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    # As the real hub does with a large file: the name answers with its facts and a redirect to another server's bytes.
    hub = (f"    location ~ ^/{HUB_REPOSITORY}/resolve/[^/]+/(?<file>.+)$ {{\n"
           f"      add_header X-Repo-Commit {HUB_COMMIT} always;\n"
           f"      add_header X-Linked-ETag '\"{origin.sha256}\"' always;\n"
           f"      add_header X-Linked-Size {origin.size} always;\n"
           f"      return 302 http://127.0.0.1:{storage}/models/$file;\n    }}\n")
    return (f"{'user root;' if os.getuid() == 0 else ''} daemon off; worker_processes 1;\n"
            f"pid {state}/pid; error_log {state}/error.log;\n"
            f"events {{ worker_connections 256; }}\n"
            f"http {{\n{temporary}\n  access_log off; sendfile on; tcp_nopush on; keepalive_requests 100000;\n"
            f"  default_type application/octet-stream; types {{ application/json json; }}\n"
            f"  server {{\n    listen 127.0.0.1:{port}; root {origin.folder};\n{hub}  }}\n"
            f"  server {{ listen 127.0.0.1:{storage}; root {origin.folder}; }}\n}}\n")


def wait_for(address, server, log):
    for _ in range(100):
        try:
            urllib.request.urlopen(address, timeout=5).close()
            return
        except OSError:
            if server.poll() is not None:
                break
            time.sleep(0.05)
    raise SystemExit(f"no answer from {address}: {open(log).read()[-2000:] if os.path.exists(log) else ''}")


@contextlib.contextmanager
def nginx(origin, state):
    """The address of an nginx that serves the origin and the hub, for as long as the context lasts."""
    port = free_port()
    config, log = os.path.join(state, "nginx.conf"), os.path.join(state, "error.log")
    with open(config, "w") as file:
        file.write(configuration(origin, state, port, free_port()))
    program = shutil.which("nginx") or "/usr/sbin/nginx"
    server = subprocess.Popen([program, "-p", state, "-e", log, "-c", config],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(f"http://127.0.0.1:{port}/models.json", server, log)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()


@contextlib.contextmanager
def throttled(address, state, rate):
    """The address of a relay before `address` that carries at most `rate` bytes a second on each connection."""
    port = free_port()
    log = os.path.join(state, "throttle.log")
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "throttle.py")
    with open(log, "w") as file:
        relay = subprocess.Popen([sys.executable, script, str(port), address.rsplit(":", 1)[1], str(rate)],
                                 stdout=subprocess.DEVNULL, stderr=file)
    try:
        wait_for(f"http://127.0.0.1:{port}/models.json", relay, log)
        yield f"http://127.0.0.1:{port}"
    finally:
        relay.terminate()
        relay.wait()


if __name__ == "__main__":
    make_model(sys.argv[1], int(sys.argv[2]), sys.argv[3] == "1")
