"""Decoding beside busy programs: the adapting number of threads against every fixed one."""

import os
import statistics
import subprocess
import sys
import time

from decode import ours
from measure import report, say

ROUNDS = int(os.environ.get("BENCH_PAIRS", "7")) // 2 or 1


def neighbours():
    cores = os.cpu_count() or 1
    for count in range(3):
        # A neighbour that never waits: it asks for a core of its own, and for no memory.
        busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
        try:
            time.sleep(0.5)
            rates = {}
            # In turns, so that what the machine does meanwhile meets all of them.
            for _ in range(ROUNDS):
                for threads in [None, *sorted({1, max(1, cores - 1), cores})]:
                    rates.setdefault(threads, []).append(ours(0, threads)[0])
            adapting, *fixed = (statistics.median(values) for values in rates.values())
            say(f"  beside {count}: " + ", ".join(
                f"{threads or 'adapting'} {statistics.median(values):.1f}" for threads, values in rates.items()))
            report(f"decode-beside-{count}", ratio=adapting / max(fixed), ours=adapting, peer=max(fixed), unit="tokens/s",
                   rounds=ROUNDS)
        finally:
            for process in busy:
                process.kill()
                process.wait()
