"""Other programs that fetch the same file: each a function of the origin, the server's address and a folder, returning a Run."""

import os
import shutil
import sys

from measure import run
from origin import HUB_REPOSITORY

# The quickest of those that were tried: docs/benchmarks.md.
ARIA2 = os.environ.get(
    "BENCH_ARIA2", "-x8 -s8 -k8M --file-allocation=falloc --enable-mmap=true --disk-cache=0").split()


def target(origin, address):
    return f"{address}/{origin.location}"


def whole(path, origin):
    """A peer that ends well with the wrong number of bytes did not do the work."""
    if os.path.getsize(path) != origin.size:
        raise SystemExit(f"{path} has {os.path.getsize(path)} bytes instead of {origin.size}")


def shell(script, *arguments):
    """curl and what comes after it as one command, so that both are counted in one time and one processor time."""
    return run(["sh", "-ec", script, "sh", *arguments])


def curl(origin, address, folder):
    part = os.path.join(folder, "part")
    result = run(["curl", "-sS", "--fail", "-o", part, target(origin, address)])
    whole(part, origin)
    return result


def curl_synced(origin, address, folder):
    part = os.path.join(folder, "part")
    result = shell('curl -sS --fail -o "$1" "$2"; sync -d "$1"', part, target(origin, address))
    whole(part, origin)
    return result


def curl_checked(origin, address, folder):
    part = os.path.join(folder, "part")
    result = shell('curl -sS --fail -o "$1" "$2"; openssl dgst -sha256 -r "$1"', part, target(origin, address))
    if result.output.split()[0] != origin.sha256:
        raise SystemExit(f"curl brought other bytes: {result.output}")
    return result


def aria2(origin, address, folder):
    result = run(["aria2c", "--no-conf", "--quiet", "--allow-overwrite=true", *ARIA2, f"--checksum=sha-256={origin.sha256}",
                  "-d", folder, "-o", "part", target(origin, address)])
    whole(os.path.join(folder, "part"), origin)
    return result


def hub(origin, address, folder):
    """huggingface_hub over plain HTTP, one connection: hf_xet is not installed, and a hub without Xet would not use it."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "hub_client.py")
    result = run([sys.executable, script, HUB_REPOSITORY, origin.name], {
        "PYTHONPATH": os.environ["BENCH_HUB_CLIENT"], "HF_HOME": os.path.join(folder, "hub"), "HF_ENDPOINT": address,
        "HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_XET": "1", "HF_HUB_DISABLE_UPDATE_CHECK": "1",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1"})
    whole(result.output.strip(), origin)
    return result


def clean(folder):
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
