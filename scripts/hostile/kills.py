#!/usr/bin/env python3
"""Kills workers in mid-answer, two hundred times under eight clients, and the server with its workers.

    scripts/hostile/kills.py PROGRAM [--kills N] [--seed N] [--tiny FOLDER]

Every request under way ends within a second of the death, with an answer or a code, and the next answer comes; a download
beside it loses no byte. After SIGKILL of the server no worker lives a second later. SIGTERM ends the server within seven
seconds while a worker is stopped by SIGSTOP. Only the standard library.
"""
import argparse, hashlib, http.client, json, os, random, shutil, signal, subprocess, sys, tempfile, threading, time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "server"))
from gguf_file import GGUF, with_fewer_tokens  # noqa: E402
from served import Server, failures, report  # noqa: E402
from watching import lives, words_of, workers_of  # noqa: E402

CLIENTS = 8
# After a second death within a minute a worker starts anew after one second, then two, then four: so each model has a few.
KILLS_OF_ONE = 3
# What a client may wait after the death of the worker that answers it, and what an answer may take.
DEATH_LIMIT, ANSWER_LIMIT, END_LIMIT = 1, 30, 7


class Client(threading.Thread):
    """Asks a model again and again; the model changes between two requests. `streams` is the model whose text comes."""

    def __init__(self, server, model):
        super().__init__(daemon=True)
        self.server, self.model = server, model
        self.is_over, self.streams = threading.Event(), None
        self.request, self.outcomes, self.faults = 0, [], []

    def run(self):
        while not self.is_over.is_set():
            self.request += 1
            outcome = self._ask(self.model)
            self.streams = None
            self.outcomes.append(outcome)
            if outcome.startswith("no code"):
                self.faults.append(outcome)

    def _ask(self, model):
        """`answer`, or the code of the error."""
        connection = http.client.HTTPConnection(self.server.host, self.server.port, timeout=ANSWER_LIMIT)
        body = {"model": model, "stream": True, "max_tokens": 1500, "ignore_eos": True,
                "messages": [{"role": "user", "content": f"Go on from {self.request}."}]}
        try:
            connection.request("POST", "/v1/chat/completions", json.dumps(body), {"Content-Type": "application/json"})
            reply = connection.getresponse()
            if reply.status != 200:
                return code_of(reply.read())
            while line := reply.readline():
                if line.startswith(b"data: [DONE]"):
                    return "answer"
                if b'"error"' in line:
                    return code_of(line.partition(b":")[2])
                if b'"content"' in line:
                    self.streams = model
            return "no code: the stream broke off"
        except (OSError, http.client.HTTPException) as error:
            return f"no code: {error!r}"
        finally:
            connection.close()


def code_of(content):
    try:
        return json.loads(content)["error"]["code"] or "no code: null"
    except (ValueError, KeyError, TypeError):
        return f"no code: {content[:120]!r}"


def until(condition, limit):
    """The seconds until a condition holds; None after the limit."""
    begin = time.monotonic()
    while not condition():
        if time.monotonic() - begin > limit:
            return None
        time.sleep(0.005)
    return time.monotonic() - begin


def install(server, folder, tiny, names):
    """Installs small models of the same weights."""
    with open(os.path.join(tiny, "plain.gguf"), "rb") as file:
        data = with_fewer_tokens(GGUF(file.read())).bytes()
    for name in names:
        path = os.path.join(folder, f"{name}-v1.0.0-f16.gguf")
        with open(path, "wb") as file:
            file.write(data)
        server.run("pull", path, "--no-probe", "--quiet")


