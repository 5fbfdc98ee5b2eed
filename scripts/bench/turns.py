"""The second turn of a conversation of some 1,500 tokens, and ends asked for in the middle of an answer."""

import json
import statistics
import subprocess
import time
import urllib.request

from decode import MODEL, THREADS, ask, serving
from measure import PAIRS, built, number, report, say, spread

TOKENS = 32
# So that no answer ends before all tokens are there.
SECOND = "Thank you. Now write a long story about the keeper's next voyage, with every detail."


def first(turn):
    """Another conversation each time, so that none finds another's beginning in memory."""
    lines = [f"On day {day} of year {turn + 1} the keeper wrote {day * 7} words about the storm, the ship and the {day} gulls."
             for day in range(1, 48)]
    return "Read this diary. " + " ".join(lines) + " What is it about?"


def ours(program, questions):
    output = subprocess.run([program, "turns", MODEL, str(TOKENS), str(THREADS)], input=json.dumps(questions), check=True,
                            capture_output=True, text=True).stdout
    return json.loads(output)


def theirs(port, questions):
    """As ours: greedy, all that went before in memory, the time as the one who asks sees it."""
    messages = []
    for question in questions:
        messages.append({"role": "user", "content": question})
        text = ask(port, "/apply-template", {"messages": messages})["prompt"]
        body = {"prompt": text, "n_predict": TOKENS, "temperature": 0, "samplers": ["temperature"], "cache_prompt": True,
                "stream": True}
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}/completion", json.dumps(body).encode(), {"Content-Type": "application/json"})
        begin, first_token, answer = time.perf_counter(), None, []
        with urllib.request.urlopen(request, timeout=300) as response:
            for line in response:
                if not line.startswith(b"data: "):
                    continue
                first_token = first_token or time.perf_counter() - begin
                answer.append(line)
        seconds = time.perf_counter() - begin
        events = [json.loads(line[6:]) for line in answer]
        messages.append({"role": "assistant", "content": "".join(event["content"] for event in events)})
        timings = events[-1]["timings"]
    return {"firstTokenSeconds": first_token, "seconds": seconds, "tokens": timings["predicted_n"],
            "promptTokens": timings["prompt_n"] + timings.get("cache_n", 0), "cachedTokens": timings.get("cache_n", 0)}


def second():
    """Against the server with flash attention and without it, of which the better one counts."""
    program = built("HearthManyBench")
    with serving("-fa", "on", context=4096) as on, serving("-fa", "off", context=4096) as off:
        for port in (on, off):
            theirs(port, [first(PAIRS), SECOND])
        found = {"ours": [], "on": [], "off": []}
        for turn in range(PAIRS):
            questions = [first(turn), SECOND]
            sides = {"ours": lambda: ours(program, questions), "on": lambda: theirs(on, questions),
                     "off": lambda: theirs(off, questions)}
            for name in sides if turn % 2 == 0 else reversed(sides):
                found[name].append(sides[name]())
            last = {name: values[-1] for name, values in found.items()}
            say(f"  second-turn {turn + 1}/{PAIRS}: " + "; ".join(
                f"{name} {number(side['seconds'])} s, first after {number(side['firstTokenSeconds'])} s, "
                f"{side['promptTokens'] - side['cachedTokens']} of {side['promptTokens']} tokens new" for name, side in last.items()))
            lengths = [side["promptTokens"] for side in last.values()]
            # First answers of as many tokens can be a few tokens apart when they are read again.
            if any(side["tokens"] != TOKENS for side in last.values()) or min(lengths) < 0.98 * max(lengths):
                raise SystemExit(f"not the same work: {last}")
    for figure, key in [("second-turn", "seconds"), ("second-turn-first", "firstTokenSeconds")]:
        a, on, off = ([figures[key] for figures in values] for values in found.values())
        better, b = min(("on", on), ("off", off), key=lambda side: statistics.median(side[1]))
        ratios = [x / y for x, y in zip(a, b)]
        report(figure, ratio=statistics.median(ratios), ours=statistics.median(a), peer=statistics.median(b), unit="s",
               pairs=PAIRS, spread=f"{min(ratios):.3f}..{max(ratios):.3f}", ours_spread=spread(a), peer_spread=spread(b),
               peer_flash_attention=better, peer_on=statistics.median(on), peer_off=statistics.median(off))


def cancel():
    program = built("HearthManyBench")
    rounds = 30 * PAIRS
    output = subprocess.run([program, "cancel", MODEL, str(rounds), str(THREADS)], check=True, capture_output=True,
                            text=True).stdout
    figures = json.loads(output)
    for name, key in [("cancel", "seen"), ("cancel-free", "free"), ("cancel-beside", "seenBesideOthers"),
                      ("cancel-beside-free", "freeBesideOthers")]:
        report(f"{name}-p99", ours=figures[key], unit="ms", rounds=rounds)
