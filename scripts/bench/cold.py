"""What advice to read ahead buys: from the start of the program to the first text of an answer, with the model not in memory.

`hearth chat FAMILY` advises the system before it loads an installed model; `hearth chat FILE` loads the very same file
without. So both sides are the product as it is, and differ in the advice alone. The advice given when a release is installed is
measured too: the same call, a while before a load without any.
"""

import json
import os
import statistics
import subprocess
import tempfile
import time

from measure import pairs, report, run, say

HEARTH = os.environ["HEARTH_BINARY"]
CACHE = os.environ["BENCH_CACHE"]
MODEL = os.environ["BENCH_MODEL"]
TOOLS = os.environ["LLAMA_BIN"]
PROMPT = "What is the capital of France?"
# As much as the product asks for, in the same steps: ModelPageCacheWarmer.
ADVISED, STEP = 64 << 20, 128 << 10
# From the end of an installation to the next command that a person types.
PAUSE = 2.0


def forget(path):
    """Puts the file out of memory; as root everything else too, so that the program itself starts cold as after a boot."""
    subprocess.run(["sync"], check=True)
    with open(path, "rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    if os.access("/proc/sys/vm/drop_caches", os.W_OK):
        with open("/proc/sys/vm/drop_caches", "w") as switch:
            switch.write("3")
    if resident(path) > 0.01 * os.path.getsize(path):
        raise SystemExit(f"{path} stays in memory, so nothing can be said about a cold start")


def resident(path):
    return int(run(["fincore", "--bytes", "--noheadings", "--output", "RES", path]).output)


def advise(path):
    with open(path, "rb") as file:
        for start in range(0, min(ADVISED, os.path.getsize(path)), STEP):
            os.posix_fadvise(file.fileno(), start, STEP, os.POSIX_FADV_WILLNEED)


def first_text(reference, home):
    """Seconds from the start of the program to the first text, and what the program counts as the time to the first token."""
    begin = time.perf_counter()
    process = subprocess.Popen(
        [HEARTH, "chat", reference, "--prompt", PROMPT, "--max-tokens", "2", "--temperature", "0", "--format", "json"],
        env={**os.environ, "HEARTH_HOME": home}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    seconds, event = None, {}
    for line in process.stdout:
        event = json.loads(line)
        if event["event"] == "text" and seconds is None:
            seconds = time.perf_counter() - begin
    if process.wait() != 0 or seconds is None:
        raise SystemExit(f"no answer from {reference}: {process.stderr.read().decode(errors='replace')[-2000:]}")
    return seconds, event["timings"]["firstTokenSeconds"]


def larger():
    """The same model with every weight in 32 bits; made once and kept in the cache."""
    path = os.path.join(CACHE, "smollm2-135m-v1.0.0-f32.gguf")
    if not os.path.exists(path):
        say("making the larger model once")
        run([f"{TOOLS}/llama-quantize", "--allow-requantize", MODEL, path + ".tmp", "F32"])
        os.rename(path + ".tmp", path)
    return path


def measure(label, model, state):
    family, home = f"cold-{label}", os.path.join(state, f"home-{label}")
    origin = os.path.join(state, f"origin-{label}")
    run([HEARTH, "publish", model, "--family", family, "--version", "1.0.0", "--variant", label, "--to", origin])
    run([HEARTH, "pull", family, "--quiet"], {"HEARTH_HOME": home, "HEARTH_ORIGIN": f"file://{origin}/models.json"})
    [release] = json.loads(run([HEARTH, "list", "--format", "json"], {"HEARTH_HOME": home}).output)
    weights = release["path"]
    if os.path.isdir(weights):
        [weights] = [entry.path for entry in os.scandir(weights) if entry.name.endswith(".gguf")]
    size = os.path.getsize(weights)
    say(f"first-token-{label}: {size / 1e6:.0f} MB, of which a pull just before left {resident(weights) / 1e6:.0f} in memory")

    forget(weights)
    begin = time.perf_counter()
    with open(weights, "rb") as file:
        while file.read(1 << 20):
            pass
    report(f"first-token-{label}-disk", ours=size / 1e6 / (time.perf_counter() - begin), unit="MB/s")

    counted = {}

    def side(name, reference, advice=False):
        def measured():
            forget(weights)
            if advice:
                advise(weights)
                time.sleep(PAUSE)
            seconds, token = first_text(reference, home)
            counted.setdefault(name, []).append(token)
            return seconds
        return measured

    pairs(f"first-token-{label}-at-load", side("at-load", family), side("none", weights), "s")
    pairs(f"first-token-{label}-at-install", side("at-install", weights, advice=True), side("none", weights), "s")

    def warm():
        return first_text(weights, home)[0]

    warm()
    report(f"first-token-{label}-warm", ours=statistics.median(warm() for _ in range(5)), unit="s", runs=5)
    say("  counted from the question: " + ", ".join(
        f"{name} {statistics.median(values):.3f} s" for name, values in counted.items()))


def first_token():
    with tempfile.TemporaryDirectory(dir=CACHE) as state:
        measure("q4", MODEL, state)
        measure("f32", larger(), state)