class Download:
    """A model of random weights that an origin serves, and a pull of it that takes some time."""

    def __init__(self, program, folder, tiny, seconds):
        data = open(os.path.join(tiny, "plain.gguf"), "rb").read()
        file = GGUF(data)
        file.weights = random.Random(7).randbytes(len(file.weights))
        data = file.bytes()
        self.digest, self.rate = hashlib.sha256(data).hexdigest(), max(1, len(data) // seconds)
        path = os.path.join(folder, "beside-v1.0.0-f16.gguf")
        with open(path, "wb") as one:
            one.write(data)
        environment = dict(os.environ, HEARTH_HOME=os.path.join(folder, "publisher"))
        place = os.path.join(folder, "origin")
        subprocess.run([program, "publish", path, "--to", place], env=environment, check=True, capture_output=True)
        self.host = subprocess.Popen([program, "host", place], env=environment, stdout=subprocess.PIPE, text=True,
                                     stderr=subprocess.DEVNULL)
        self.address = self.host.stdout.readline().strip()

    def start(self, server):
        self.pull = subprocess.Popen(
            [server.program, "pull", "beside", "--no-probe", "--limit-rate", str(self.rate)], env=server.environment,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def check(self, server):
        """The pull ends well, and the file has the digest of the publisher's."""
        try:
            errors = self.pull.communicate(timeout=300)[1]
        except subprocess.TimeoutExpired:
            self.pull.kill()
            errors = "no end"
        found = [os.path.join(at, name) for at, _, names in os.walk(server.home) for name in names
                 if name.endswith(".gguf") and "beside" in os.path.join(at, name)]
        digests = {hashlib.sha256(open(path, "rb").read()).hexdigest() for path in found}
        report("download", self.pull.returncode == 0 and digests == {self.digest},
               f"status {self.pull.returncode}, {len(found)} files, {'the same bytes' if digests == {self.digest} else errors[-200:]}")

    def close(self):
        self.host.terminate()
        self.host.wait()


class Kills:
    """The kills under load: one worker at a time, whose clients are then watched."""

    def __init__(self, server, names, dice):
        self.server, self.names, self.dice = server, names, dice
        self.clients = [Client(server, names[0]) for _ in range(CLIENTS)]
        self.done, self.late, self.slowest_end, self.slowest_answer = 0, 0, 0, 0

    def is_streaming(self, model):
        return any(client.streams == model for client in self.clients)

    def kill(self, model):
        """Kills the worker of a model in mid-answer; returns whether the model answered before."""
        if until(lambda: self.is_streaming(model), ANSWER_LIMIT) is None:
            report(f"kill {self.done}", False, f"no answer of {model} comes; the last outcomes are "
                   f"{sorted({outcome for client in self.clients for outcome in client.outcomes[-1:]})}")
            return False
        time.sleep(self.dice.uniform(0, 0.1))
        for worker in workers_of(self.server.process.pid, self.server.home):
            if not any(f"{model}-v1.0.0" in word for word in words_of(worker)):
                continue
            asked = [(client, client.request) for client in self.clients if client.streams == model]
            os.kill(worker, signal.SIGKILL)
            self.done += 1
            took = until(lambda: all(client.request > before for client, before in asked), DEATH_LIMIT)
            if took is None:
                self.late += 1
                report(f"kill {self.done}", False, f"{sum(client.request <= before for client, before in asked)} of "
                       f"{len(asked)} requests go on {DEATH_LIMIT} s after the death of their worker")
            self.slowest_end = max(self.slowest_end, took or DEATH_LIMIT)
        begin = time.monotonic()
        if until(lambda: self.is_streaming(model), ANSWER_LIMIT) is not None:
            self.slowest_answer = max(self.slowest_answer, time.monotonic() - begin)
        return True

    def run(self, count):
        for client in self.clients:
            client.start()
        for model in self.names:
            for client in self.clients:
                client.model = model
            wanted = min(self.done + KILLS_OF_ONE, count)
            while self.done < wanted and self.kill(model):
                pass
        for client in self.clients:
            client.is_over.set()
        for client in self.clients:
            client.join(ANSWER_LIMIT)
        outcomes = [outcome for client in self.clients for outcome in client.outcomes]
        counts = {outcome: outcomes.count(outcome) for outcome in sorted(set(outcomes))}
        faults = [fault for client in self.clients for fault in client.faults]
        are_over = not any(client.is_alive() for client in self.clients)
        report("kills", self.done == count and not faults and not self.late and are_over,
               f"{self.done} of {count}; requests ended at most {self.slowest_end * 1000:.0f} ms after the death, the next "
               f"answer came after at most {self.slowest_answer * 1000:.0f} ms; {counts}")
        report("server", self.server.is_well(), "it is well after the kills")


def loaded(server, names):
    """Starts an answer of each model, and returns the workers."""
    connections = []
    for model in names:
        client = http.client.HTTPConnection(server.host, server.port, timeout=ANSWER_LIMIT)
        body = {"model": model, "stream": True, "max_tokens": 4000, "ignore_eos": True,
                "messages": [{"role": "user", "content": "Go on."}]}
        client.request("POST", "/v1/chat/completions", json.dumps(body), {"Content-Type": "application/json"})
        client.getresponse().readline()
        connections.append(client)
    return workers_of(server.process.pid, server.home), connections


def kill_server(server, names):
    """After SIGKILL of the server its workers end."""
    workers, _ = loaded(server, names)
    server.process.kill()
    server.process.wait()
    took = until(lambda: not any(lives(worker) for worker in workers), 1)
    report("server killed", workers and took is not None,
           f"{len(workers)} workers ended after {took * 1000:.0f} ms" if took is not None
           else f"{sum(lives(worker) for worker in workers)} of {len(workers)} workers live a second later")


def stop_worker(server, names):
    """SIGTERM ends the server though a worker does not react."""
    workers, _ = loaded(server, names)
    for worker in workers:
        os.kill(worker, signal.SIGSTOP)
    begin = time.monotonic()
    server.process.send_signal(signal.SIGTERM)
    try:
        status = server.process.wait(60)
    except subprocess.TimeoutExpired:
        status = None
        server.process.kill()
        server.process.wait()
    seconds = time.monotonic() - begin
    left = until(lambda: not any(lives(worker) for worker in workers), 1)
    for worker in workers:
        if lives(worker):
            os.kill(worker, signal.SIGKILL)
    report("worker stopped", workers and status == 0 and seconds <= END_LIMIT and left is not None,
           f"{len(workers)} stopped workers; the server ended with {status} after {seconds:.1f} s, "
           f"{'no worker is left' if left is not None else 'workers are left'}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tiny", default=os.environ.get("HEARTH_TINY"), help="the folder of scripts/tiny-models.py")
    options = parser.parse_args()
    if not options.tiny:
        parser.error("name the folder of the tiny models with --tiny or HEARTH_TINY")
    program, folder = os.path.abspath(options.program), tempfile.mkdtemp(prefix="hearth-kills-")
    names = [f"model{number}" for number in range(max(2, -(-options.kills // KILLS_OF_ONE)))]
    download = Download(program, folder, options.tiny, max(5, options.kills // 2))
    server = Server(program, settings={"serve.keepAlive": 5}, variables={"HEARTH_ORIGIN": download.address})
    try:
        install(server, folder, options.tiny, names)
        download.start(server)
        Kills(server, names, random.Random(options.seed)).run(options.kills)
        download.check(server)
        kill_server(server, names[:2])
        server.start()
        stop_worker(server, names[:2])
    finally:
        if server.process.poll() is None:
            server.process.kill()
        download.close()
        shutil.rmtree(server.home, ignore_errors=True)
        shutil.rmtree(folder, ignore_errors=True)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
