"""Eight answers at once: ours against llama-server of the same build with as many slots."""

import json
import statistics
import subprocess
import threading
import time
import urllib.request

from decode import MODEL, THREADS, ask, serving
from measure import PAIRS, built, number, report, say, spread

SUBJECTS = ["a lighthouse keeper", "a lost ship", "an old train", "a clever fox", "a mountain village", "a silent robot",
            "two sisters", "a frozen lake"]
PROMPTS = [f"Write a long story about {subject}. Take your time and tell every detail." for subject in SUBJECTS]
TOKENS = 128


def ours(program):
    """Tokens a second of all answers together, and the median time to the first token."""
    output = subprocess.run([program, "streams", MODEL, str(TOKENS), str(THREADS)], input=json.dumps(PROMPTS), check=True,
                            capture_output=True, text=True).stdout
    figures = json.loads(output)
    if figures["tokens"] != TOKENS * len(PROMPTS):
        raise SystemExit(f"expected {TOKENS} tokens of each, there were {figures['tokens']} in all")
    return figures["tokensPerSecond"], figures["firstTokenSeconds"]


def theirs(port, texts):
    firsts, counts = [0.0] * len(texts), [0] * len(texts)
    begin = time.perf_counter()

    def one(index):
        body = {"prompt": texts[index], "n_predict": TOKENS, "temperature": 0, "samplers": ["temperature"], "cache_prompt": False,
                "stream": True}
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}/completion", json.dumps(body).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=300) as response:
            for line in response:
                if not line.startswith(b"data: "):
                    continue
                firsts[index] = firsts[index] or time.perf_counter() - begin
                # Only the last event says it; reading JSON of all would take time from the server.
                if b'"timings"' in line:
                    counts[index] = json.loads(line[6:])["tokens_predicted"]

    threads = [threading.Thread(target=one, args=(index,)) for index in range(len(texts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - begin
    if any(count != TOKENS for count in counts):
        raise SystemExit(f"expected {TOKENS} tokens of each, the server made {counts}")
    return sum(counts) / seconds, statistics.median(firsts)


def eight():
    program = built("HearthManyBench")
    # As many tokens for each slot as one of ours could have of the shared context.
    with serving(slots=len(PROMPTS), context=1024 * len(PROMPTS)) as port:
        texts = [ask(port, "/apply-template", {"messages": [{"role": "user", "content": prompt}]})["prompt"]
                 for prompt in PROMPTS]
        theirs(port, texts)
        left, right = [], []
        say(f"streams-8: {TOKENS} tokens each, {THREADS} thread(s)")
        for turn in range(PAIRS):
            sides = [lambda: left.append(ours(program)), lambda: right.append(theirs(port, texts))]
            for side in sides if turn % 2 == 0 else reversed(sides):
                side()
            say(f"  streams-8 {turn + 1}/{PAIRS}: ours {number(left[-1][0])} tokens/s, first after {number(left[-1][1])} s; "
                f"peer {number(right[-1][0])}, {number(right[-1][1])} s")
    for index, (name, unit) in enumerate([("streams-8", "tokens/s"), ("streams-8-first", "s")]):
        a, b = [pair[index] for pair in left], [pair[index] for pair in right]
        ratios = [x / y for x, y in zip(a, b)]
        report(name, ratio=statistics.median(ratios), ours=statistics.median(a), peer=statistics.median(b), unit=unit,
               pairs=PAIRS, spread=f"{min(ratios):.3f}..{max(ratios):.3f}", ours_spread=spread(a), peer_spread=spread(b))
