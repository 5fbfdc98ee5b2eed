"""Decoding: ours against llama.cpp's own tools, built from the same source with the same flags."""

import contextlib
import json
import os
import socket
import statistics
import struct
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

from measure import PAIRS, built, pairs, ratios, report, run, say, spread

HEARTH = os.environ["HEARTH_BINARY"]
TOOLS = os.environ["LLAMA_BIN"]
MODEL = os.environ["BENCH_MODEL"]
TINY = os.environ["BENCH_TINY"]
PROMPT = "Write a long story about a lighthouse keeper, a storm and a lost ship. Take your time and tell every detail."
TOKENS = 128
SEED = 7
# The same for both sides: one core is left to the rest of the machine. The number that hearth chooses is another benchmark.
THREADS = max(1, (os.cpu_count() or 1) - 1)

# A run takes a second or two, and who shares the machine comes and goes as quickly: few pairs say little.
MANY = 5 * PAIRS


def ours(temperature, threads=THREADS, context=None):
    """Tokens a second after the first, and the tokens of the prompt; with `threads` None as many threads as hearth likes, with
    `context` None its usual context."""
    settings = {"threads": threads, "contextLength": context}
    with tempfile.TemporaryDirectory() as home:
        with open(os.path.join(home, "config.json"), "w") as file:
            json.dump({name: value for name, value in settings.items() if value}, file)
        output = run(
            [HEARTH, "chat", MODEL, "--prompt", PROMPT, "--max-tokens", str(TOKENS), "--temperature", str(temperature),
             "--seed", str(SEED), "--format", "json"], {"HEARTH_HOME": home}).output
    finish = json.loads(output.strip().splitlines()[-1])
    usage = finish["usage"]
    if finish["event"] != "finish" or usage["generatedTokens"] != TOKENS:
        raise SystemExit(f"expected {TOKENS} tokens, the chat ended with {finish}")
    return finish["timings"]["decodeTokensPerSecond"], usage["promptTokens"]


# ggml asks for no huge pages, and Hearth's archive of it does (docs/inference.md). A peer gets them too where glibc asks for it.
PAGED = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}


# The peers have flash attention off, as the memory plan has it here for one conversation. The context of llama-bench is as long as
# what it computes, and ours gets the same: without flash attention a token costs more in a longer context (docs/benchmarks.md).
def greedy(name="decode-greedy", environment=None, count=MANY, is_usual=False):
    _, depth = ours(0)
    # llama.cpp rounds a context up to 256.
    context = None if is_usual else (depth + TOKENS + 255) // 256 * 256

    def peer():
        output = run([f"{TOOLS}/llama-bench", "-m", MODEL, "-t", str(THREADS), "-fa", "off", "-p", "0", "-n", str(TOKENS),
                            "-d", str(depth), "-r", "1", "-o", "json"], environment).output
        return json.loads(output)[0]["avg_ts"]

    say(f"{name}: {TOKENS} tokens at depth {depth}, {THREADS} thread(s)")
    pairs(name, lambda: ours(0, context=context)[0], peer, "tokens/s", count=count)


def greedy_usual():
    greedy("decode-greedy-usual", count=3 * PAIRS, is_usual=True)


def greedy_paged():
    greedy("decode-greedy-paged", PAGED, count=3 * PAIRS)


def bare():
    """Ours against the shortest loop over the library: in one process and by turns of a quarter of a second, which is quicker than who
    shares the machine comes and goes."""
    program = built("HearthManyBench")
    found = [pair for _ in range(PAIRS) for pair in json.loads(run([program, "bare", MODEL, "32", str(THREADS)]).output)]
    ours, peer = ([pair[side] for pair in found] for side in ("ours", "bare"))
    of_pairs = sorted(ratios(ours, peer))
    quarter = len(of_pairs) // 4
    report("decode-bare", ratio=statistics.median(of_pairs), ours=statistics.median(ours), peer=statistics.median(peer),
           unit="tokens/s", pairs=len(found), quartiles=f"{of_pairs[quarter]:.3f}..{of_pairs[-quarter - 1]:.3f}",
           ours_spread=spread(ours), peer_spread=spread(peer))


def depths():
    """Decoding without flash attention against decoding with it, which is what the memory plan decides by."""
    program = built("HearthManyBench")
    for depth, streams in [(100, 1), (1000, 1), (4000, 1), (100, 8), (1000, 8), (4000, 8)]:
        output = subprocess.run([program, "depth", MODEL, "16", str(THREADS)], input=json.dumps([depth, streams]), check=True,
                                capture_output=True, text=True).stdout
        found = json.loads(output)
        off, on = ([pair[side] for pair in found] for side in ("off", "on"))
        of_pairs = ratios(off, on)
        report(f"decode-off-{depth}-{streams}", ratio=statistics.median(of_pairs), ours=statistics.median(off),
               peer=statistics.median(on), unit="tokens/s", pairs=len(found),
               spread=f"{min(of_pairs):.3f}..{max(of_pairs):.3f}")


# Each run is a process of its own, so nothing of the prompt is in memory.
READING = PROMPT + " " + " ".join(f"On day {day} the keeper counted {day * 3} ships and {day} gulls." for day in range(1, 40))


