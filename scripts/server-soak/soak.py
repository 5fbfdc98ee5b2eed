#!/usr/bin/env python3
"""Mixed load on `hearth serve` for a time: no answer may be lost, and its memory has to stay.

    scripts/server-soak/soak.py HEARTH --model FILE.gguf [--minutes 30]

Eight clients of all dialects ask at once, one reads slowly, one leaves in mid-answer. Prints one line and ends with
status 1 if an answer was lost or the memory at the end differs by more than 5 % from that after the first fifth.
Only the standard library.
"""
import argparse, http.client, json, os, random, socket, statistics, sys, threading, time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../server"))
from served import MIB, Server, ask, failures, head_of, report, rest_of  # noqa: E402

WORDS = "river stone cloud winter garden engine letter copper silver harbour lantern meadow signal forest bridge".split()


class Load:
    def __init__(self, server, seconds):
        self.server, self.end = server, time.monotonic() + seconds
        self.model = server.model()
        self.lock = threading.Lock()
        self.answers, self.busy, self.lost = 0, 0, []

    def is_on(self):
        return time.monotonic() < self.end

    def count(self, what, status, is_whole):
        with self.lock:
            if status == 429:
                self.busy += 1
            elif status == 200 and is_whole:
                self.answers += 1
            else:
                self.lost.append(f"{what}: {status}")

    def repeat(self, seed, body):
        chance = random.Random(seed)
        while self.is_on():
            try:
                body(chance)
            except (OSError, http.client.HTTPException, ValueError) as error:
                with self.lock:
                    self.lost.append(f"{body.__name__}: {error!r}")

    def text(self, chance, words=30):
        return "Tell me about " + " ".join(chance.choice(WORDS) for _ in range(chance.randint(1, words))) + "."

    # One function for each kind of client.

    def stream(self, chance):
        connection = self.server.connect(timeout=300)
        connection.sendall(ask(self.model, chance.randint(1, 96), self.text(chance, 200)))
        data = rest_of(connection)
        connection.close()
        self.count("stream", int(data[9:12] or 0), b"[DONE]" in data)

    def whole(self, chance):
        status, body = self.server.post("/v1/chat/completions", {
            "model": self.model, "max_tokens": chance.randint(1, 48), "n": chance.choice([1, 1, 2]), "temperature": 1,
            "messages": [{"role": "user", "content": self.text(chance)}]})
        self.count("whole", status, status == 200 and json.loads(body)["choices"][0]["finish_reason"])

    def schema(self, chance):
        schema = {"type": "object", "properties": {"name": {"type": "string", "maxLength": 12}, "age": {"type": "integer"}},
                  "required": ["name", "age"]}
        status, body = self.server.post("/v1/chat/completions", {
            "model": self.model, "max_tokens": 60, "messages": [{"role": "user", "content": self.text(chance)}],
            "response_format": {"type": "json_schema", "json_schema": {"name": "p", "schema": schema}}})
        choice = json.loads(body)["choices"][0] if status == 200 else {}
        is_whole = choice.get("finish_reason") == "length" or bool(choice) and "age" in json.loads(choice["message"]["content"])
        self.count("schema", status, is_whole)

    def anthropic(self, chance):
        status, body = self.server.post("/v1/messages", {
            "model": self.model, "max_tokens": chance.randint(1, 48), "messages": [{"role": "user", "content": self.text(chance)}]})
        self.count("anthropic", status, status == 200 and json.loads(body)["stop_reason"])

    def ollama(self, chance):
        status, body = self.server.post("/api/chat", {
            "model": self.model, "options": {"num_predict": chance.randint(1, 48)},
            "messages": [{"role": "user", "content": self.text(chance)}]})
        self.count("ollama", status, status == 200 and json.loads(body.splitlines()[-1])["done"])

    def completion(self, chance):
        status, body = self.server.post("/completion", {"prompt": self.text(chance, 300), "n_predict": chance.randint(1, 48)})
        self.count("completion", status, status == 200 and json.loads(body)["stop"])

    def vectors(self, chance):
        status, body = self.server.post("/v1/embeddings", {"model": self.model, "input": [self.text(chance) for _ in range(3)]})
        self.count("vectors", status, status == 200 and len(json.loads(body)["data"]) == 3)
        time.sleep(1)

    def small(self, chance):
        path = chance.choice(["/v1/models", "/health", "/metrics", "/api/tags", "/props", "/slots", "/api/ps"])
        # The counts are for this user alone.
        status, body = (200, self.server.own(path)) if path == "/metrics" else self.server.get(path)
        self.count(path, status, bool(body))
        time.sleep(0.05)

    def slow(self, chance):
        connection = self.server.connect(timeout=300, receive_buffer=4096)
        connection.sendall(ask(self.model, 32, self.text(chance)))
        data = b""
        while not data.endswith(b"0\r\n\r\n"):
            piece = connection.recv(512)
            if not piece:
                break
            data += piece
            time.sleep(0.02)
        connection.close()
        self.count("slow", int(data[9:12] or 0), b"[DONE]" in data)

    def leaving(self, chance):
        connection = self.server.connect(timeout=300)
        connection.sendall(ask(self.model, 1000, self.text(chance, 400)))
        if chance.random() < 0.5:
            head_of(connection)
        else:
            time.sleep(chance.random() / 4)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
        connection.close()
        time.sleep(1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--model", required=True)
    parser.add_argument("--minutes", type=float, default=30)
    options = parser.parse_args()
    server = Server(options.program, options.model)
    seconds = options.minutes * 60
    load = Load(server, seconds)
    clients = [load.stream, load.stream, load.whole, load.schema, load.anthropic, load.ollama, load.completion, load.vectors,
               load.small, load.slow, load.leaving]
    threads = [threading.Thread(target=load.repeat, args=(index, client)) for index, client in enumerate(clients)]
    begin, samples = time.monotonic(), []
    for thread in threads:
        thread.start()
    while load.is_on():
        samples.append((time.monotonic() - begin, server.memory()))
        time.sleep(1)
    for thread in threads:
        thread.join()
    early = statistics.median(size for at, size in samples if seconds * 0.2 <= at < seconds * 0.4)
    late = statistics.median(size for at, size in samples if at >= seconds * 0.8)
    deadline = time.monotonic() + 30
    while (running := server.running()) > 1 and time.monotonic() < deadline:
        time.sleep(0.2)
    is_well = server.is_well()
    status = server.stop()
    report("soak", not load.lost and load.answers > 0 and abs(late - early) <= early * 0.05 and is_well and running <= 1 and status == 0,
           f"{options.minutes:g} minutes, {load.answers} answers, {load.busy} refused as busy, {len(load.lost)} lost {load.lost[:3]}; "
           f"{early / MIB:.1f} -> {late / MIB:.1f} MiB ({(late / early - 1) * 100:+.1f} %)")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
