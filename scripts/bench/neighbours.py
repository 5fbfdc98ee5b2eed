"""Decoding beside busy programs: the adapting number of threads against every fixed one."""

import contextlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import pull
from decode import MODEL, TOKENS, ours
from measure import PAIRS, built, report, run, say, spread
from origin import CACHE, FAMILY, HEARTH, Origin, free_port, nginx

# What a line of a gigabit a second brings.
RATE = 125_000_000
# What is hashed and served.
SMALL = 256 << 20


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


@contextlib.contextmanager
def asked(address):
    """Fetches a file from us, once its server answers, at the rate of a quick network, again and again."""
    is_over, under_way, received = threading.Event(), [], []

    def ask_on():
        while not is_over.is_set():
            program = subprocess.Popen(
                ["curl", "--silent", "--fail", "--limit-rate", str(RATE), "--output", "/dev/null",
                 "--write-out", "%{size_download}", address], stdout=subprocess.PIPE, text=True)
            under_way[:] = [program]
            # Also of one that lost us when the answer was over.
            received.append(int(program.communicate()[0] or 0))
            # Between two answers the file is not served.
            if program.returncode != 0:
                is_over.wait(0.02)

    asker = threading.Thread(target=ask_on)
    asker.start()
    try:
        yield
        # There are three answers or more for each pair, and half a second of the rate is less than that.
        if sum(received) < RATE // 2 * PAIRS:
            raise SystemExit(f"only {sum(received)} bytes were fetched from us")
        say(f"  {sum(received) >> 20} MiB were fetched from us")
    finally:
        is_over.set()
        for program in under_way:
            program.kill()
        asker.join()


def measured(name, beside, answer=lambda threads: ours(0, threads)[0]):
    cores = os.cpu_count() or 1
    rates = {}
    with beside:
        # In turns, so that what the machine does meanwhile meets all of them.
        order = [None, *sorted({1, max(1, cores - 1), cores})]
        for turn in range(PAIRS):
            for threads in order if turn % 2 == 0 else reversed(order):
                rates.setdefault(threads, []).append(answer(threads))
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


def own_work():
    """The same beside work of our own in the process that answers."""
    program = built("HearthBesideBench")

    def answering(work, *words, before=lambda: None):
        def answer(threads):
            before()
            figures = json.loads(run([program, work, MODEL, str(TOKENS), str(threads or 0), *words]).output)
            if figures["tokens"] != TOKENS:
                raise SystemExit(f"expected {TOKENS} tokens beside {work}, there were {figures['tokens']}")
            return figures["tokensPerSecond"]
        return answer

    large, small = Origin(pull.SIZE), Origin(SMALL)
    with tempfile.TemporaryDirectory(dir=CACHE) as state:
        home = os.path.join(state, "home")
        run([HEARTH, "pull", FAMILY, "--no-probe", "--quiet"],
            {"HEARTH_HOME": home, "HEARTH_ORIGIN": f"file://{small.folder}/models.json"})
        measured("decode-own-verify", contextlib.nullcontext(), answering("verify", home))
        port = free_port()
        measured("decode-own-host", asked(f"http://127.0.0.1:{port}/{small.location}"),
                 answering("host", small.folder, str(port)))
    large.warm()
    with tempfile.TemporaryDirectory(dir=CACHE) as state, nginx(large, state) as address:
        home = os.path.join(state, "home")
        # From its beginning each time.
        measured("decode-own-pull", contextlib.nullcontext(),
                 answering("pull", home, f"{address}/models.json", FAMILY,
                           before=lambda: shutil.rmtree(home, ignore_errors=True)))