def prefill(name="prefill", environment=None, count=3 * PAIRS):
    def read():
        with tempfile.TemporaryDirectory() as home:
            with open(os.path.join(home, "config.json"), "w") as file:
                json.dump({"threads": THREADS}, file)
            output = run([HEARTH, "chat", MODEL, "--prompt", READING, "--max-tokens", "1", "--temperature", "0", "--format",
                          "json"], {"HEARTH_HOME": home}).output
        finish = json.loads(output.strip().splitlines()[-1])
        return finish["timings"]["prefillTokensPerSecond"], finish["usage"]["promptTokens"]

    _, length = read()

    def peer():
        output = run([f"{TOOLS}/llama-bench", "-m", MODEL, "-t", str(THREADS), "-fa", "off", "-p", str(length), "-n", "0", "-r", "1", "-o",
                      "json"], environment).output
        return json.loads(output)[0]["avg_ts"]

    say(f"{name}: {length} tokens, {THREADS} thread(s)")
    pairs(name, lambda: read()[0], peer, "tokens/s", count=count)


def prefill_paged():
    prefill("prefill-paged", PAGED, count=PAIRS)


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


# Conversations of fewer than 64 tokens are not worth saving, and the saved ones tell the tokens.
SYSTEM = ("You are a patient guide in a small museum by the sea. Guests of all ages ask you about everything under the sun, and you "
          "answer each of them in plain words, briefly, kindly and without making anything up, in the language they speak, and you "
          "never end a conversation first.")


def answered(model, *words, tokens=48, settings=None):
    """A greedy answer of ours with more settings: its text, and the ids of its tokens but the last, as the saved state of the
    conversation has them (docs/formats.md): the last one of an answer is chosen and never computed."""
    with tempfile.TemporaryDirectory() as home:
        states = os.path.join(home, "states")
        with open(os.path.join(home, "config.json"), "w") as file:
            json.dump({"threads": THREADS, "stateFolder": states, **(settings or {})}, file)
        output = run([HEARTH, "chat", model, "--max-tokens", str(tokens), "--temperature", "0", "--format", "json", "--system", SYSTEM,
                      *words], {"HEARTH_HOME": home}).output
        [name] = os.listdir(states)
        with open(os.path.join(states, name), "rb") as file:
            data = file.read()
    events = [json.loads(line) for line in output.strip().splitlines()]
    [maker] = struct.unpack_from("<I", data, 40)
    [count] = struct.unpack_from("<I", data, 44 + maker)
    ledger = struct.unpack_from(f"<{count}i", data, 48 + maker)
    text = "".join(event["delta"] for event in events if event["event"] == "text")
    return text, list(ledger[events[-1]["usage"]["promptTokens"]:])


def same(name, question, mine, theirs):
    """Whether an answer of ours is the server's, given text and tokens; says so if not."""
    (text, tokens), (content, all_tokens) = mine, theirs
    # The server gives the last one out too, also where it ends the answer and has no text.
    if text == content and tokens == all_tokens[:-1]:
        return True
    say(f"  {name}: not the same for {question!r}: {text!r} {tokens} and {content!r} {all_tokens}")
    return False


def messages(content):
    return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": content}]


def served(port, question, tokens=48):
    """The server's greedy answer: its text and its tokens."""
    text = ask(port, "/apply-template", {"messages": messages(question)})["prompt"]
    answer = ask(port, "/completion", {
        "prompt": text, "n_predict": tokens, "temperature": 0, "samplers": ["temperature"], "cache_prompt": False,
        "return_tokens": True})
    return answer["content"], answer["tokens"]


def equal():
    """Greedy answers, token for token, against llama-server of the same build."""
    count = 0
    with serving("-fa", "off") as port:
        for question in QUESTIONS:
            count += same("greedy-equal", question, answered(MODEL, "--prompt", question), served(port, question))
    report("greedy-equal", ours=count, of=len(QUESTIONS))


def tiny_equal():
    """The same for models of other kinds, whose random weights say nothing sensible: positions with sections, one state for all
    tokens, sliding windows, and a template that opens the thinking."""
    count = 0
    for name in ("grid", "recurrent", "window", "thinking"):
        with serving("-fa", "off", model=f"{TINY}/{name}.gguf") as port:
            for question in QUESTIONS[:3]:
                (text, tokens), (content, all_tokens) = answered(f"{TINY}/{name}.gguf", "--prompt", question), served(port, question)
                # Of bytes that are no text the server shows a mark, and hearth nothing.
                content = content.replace("\N{REPLACEMENT CHARACTER}", "")
                if name == "thinking":
                    # Half of an answer's tokens are no thinking: before that is over the engine ends it, and the server does not.
                    text = content = ""
                    tokens, all_tokens = tokens[:15], all_tokens[:16]
                count += same(f"tiny-equal: {name}", question, (text, tokens), (content, all_tokens))
    report("tiny-equal", ours=count, of=12)


@contextlib.contextmanager
def serving(*more, slots=1, context=2048, model=MODEL):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen(
        [f"{TOOLS}/llama-server", "-m", model, "-t", str(THREADS), "-tb", str(THREADS), "-np", str(slots), "-c", str(context),
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
    _, depth = ours(0.35)

    def peer():
        # A process of its own for each run, as ours: what differs from one to the next differs for both.
        with serving("-fa", "off") as port:
            text = ask(port, "/apply-template", {"messages": [{"role": "user", "content": PROMPT}]})["prompt"]
            answer = ask(port, "/completion", {
                "prompt": text, "n_predict": TOKENS, "samplers": ["temperature"], "temperature": 0.35, "seed": SEED,
                "cache_prompt": False})
            timings = answer["timings"]
            if timings["predicted_n"] != TOKENS or answer["tokens_evaluated"] != depth:
                raise SystemExit(f"not the same work: depth {depth}, and the server says {timings}")
            # Like ours: the tokens after the first, over the time since the prompt was read.
            return timings["predicted_per_second"]

    say(f"decode-sampled: {TOKENS} tokens at depth {depth}, temperature 0.35, {THREADS} thread(s)")
    pairs("decode-sampled", lambda: ours(0.35)[0], peer, "tokens/s", count=MANY)
