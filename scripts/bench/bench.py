"""Runs the benchmarks or groups named, the basic group without a name, and keeps the figures under bench-results/."""

import json
import os
import platform
import signal
import statistics
import sys
import time

import cold
import decode
import measure
import neighbours
import pull
import snapshot
import store
import streaming
import streams
import turns
import vision


def startup():
    times = [measure.run([os.environ["HEARTH_BINARY"], "--version"]).seconds * 1000 for _ in range(16)][1:]
    measure.report("version-startup", ours=statistics.median(times), unit="ms", runs=len(times), limit=50,
                   spread=f"{min(times):.1f}..{max(times):.1f}")


STORE = {"start-stored": store.start_stored, "list-500": store.list_many}
# Each group stays under half an hour.
GROUPS = {
    "store": STORE,
    "basic": {"startup": startup, **STORE, "decode-greedy": decode.greedy, "decode-sampled": decode.sampled,
              "pull": pull.verified, "snapshot": snapshot.snapshot, "reading": streaming.reading},
    "engine": {"decode-greedy": decode.greedy, "decode-bare": decode.bare, "prefill": decode.prefill,
               "decode-greedy-usual": decode.greedy_usual, "decode-greedy-paged": decode.greedy_paged, "prefill-paged": decode.prefill_paged,
               "decode-sampled": decode.sampled, "greedy-equal": decode.equal, "tiny-equal": decode.tiny_equal,
               "vision-equal": vision.equal, "streams-8": streams.eight,
               "second-turn": turns.second, "depths": decode.depths,
               "cancel": turns.cancel, "neighbours": neighbours.neighbours, "own-work": neighbours.own_work,
               "reading": streaming.reading},
    "peers": {"snapshot": snapshot.snapshot, "pull-synced": pull.synced, "pull-checked": pull.checked, "pull-aria2": pull.aria2, "pull-hub": pull.hub},
    "extremes": {"pull-limited": pull.limited, "pull-large": pull.large, "first-token": cold.first_token},
}
BENCHMARKS = {name: function for group in GROUPS.values() for name, function in group.items()}


def machine():
    name = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")),
                platform.machine())
    return {"cpu": name, "cores": os.cpu_count(), "load": round(os.getloadavg()[0], 2),
            "kernel": platform.release()}


wanted = [name for word in sys.argv[1:] or ["basic"] for name in GROUPS.get(word, [word])]
if unknown := [name for name in wanted if name not in BENCHMARKS]:
    sys.exit(f"no benchmark is named {', '.join(unknown)}; there are: {' '.join(BENCHMARKS)}; and groups: {' '.join(GROUPS)}")
# Servers and folders are cleared away when the run is ended, as after Ctrl-C.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
facts = machine()
print("machine " + " ".join(f"{key}={str(value).replace(' ', '_')}" for key, value in facts.items()), flush=True)
if facts["load"] > 0.5:
    measure.say(f"note: the machine is busy (load {facts['load']}); the pairs share it, but trust only large differences")
for name in wanted:
    BENCHMARKS[name]()
stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
with open(os.path.join(os.environ["BENCH_RESULTS"], f"{stamp}.json"), "w") as file:
    json.dump({"date": stamp, "machine": facts, "results": measure.results}, file, indent=1)
missed = [result["name"] for result in measure.results if not result["met"]]
if missed:
    print(f"bench: MISSED the bar: {', '.join(missed)}")
sys.exit(1 if missed and os.environ.get("BENCH_STRICT") == "1" else 0)
