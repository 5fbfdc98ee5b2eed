#!/usr/bin/env python3
"""Pulls every hostile model through one server and asks it once, while a second client streams from a healthy model.

    scripts/hostile/run.py PROGRAM [--only PART,…] [--share N] [--mutated N] [--seed N] [--tiny FOLDER]

Each case ends in an answer or an error with a code, within its limit; the server lives on; the second client does not wait
longer than otherwise; no worker is above its limit of memory, and none is left at the end. --only takes the cases whose names
contain one of the parts, --share every Nth one. Needs onnx (scripts/requirements/onnxruntime.txt).
"""
import argparse, base64, collections, http.client, json, os, re, shutil, signal, subprocess, sys, tempfile, time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "server"))
import origin  # noqa: E402
from served import Server  # noqa: E402
from watching import MIB, Memory, SecondClient, workers_of  # noqa: E402

LOAD_LIMIT, LIMIT, END_LIMIT = 120, 30, 7
SERVER_GROWTH = 512 * MIB
# Longer than the question of a probe, with a letter of two bytes and the word that one template waits for.
QUESTION = "Hé, please answer this question: it is longer than the questions that the probe of a release asks."


class Bench:
    """The server, the origin and the two watchers."""

    def __init__(self, program, tiny, cases):
        self.folder = tempfile.mkdtemp(prefix="hearth-hostile-")
        self.origin = origin.Origin(program, os.path.join(self.folder, "origin"), tiny, cases)
        healthy = os.path.join(self.folder, "healthy-v1.0.0-f16.gguf")
        with open(healthy, "wb") as file:
            file.write(origin.small(tiny, "plain.gguf"))
        self.picture = origin.read(origin.CLASSIFIER, "canary.png")
        self.server = Server(program, healthy, {"serve.keepAlive": 5}, {"HEARTH_ORIGIN": self.origin.address})
        self.log = os.path.join(self.server.home, "load.log")
        self.key = self.server.run("keys", "create", "hostile", "--scopes", "chat,models,admin").split()[-1]
        self.is_closed = False
        self.memory, self.client = Memory(self.server), SecondClient(self.server, "healthy")
        self.memory.start()
        self.client.start()

    def is_up(self):
        return self.server.process.poll() is None

    def said(self, position):
        """The last lines of the server's log behind a position."""
        with open(self.log, errors="replace") as file:
            file.seek(position)
            return [line.rstrip()[:300] for line in file][-6:]

    def pull(self, name, *options):
        """The code of the outcome, and the exit status."""
        words = [self.server.program, "pull", name, "--format", "json", *options]
        process = subprocess.Popen(words, env=self.server.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            output, errors = process.communicate(timeout=LOAD_LIMIT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return "no end"
        if process.returncode == 0:
            return "installed"
        found = re.findall(rb'"code":\s*"([a-z0-9-]+)"', output) or re.findall(rb"\[([a-z0-9-]+)\]", errors)
        return found[-1].decode() if found and process.returncode > 0 else f"no code, status {process.returncode}"

    def send(self, method, path, body, kind="application/json", limit=LIMIT):
        """The code of the outcome of a request."""
        connection = http.client.HTTPConnection(self.server.host, self.server.port, timeout=limit)
        try:
            connection.request(method, path, body, {"Content-Type": kind, "Authorization": f"Bearer {self.key}"})
            reply = connection.getresponse()
            content = reply.read()
        except TimeoutError:
            return "no end"
        except (OSError, http.client.HTTPException) as error:
            return f"no code, {type(error).__name__}"
        finally:
            connection.close()
        if reply.status == 200:
            return "answer"
        try:
            error = json.loads(content)["error"]
            # Ollama's dialect has a text in place of a code.
            code = "refused" if isinstance(error, str) else error.get("code") or error.get("type")
        except (ValueError, KeyError, TypeError):
            code = None
        return f"{reply.status} {code}" if code else f"no code, status {reply.status}"

    def ask(self, name, role):
        if role == "classifier":
            return self.send("POST", f"/hearth/v1/classify?model={name}", self.picture, "image/png",
                             LOAD_LIMIT + LIMIT)  # The first question loads the classifier.
        content = QUESTION
        if role == "vision":
            address = "data:image/png;base64," + base64.b64encode(self.picture).decode()
            content = [{"type": "text", "text": QUESTION}, {"type": "image_url", "image_url": {"url": address}}]
        return self.send("POST", "/v1/chat/completions", json.dumps(
            {"model": name, "max_tokens": 8, "messages": [{"role": "user", "content": content}]}))

    def close(self):
        """Ends the server as systemd does. Returns the seconds of that, and the workers that live a second later."""
        self.client.stop()
        self.memory.stop()
        self.is_closed = True
        process = self.server.process
        begin = time.monotonic()
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        seconds = time.monotonic() - begin
        time.sleep(1)
        left = set(workers_of(process.pid, self.server.home))
        self.origin.close()
        shutil.rmtree(self.server.home, ignore_errors=True)
        shutil.rmtree(self.folder, ignore_errors=True)
        return seconds, left


class Trial:
    """What happened in all cases."""

    def __init__(self, bench):
        self.bench, self.failures = bench, []
        self.counts, self.slowest = collections.Counter(), []
        self.longest_pause, self.pause_limit = 0, 1

    def fail(self, name, text):
        print(f"FAIL  {name}: {text}", flush=True)
        self.failures.append(name)

    def baseline(self, seconds):
        """The longest pause of the second client without hostile models."""
        time.sleep(2)
        bench = self.bench
        bench.client.taken_longest()
        time.sleep(seconds)
        pause, errors = bench.client.taken_longest(), bench.client.taken_errors()
        self.pause_limit = max(1, 3 * pause)
        self.server_limit = bench.server.memory() + SERVER_GROWTH
        if errors or not bench.client.pieces:
            self.fail("baseline", f"the healthy model does not answer: {errors[:1]}")
        print(f"baseline: {bench.client.pieces} pieces, longest pause {pause * 1000:.0f} ms; "
              f"the server has {bench.server.memory() / MIB:.0f} MiB", flush=True)

    def step(self, name, word, act):
        """One pull or question. Returns its outcome."""
        bench = self.bench
        position, begin = os.path.getsize(bench.log), time.monotonic()
        outcome = act()
        seconds = time.monotonic() - begin
        self.counts[f"{word} {outcome}"] += 1
        self.slowest.append((seconds, f"{name} {word} {outcome}"))
        wrong = [outcome] if outcome.startswith("no ") else []
        # A process that dies takes some milliseconds to its end.
        time.sleep(0.02)
        if not bench.is_up():
            wrong.append(f"the server ended with {bench.server.process.returncode}")
        pause = bench.client.taken_longest()
        self.longest_pause = max(self.longest_pause, pause)
        if pause > self.pause_limit:
            wrong.append(f"the second client waited {pause:.1f} s")
        wrong += [f"second client: {error}" for error in bench.client.taken_errors()[:1]] + bench.memory.taken_excesses()[:1]
        if wrong:
            self.fail(name, f"{word}, after {seconds:.1f} s: {'; '.join(wrong)}")
            for line in bench.said(position):
                print(f"      {line}", flush=True)
        if not bench.is_up():
            bench.server.start()
        return outcome

    def case(self, name, role):
        bench = self.bench
        outcome = self.step(name, "pull", lambda: bench.pull(name))
        if outcome != "installed":
            outcome = self.step(name, "pull-without-probe", lambda: bench.pull(name, "--no-probe"))
        if outcome == "installed":
            self.step(name, "ask", lambda: bench.ask(name, role))
            self.step(name, "remove", lambda: bench.send("DELETE", "/api/delete", json.dumps({"model": name})))

    def end(self, first):
        bench = self.bench
        if bench.server.process.pid != first:
            self.fail("server", "another process than at the start")
        if not bench.server.is_well():
            self.fail("server", "it is not well at the end")
        seconds, left = bench.close()
        if seconds > END_LIMIT:
            self.fail("end", f"SIGTERM ended the server after {seconds:.1f} s")
        if left:
            self.fail("end", f"{len(left)} workers live a second after the server: {sorted(left)}")
        memory = bench.memory
        if memory.server_peak > self.server_limit:
            self.fail("server", f"{memory.server_peak / MIB:.0f} MiB, more than {self.server_limit / MIB:.0f}")
        for outcome, count in self.counts.most_common():
            print(f"{count:6} {outcome}")
        for took, name in sorted(self.slowest, reverse=True)[:5]:
            print(f"slowest: {took:.1f} s {name}")
        print(f"second client: {bench.client.answers} answers, {bench.client.pieces} pieces, longest pause "
              f"{self.longest_pause * 1000:.0f} ms (limit {self.pause_limit * 1000:.0f})")
        print(f"memory: server {memory.server_peak / MIB:.0f} MiB; {len(memory.seen)} workers, with a limit at most "
              f"{memory.worker_peak / MIB:.0f} MiB; {memory.unlimited} without one, at most {memory.unlimited_peak / MIB:.0f} MiB")
        print(f"end: {seconds:.1f} s after SIGTERM, {len(left)} workers left")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--only", help="parts of names, separated by commas")
    parser.add_argument("--share", type=int, default=1, help="every Nth case")
    parser.add_argument("--mutated", type=int, default=300, help="cases of mutation")
    parser.add_argument("--seed", type=int, default=1, help="of the mutations")
    parser.add_argument("--tiny", default=os.environ.get("HEARTH_TINY"), help="the folder of scripts/tiny-models.py")
    options = parser.parse_args()
    if not options.tiny:
        parser.error("name the folder of the tiny models with --tiny or HEARTH_TINY")
    cases = list(origin.every_case(options.tiny, options.mutated, options.seed))[::options.share]
    if options.only:
        cases = [case for case in cases if any(part in case[0] for part in options.only.split(","))]
    bench = Bench(os.path.abspath(options.program), options.tiny, cases)
    trial, first = Trial(bench), bench.server.process.pid
    begin = time.monotonic()
    try:
        trial.baseline(10)
        for name, role, _ in cases:
            trial.case(name, role)
        trial.end(first)
    finally:
        if not bench.is_closed:
            bench.close()
    print(f"{len(cases)} cases in {time.monotonic() - begin:.0f} s, {len(set(trial.failures))} with faults")
    sys.exit(1 if trial.failures else 0)


if __name__ == "__main__":
    main()
