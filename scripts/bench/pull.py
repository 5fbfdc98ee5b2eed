"""Verified, durable pulls from nginx on loopback, beside what other programs make of the same file."""

import os
import shutil
import statistics
import subprocess
import tempfile

import peers
from measure import pairs, report, run
from origin import CACHE, FAMILY, HEARTH, Origin, nginx, throttled

SIZE = int(os.environ.get("BENCH_PULL_BYTES", 2 << 30))
LIMITED_SIZE = int(os.environ.get("BENCH_LIMITED_BYTES", 512 << 20))
LIMIT = 10_000_000
LARGE_SIZE = int(os.environ.get("BENCH_LARGE_BYTES", 20 << 30))


def settle():
    """Writes out the pages that the run before left."""
    subprocess.run(["sync"], check=True)


def pull(address, state, *options):
    """One pull into a home of its own, which is gone afterwards."""
    home = os.path.join(state, "home")
    settle()
    result = run([HEARTH, "pull", FAMILY, "--no-probe", "--quiet", *options],
                 {"HEARTH_HOME": home, "HEARTH_ORIGIN": f"{address}/models.json"})
    shutil.rmtree(home)
    return result


def against(name, peer, size=SIZE, relay=None):
    """Pairs of ours and one peer; returns our peak memories."""
    origin = Origin(size)
    origin.warm()
    memory = []
    with tempfile.TemporaryDirectory(dir=CACHE) as state, nginx(origin, state) as server:
        folder = os.path.join(state, "peer")
        os.mkdir(folder)

        def both(address):
            def ours():
                result = pull(address, state)
                memory.append(result.peak)
                return result

            def theirs():
                settle()
                result = peer(origin, address, folder)
                peers.clean(folder)
                return result

            pairs(name, ours, theirs, "s", gib=size / (1 << 30))

        if relay:
            with throttled(server, state, relay) as address:
                both(address)
        else:
            both(server)
    return memory


def verified():
    memory = against("pull-verified", peers.curl)
    report("pull-peak-memory", ours=max(memory), median=statistics.median(memory), unit="MiB", limit=64)


def synced():
    against("pull-synced", peers.curl_synced)


def checked():
    against("pull-checked", peers.curl_checked)


def aria2():
    against("pull-aria2", peers.aria2)


def hub():
    against("pull-hub", peers.hub)


def limited():
    against("pull-limited", peers.curl, LIMITED_SIZE, LIMIT)


def large():
    """Memory must not grow with the file; the source takes no room, what is pulled takes all of it."""
    free = shutil.disk_usage(CACHE).free
    if free < LARGE_SIZE * 1.25:
        raise SystemExit(f"pull-large needs {LARGE_SIZE * 1.25 / 1e9:.0f} GB of free disk; there are {free / 1e9:.0f}")
    origin = Origin(LARGE_SIZE, is_sparse=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as state, nginx(origin, state) as address:
        result = pull(address, state, "--ignore-memory")
    gib = LARGE_SIZE / (1 << 30)
    report("pull-large-peak-memory", ours=result.peak, unit="MiB", limit=64, gib=gib, seconds=result.seconds,
           ours_cpu_s_per_gib=result.cpu / gib)
