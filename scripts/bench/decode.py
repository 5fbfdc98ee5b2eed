"""Decoding: ours against llama.cpp's own tools, built from the same source with the same flags."""

import json
import os
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

from measure import pairs, run, say

HEARTH = os.environ["HEARTH_BINARY"]
TOOLS = os.environ["LLAMA_BIN"]
MODEL = os.environ["BENCH_MODEL"]
PROMPT = "Write a long story about a lighthouse keeper, a storm and a lost ship. Take your time and tell every detail."
TOKENS = 128
SEED = 7
# What hearth itself chooses: one core is left to the rest of the machine.
THREADS = max(1, (os.cpu_count() or 1) - 1)


def ours(temperature):
    """Tokens a second after the first, and the tokens of the prompt."""
    with tempfile.TemporaryDirectory() as home:
        output = run(
            [HEARTH, "chat", MODEL, "--prompt", PROMPT, "--max-tokens", str(TOKENS), "--temperature", str(temperature),
             "--seed", str(SEED), "--format", "json"], {"HEARTH_HOME": home}).output
    finish = json.loads(output.strip().splitlines()[-1])
    usage = finish["usage"]
    if finish["event"] != "finish" or usage["generatedTokens"] != TOKENS:
        raise SystemExit(f"expected {TOKENS} tokens, the chat ended with {finish}")
    return finish["timings"]["decodeTokensPerSecond"], usage["promptTokens"]


def greedy():
    _, depth = ours(0)

    def peer():
        output = run([f"{TOOLS}/llama-bench", "-m", MODEL, "-t", str(THREADS), "-p", "0", "-n", str(TOKENS),
                            "-d", str(depth), "-r", "1", "-o", "json"]).output
        return json.loads(output)[0]["avg_ts"]

    say(f"decode-greedy: {TOKENS} tokens at depth {depth}, {THREADS} thread(s)")
    pairs("decode-greedy", lambda: ours(0)[0], peer, "tokens/s")


def ask(port, path, body):
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}", json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=300) as response:
        return json.load(response)


def sampled():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen(
        [f"{TOOLS}/llama-server", "-m", MODEL, "-t", str(THREADS), "-tb", str(THREADS), "-np", "1", "-c", "2048",
         "--host", "127.0.0.1", "--port", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(300):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5)
                break
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.1)
        text = ask(port, "/apply-template", {"messages": [{"role": "user", "content": PROMPT}]})["prompt"]
        _, depth = ours(0.35)

        def peer():
            answer = ask(port, "/completion", {
                "prompt": text, "n_predict": TOKENS, "samplers": ["temperature"], "temperature": 0.35, "seed": SEED,
                "cache_prompt": False})
            timings = answer["timings"]
            if timings["predicted_n"] != TOKENS or answer["tokens_evaluated"] != depth:
                raise SystemExit(f"not the same work: depth {depth}, and the server says {timings}")
            # Like ours: the tokens after the first, over the time since the prompt was read.
            return timings["predicted_per_second"]

        peer()
        say(f"decode-sampled: {TOKENS} tokens at depth {depth}, temperature 0.35, {THREADS} thread(s)")
        pairs("decode-sampled", lambda: ours(0.35)[0], peer, "tokens/s")
    finally:
        server.terminate()
        server.wait()
