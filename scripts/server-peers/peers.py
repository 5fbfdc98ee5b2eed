#!/usr/bin/env python3
"""Load on `hearth serve` and on llama-server of the same build, in turns, with the same slots and cells.

    scripts/server-peers/peers.py HEARTH --model FILE.gguf --peer LLAMA_SERVER [--clients 1,4,8,32] [--pairs 7] [--threads 2]

Each client sends its next request when it has the answer. Half of the prompts have 50 tokens, half 1,500; half of each kind
share a beginning. Prints a line for each number of clients: all tokens a second, and the median and the 95th percentile of
the time to the first text, as ratios of ours to theirs (the median of the pairs). Ends with status 1 if a bar is missed.
Only the standard library.
"""
import argparse, contextlib, json, os, random, re, socket, statistics, subprocess, sys, threading, time, urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../server"))
from served import Server, failures, report  # noqa: E402

SLOTS, CELLS, ANSWER = 8, 8 * 2048, 64
REQUESTS = {1: 6, 4: 16, 8: 24, 32: 64}
WORDS = ("river stone cloud winter garden engine letter copper silver harbour lantern meadow signal forest bridge "
         "window mountain paper market island candle thunder bottle feather kitchen planet shadow ticket village whisper").split()
TEXT = re.compile(rb'"content":\s*"[^"]')


@contextlib.contextmanager
def peer(program, model, threads):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [program, "-m", model, "-t", str(threads), "-tb", str(threads), "-np", str(SLOTS), "-c", str(CELLS), "--host", "127.0.0.1",
         "--port", str(port), "-a", "peer"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(300):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5)
                break
            except OSError:
                time.sleep(0.1)
        yield port
    finally:
        process.terminate()
        process.wait()


def tokenized(port, text):
    body = json.dumps({"content": text, "parse_special": True}).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}/tokenize", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as response:
        return json.load(response)["tokens"]


class Prompts:
    """Texts of about so many tokens."""

    def __init__(self, port):
        self.tokens_per_word = len(tokenized(port, " ".join(WORDS * 10))) / (len(WORDS) * 10)

    def words(self, chance, tokens):
        return " ".join(chance.choice(WORDS) for _ in range(max(1, round(tokens / self.tokens_per_word))))

    def all(self, seed, count):
        """The prompts of one run, the same for both servers and new in each run."""
        chance = random.Random(seed)
        # The template and the last sentence take about 30 tokens.
        lengths = [50 - 30, 1500 - 30]
        shared = [self.words(chance, length * 0.6) for length in lengths]
        prompts = []
        for index in range(count):
            kind = index % 2
            if index // 2 % 2:
                text = shared[kind] + " " + self.words(chance, lengths[kind] * 0.4)
            else:
                text = self.words(chance, lengths[kind])
            prompts.append(text + ". Write a long story with these words.")
        chance.shuffle(prompts)
        return prompts


def one(port, model, prompt, endings):
    """A streamed answer: the seconds to its first text, and its tokens with those of the prompt. The tokens that end an answer
    are forbidden: all answers are equally long."""
    body = json.dumps({"model": model, "stream": True, "stream_options": {"include_usage": True}, "max_tokens": ANSWER,
                       "temperature": 0, "logit_bias": {str(token): -100 for token in endings},
                       "messages": [{"role": "user", "content": prompt}]}).encode()
    begin, first, data = time.perf_counter(), None, b""
    with socket.create_connection(("127.0.0.1", port), timeout=600) as connection:
        connection.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                           b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        while piece := connection.recv(65536):
            data += piece
            if first is None and TEXT.search(data):
                first = time.perf_counter() - begin
    counts = [re.findall(rb'"%s_tokens":\s*(\d+)' % kind, data) for kind in (b"prompt", b"completion")]
    if first is None or b"[DONE]" not in data or not all(counts):
        raise SystemExit(f"an answer was lost: {data[-500:]}")
    return first, sum(int(found[-1]) for found in counts), int(counts[1][-1])


def run(port, model, prompts, clients, endings):
    queue, lock, answers = list(prompts), threading.Lock(), []

    def client():
        while True:
            with lock:
                if not queue:
                    return
                prompt = queue.pop()
            answer = one(port, model, prompt, endings)
            with lock:
                answers.append(answer)

    threads = [threading.Thread(target=client) for _ in range(clients)]
    begin = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - begin
    if len(answers) != len(prompts):
        raise SystemExit(f"{len(prompts) - len(answers)} answers were lost")
    firsts = sorted(answer[0] for answer in answers)
    return {"tokens/s": sum(answer[1] for answer in answers) / seconds, "median": statistics.median(firsts),
            "p95": firsts[min(len(firsts) - 1, round(0.95 * (len(firsts) - 1)))],
            "answer tokens": sum(answer[2] for answer in answers)}


def measured(server, port, clients, pair):
    """Both servers with the same prompts: ours first in every other pair."""
    model, prompts = server.model(), Prompts(port)
    endings = [token for mark in ("<|im_end|>", "<|endoftext|>") for token in tokenized(port, mark)]
    order = [("ours", server.port, model), ("theirs", port, "peer")]
    for _, *which in order:
        run(*which, prompts.all(0, 4), min(4, clients), endings)
    texts = prompts.all(1000 * clients + pair + 1, REQUESTS.get(clients, 3 * clients))
    return {name: run(*which, texts, clients, endings) for name, *which in (order if pair % 2 else order[::-1])}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--model", required=True)
    parser.add_argument("--peer", required=True)
    parser.add_argument("--clients", default="1,4,8,32")
    parser.add_argument("--pairs", type=int, default=7, help="3 with 32 clients, at most this many otherwise")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    options = parser.parse_args()
    settings = {"serve.slots": SLOTS, "serve.cells": CELLS, "contextLength": 2048, "threads": options.threads}
    for clients in (int(word) for word in options.clients.split(",")):
        pairs = []
        for pair in range(min(options.pairs, 3) if clients == 32 else options.pairs):
            # Two processes of one program differ by up to 15 % for as long as they live, so each pair has its own.
            server = Server(options.program, options.model, settings)
            try:
                with peer(options.peer, options.model, options.threads) as port:
                    pairs.append(measured(server, port, clients, pair))
                    print(f"      pair {pair + 1}: " + ", ".join(
                        f"{name} {of['tokens/s']:.0f}/s" for name, of in pairs[-1].items()), flush=True)
            finally:
                server.stop()
        ratio = {key: statistics.median(pair["ours"][key] / pair["theirs"][key] for pair in pairs)
                 for key in ("tokens/s", "median", "p95")}
        figures = {name: {key: statistics.median(pair[name][key] for pair in pairs) for key in pairs[0][name]}
                   for name in ("ours", "theirs")}
        worst = min(pair["ours"]["tokens/s"] / pair["theirs"]["tokens/s"] for pair in pairs)
        report(f"{clients} clients", ratio["tokens/s"] >= 1 and ratio["median"] <= 1.05 and ratio["p95"] <= 1.05,
               f"tokens/s {ratio['tokens/s']:.3f} (least {worst:.3f}), first text median {ratio['median']:.3f}, "
               f"p95 {ratio['p95']:.3f} of theirs; {len(pairs)} pairs; " + ", ".join(
                   f"{name} {of['tokens/s']:.0f}/s {of['median'] * 1000:.0f} ms {of['p95'] * 1000:.0f} ms "
                   f"{of['answer tokens']:.0f} tokens" for name, of in figures.items()))
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
