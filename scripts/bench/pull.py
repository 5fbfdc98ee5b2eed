"""A verified pull of 2 GiB from nginx on loopback, against curl writing the same bytes to the same disk unchecked."""

import os
import random
import shutil
import socket
import statistics
import struct
import subprocess
import tempfile
import time
import urllib.request

from measure import pairs, report, run, say

HEARTH = os.environ["HEARTH_BINARY"]
CACHE = os.environ["BENCH_CACHE"]
SIZE = int(os.environ.get("BENCH_PULL_BYTES", 2 << 30))
FAMILY = "bench-pull"


def text(value):
    return struct.pack("<Q", len(value)) + value.encode()


def make_model(path):
    """A well-formed GGUF file of SIZE bytes: one tensor of bytes that nothing can compress, the same every time."""
    facts = text("general.architecture") + struct.pack("<I", 8) + text("bench")
    length = SIZE
    for _ in range(2):  # the header's own length does not depend on the number in it
        tensor = text("noise") + struct.pack("<IQIQ", 1, length, 24, 0)
        header = b"GGUF" + struct.pack("<IQQ", 3, 1, 1) + facts + tensor
        header += bytes(-len(header) % 32)
        length = SIZE - len(header)
    noise = random.Random(20261121)
    with open(path + ".tmp", "wb") as file:
        file.write(header)
        while length > 0:
            piece = min(length, 1 << 20)
            file.write(noise.randbytes(piece))
            length -= piece
    os.rename(path + ".tmp", path)


def origin():
    """The published folder; made once and kept in the cache."""
    folder = os.path.join(CACHE, f"origin-{SIZE}")
    if not os.path.exists(os.path.join(folder, "models.json")):
        say(f"making and publishing a model of {SIZE} bytes once")
        source = os.path.join(CACHE, f"{FAMILY}-v1.0.0-i8.gguf")
        # In a process of its own: a child's peak memory is never counted below what its parent once held.
        subprocess.run(["python3", os.path.abspath(__file__), source], check=True)
        run([HEARTH, "publish", source, "--family", FAMILY, "--version", "1.0.0", "--variant", "i8", "--to", folder])
        os.remove(source)
    return folder


def nginx(folder, state):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    temporary = "\n".join(
        f"  {kind}_temp_path {state}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    config = os.path.join(state, "nginx.conf")
    with open(config, "w") as file:
        file.write(
            f"{'user root;' if os.getuid() == 0 else ''} daemon off; worker_processes 1;\n"
            f"pid {state}/pid; error_log {state}/error.log;\n"
            f"events {{ worker_connections 256; }}\n"
            f"http {{\n{temporary}\n  access_log off; sendfile on; tcp_nopush on;\n"
            f"  default_type application/octet-stream; types {{ application/json json; }}\n"
            f"  server {{ listen 127.0.0.1:{port}; root {folder}; }}\n}}\n")
    program = shutil.which("nginx") or "/usr/sbin/nginx"
    server = subprocess.Popen([program, "-p", state, "-e", f"{state}/error.log", "-c", config],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}/models.json"
    for _ in range(100):
        try:
            urllib.request.urlopen(address, timeout=5).close()
            return server, address
        except OSError:
            time.sleep(0.05)
    raise SystemExit("nginx did not start: " + open(f"{state}/error.log").read())


def settle():
    """Nobody pays for the pages the one before left to be written."""
    subprocess.run(["sync"], check=True)


def pull():
    folder = origin()
    name = next(name for name in os.listdir(os.path.join(folder, "models")) if name.endswith(".gguf"))
    with open(os.path.join(folder, "models", name), "rb") as file:
        while file.read(1 << 20):  # both sides read from a warm page cache
            pass
    memory = []
    with tempfile.TemporaryDirectory(dir=CACHE) as state:
        server, address = nginx(folder, state)
        target = address.replace("models.json", f"models/{name}")
        try:
            def ours():
                home = os.path.join(state, "home")
                settle()
                _, seconds, peak = run([HEARTH, "pull", FAMILY, "--quiet"], {"HEARTH_HOME": home, "HEARTH_ORIGIN": address})
                memory.append(peak)
                shutil.rmtree(home)
                return seconds

            def peer():
                part = os.path.join(state, "curl.part")
                settle()
                _, seconds, _ = run(["curl", "-sS", "--noproxy", "*", "-o", part, target])
                os.remove(part)
                return seconds

            pairs("pull-verified", ours, peer, "s")
        finally:
            server.terminate()
            server.wait()
    report("pull-peak-memory", ours=max(memory), median=statistics.median(memory), unit="MiB", limit=64)


if __name__ == "__main__":
    import sys

    make_model(sys.argv[1])
