"""Decoding beside busy programs: the adapting number of threads against every fixed one."""

import contextlib
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import pull
from decode import ours
from measure import PAIRS, report, say, spread
from origin import CACHE, FAMILY, HEARTH, Origin, nginx

# What a line of a gigabit a second brings.
RATE = 125_000_000


@contextlib.contextmanager
def busy(count):
    """Programs that never wait: each asks for a core of its own, and for no memory."""
    programs = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        time.sleep(0.5)
        yield
    finally:
        for program in programs:
            program.kill()
            program.wait()


@contextlib.contextmanager
def pulling():
    """Our own pull, received, hashed and written to the disk at a rate of a quick network, again and again."""
    origin = Origin(pull.SIZE)
    origin.warm()
    with tempfile.TemporaryDirectory(dir=CACHE) as state, nginx(origin, state) as address:
        home, is_over, under_way = os.path.join(state, "home"), threading.Event(), []

        def pull_on():
            while not is_over.is_set():
                program = subprocess.Popen(
                    [HEARTH, "pull", FAMILY, "--no-probe", "--quiet", "--limit-rate", str(RATE)],
                    env={**os.environ, "HEARTH_HOME": home, "HEARTH_ORIGIN": f"{address}/models.json"})
                under_way[:] = [program]
                if program.wait() != 0 and not is_over.is_set():
                    say(f"the pull beside ended with {program.returncode}")
                    return
                shutil.rmtree(home, ignore_errors=True)

        puller = threading.Thread(target=pull_on)
        puller.start()
        time.sleep(1)
        try:
            yield
            if not puller.is_alive():
                raise SystemExit("nothing was pulled beside")
        finally:
            is_over.set()
            for program in under_way:
                program.kill()
            puller.join()


def measured(name, beside):
    cores = os.cpu_count() or 1
    rates = {}
    with beside:
        # In turns, so that what the machine does meanwhile meets all of them.
        for _ in range(PAIRS):
            for threads in [None, *sorted({1, max(1, cores - 1), cores})]:
                rates.setdefault(threads, []).append(ours(0, threads)[0])
    adapting = rates.pop(None)
    threads, fixed = max(rates.items(), key=lambda item: statistics.median(item[1]))
    say(f"  {name}: adapting {statistics.median(adapting):.1f}, "
        + ", ".join(f"{count} thread(s) {statistics.median(values):.1f}" for count, values in rates.items()))
    ratios = [x / y for x, y in zip(adapting, fixed)]
    report(name, ratio=statistics.median(ratios), ours=statistics.median(adapting), peer=statistics.median(fixed),
           unit="tokens/s", threads=threads, pairs=PAIRS, spread=f"{min(ratios):.3f}..{max(ratios):.3f}",
           ours_spread=spread(adapting), peer_spread=spread(fixed))


def neighbours():
    for count in range(3):
        measured(f"decode-beside-{count}", busy(count))
    measured("decode-beside-pull", pulling())
