"""Decoding: ours against llama.cpp's own tools, built from the same source with the same flags."""

import contextlib
import json
import os
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

from measure import pairs, report, run, say

HEARTH = os.environ["HEARTH_BINARY"]
TOOLS = os.environ["LLAMA_BIN"]
MODEL = os.environ["BENCH_MODEL"]
PROMPT = "Write a long story about a lighthouse keeper, a storm and a lost ship. Take your time and tell every detail."
TOKENS = 128
SEED = 7
# The same for both sides: one core is left to the rest of the machine. What hearth chooses by itself is another benchmark.
THREADS = max(1, (os.cpu_count() or 1) - 1)


def ours(temperature, threads=THREADS):
    """Tokens a second after the first, and the tokens of the prompt; with `threads` None as many threads as hearth likes."""
    with tempfile.TemporaryDirectory() as home:
        if threads:
            with open(os.path.join(home, "config.json"), "w") as file:
                json.dump({"threads": threads}, file)
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


# Each run is a process of its own, so nothing of the prompt is in memory.
READING = PROMPT + " " + " ".join(f"On day {day} the keeper counted {day * 3} ships and {day} gulls." for day in range(1, 40))


def prefill():
    def read():
        with tempfile.TemporaryDirectory() as home:
            with open(os.path.join(home, "config.json"), "w") as file:
                json.dump({"threads": THREADS}, file)
            output = run([HEARTH, "chat", MODEL, "--prompt", READING, "--max-tokens", "1", "--temperature", "0", "--format",
                          "json"], {"HEARTH_HOME": home}).output
        finish = json.loads(output.strip().splitlines()[-1])
        return finish["timings"]["prefillTokensPerSecond"], finish["usage"]["promptTokens"]

    _, count = read()

    def peer():
        output = run([f"{TOOLS}/llama-bench", "-m", MODEL, "-t", str(THREADS), "-p", str(count), "-n", "0", "-r", "1", "-o",
                      "json"]).output
        return json.loads(output)[0]["avg_ts"]

    say(f"prefill: {count} tokens, {THREADS} thread(s)")
    pairs("prefill", lambda: read()[0], peer, "tokens/s")


def ask(port, path, body):
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}", json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=300) as response:
        return json.load(response)


QUESTIONS = [
    "What is the capital of France?", "Name three rivers in Europe.", "Explain what a lighthouse is for.",
    "Write a haiku about snow.", "What is 12 times 12?", "Translate 'good morning' into French.",
    "Why is the sky blue?", "List the planets of the solar system.", "Who wrote Hamlet?", "How do I boil an egg?",
    "Write a Python function that adds two numbers.", "What is photosynthesis?", "Tell me a joke about a cat.",
    "Describe the taste of a lemon.", "What does DNA stand for?", "Summarise the story of Romeo and Juliet.",
    "Give me a recipe for pancakes.", "What is the largest ocean?", "Repeat: caf\u00e9 \u65e5\u672c\u8a9e \U0001f389",
    "What should I pack for a week in the mountains?",
]


def equal():
    """Greedy answers, token for token, against llama-server of the same build."""
    same = 0
    with serving() as port, tempfile.TemporaryDirectory() as home:
        with open(os.path.join(home, "config.json"), "w") as file:
            json.dump({"threads": THREADS}, file)
        for question in QUESTIONS:
            output = run([HEARTH, "chat", MODEL, "--prompt", question, "--max-tokens", "48", "--temperature", "0",
                          "--format", "json"], {"HEARTH_HOME": home}).output
            events = [json.loads(line) for line in output.strip().splitlines()]
            mine = "".join(event["delta"] for event in events if event["event"] == "text")
            text = ask(port, "/apply-template", {"messages": [{"role": "user", "content": question}]})["prompt"]
            theirs = ask(port, "/completion", {
                "prompt": text, "n_predict": 48, "temperature": 0, "samplers": ["temperature"], "cache_prompt": False})["content"]
            same += mine == theirs
            if mine != theirs:
                say(f"  greedy-equal: not the same for {question!r}: {mine!r} and {theirs!r}")
    report("greedy-equal", ours=same, of=len(QUESTIONS))


@contextlib.contextmanager
def serving(*more, slots=1, context=2048):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen(
        [f"{TOOLS}/llama-server", "-m", MODEL, "-t", str(THREADS), "-tb", str(THREADS), "-np", str(slots), "-c", str(context),
         "--host", "127.0.0.1", "--port", str(port), *more], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(300):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5)
                break
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.1)
        yield port
    finally:
        server.terminate()
        server.wait()


def sampled():
    with serving() as port:
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
