#!/usr/bin/env python3
"""The hearth command with llama-server as its cloud: it answers, is slow, breaks off, is killed, revived, stopped and cut off.

    scripts/cloud/llama_server.py HEARTH LLAMA_SERVER MODEL [SCENE…]      scenes are functions below; by default all of them

Runs in a network namespace of its own, as scripts/cloud/run.sh makes one: it sets the loopback up and down.
Prints one line for each check; exit status 1 if one is WRONG.
"""
import contextlib
import fcntl
import json
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

HEARTH, LLAMA_SERVER, MODEL = sys.argv[1:4]
WORK = tempfile.mkdtemp()
STORY = "Write a long story about a river."
failed = 0


def check(name, found, wanted=True):
    global failed
    isGood = found == wanted
    failed += not isGood
    print(f"{'ok   ' if isGood else 'WRONG'} {name}" + ("" if isGood else f": {found!r}, not {wanted!r}"), flush=True)


def eventually(find, wanted, limit=60):
    """The value of `find` once it is as wanted, or the last one at the end of the limit."""
    end = time.monotonic() + limit
    while (found := find()) != wanted and time.monotonic() < end:
        time.sleep(0.2)
    return found


def set_loopback(isUp):
    # SIOCSIFFLAGS with IFF_UP or nothing.
    fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sh22x", b"lo", int(isUp)))


class Server:
    """llama-server on a port that stays its own."""

    def __init__(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.process = None

    def start(self):
        words = ["--model", MODEL, "--host", "127.0.0.1", "--port", str(self.port), "--ctx-size", "4096", "--parallel", "1", "--no-webui"]
        with open(f"{WORK}/llama-server.log", "ab") as log:
            self.process = subprocess.Popen([LLAMA_SERVER, *words], stdout=log, stderr=log)
        if eventually(self.is_healthy, True) is not True:
            sys.exit("cloud: llama-server does not start: " + open(f"{WORK}/llama-server.log").read()[-2000:])

    def is_healthy(self):
        try:
            return urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health", timeout=5).status == 200
        except OSError:
            return False

    def send(self, number):
        self.process.send_signal(number)
        if number == signal.SIGKILL:
            self.process.wait()


class Proxy:
    """Passes connections on to a port; `change` gets what of the answer has passed and its next bytes, and returns the bytes
    that pass, or None to end the connection."""

    def __init__(self, port, change):
        self.upstream, self.change = port, change
        self.passed = b""
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            server = socket.create_connection(("127.0.0.1", self.upstream))
            threading.Thread(target=self.send, args=(client, server), daemon=True).start()
            threading.Thread(target=self.answer, args=(client, server), daemon=True).start()

    def send(self, client, server):
        with contextlib.suppress(OSError):
            while data := client.recv(65536):
                server.sendall(data)

    def answer(self, client, server):
        with contextlib.suppress(OSError), client, server:
            while data := server.recv(256):
                data = self.change(self.passed, data)
                if data is None:
                    break
                client.sendall(data)
                self.passed += data
            for end in client, server:
                end.shutdown(socket.SHUT_RDWR)

    @property
    def text(self):
        """The text in the whole events that have passed; each event is a chunk of the body."""
        pieces = [json.loads(piece) for piece in re.findall(rb"^data: (\{.*\})\n", self.passed, re.MULTILINE)]
        return "".join(choice["delta"].get("content") or "" for piece in pieces for choice in piece["choices"])


class Home:
    """A home folder whose cloud is a port of this machine."""

    def __init__(self, name, port):
        self.folder = f"{WORK}/{name}"
        self.environment = os.environ | {"HEARTH_HOME": self.folder}
        for name in "HEARTH_CLOUD_KEY", "OPENAI_API_KEY":
            self.environment.pop(name, None)
        self.set("cloud.kind", "openai")
        self.set("cloud.model", "smollm2")
        self.reach(port)

    def run(self, *words):
        return subprocess.run([HEARTH, *words], env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)

    def set(self, key, value):
        self.run("config", "set", key, value).check_returncode()

    def reach(self, port):
        self.set("cloud.url", f"http://127.0.0.1:{port}/v1")

    def forget(self):
        """Begins with a closed breaker and no decisions."""
        shutil.rmtree(f"{self.folder}/routing", ignore_errors=True)

    def route(self):
        found = self.run("route", "--format", "json")
        found.check_returncode()
        return json.loads(found.stdout)

    def chat(self, *words, **options):
        return Chat([HEARTH, "chat", "--format", "json", *words], self.environment, **options)

    def ask(self, *words, prompt="Name the capital of France.", tokens=16):
        with self.chat("--max-tokens", str(tokens), "--temperature", "0", "--prompt", prompt, *words) as chat:
            return chat.answer()


class Answer:
    """The route of an answer as (source, reason), the text, and how it ended."""

    def __init__(self):
        self.route, self.text, self.end = None, "", None
        self.seconds = 0.0


class Chat:
    """A running `hearth chat`, at a terminal or with a question among its words."""

    def __init__(self, words, environment, isTerminal=False):
        self.began = time.monotonic()
        keyboard = subprocess.DEVNULL
        if isTerminal:
            self.hand, keyboard = os.openpty()
        self.process = subprocess.Popen(
            words, env=environment, stdin=keyboard, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if isTerminal:
            os.close(keyboard)
        self.watchdog = threading.Timer(240, self.process.kill)
        self.watchdog.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.status, self.messages = self.process.wait(), self.process.stderr.read()
        self.watchdog.cancel()

    def type(self, line):
        os.write(self.hand, line.encode() + b"\n")

    def answer(self, onText=None):
        """Reads the events of one answer; `onText` is called once, at the first text."""
        answer = Answer()
        for line in self.process.stdout:
            event = json.loads(line)
            match event["event"]:
                case "route":
                    answer.route = (event["source"], event["reason"])
                case "text":
                    if onText and not answer.text:
                        onText()
                    answer.text += event["delta"]
                case "finish":
                    answer.end = event["reason"]
                    break
                case "error":
                    answer.end = event["code"]
                    break
        answer.seconds = time.monotonic() - self.began
        return answer


CLOUD = ("cloud", "cloud")


def answers(home, server):
    found = home.ask(tokens=48)
    check("answers: route", found.route, CLOUD)
    check("answers: text", "Paris" in found.text)
    check("answers: finish", found.end, "stop")
    route = home.route()
    wanted = {"source": "cloud", "reason": "cloud", "health": "healthy", "breaker": "closed", "network": "not needed", "tier": "pro"}
    check("answers: hearth route", {name: route[name] for name in wanted}, wanted)
    check("answers: decisions", [(past["source"], past["reason"]) for past in route["decisions"]], [CLOUD])
    check("answers: --cloud REF", home.ask("--cloud", "smollm2-135m-instruct").route, CLOUD)
    check("answers: REF", home.ask("smollm2-135m-instruct").route, ("local", "model-named"))
    check("answers: --local", home.ask("--local").route, ("local", "local-preferred"))
    found = home.ask("--private")
    check("answers: --private", (found.route, bool(found.text)), (("local", "private"), True))
    check("answers: nothing of those is recorded", len(home.route()["decisions"]), 2)


def slow(home, server):
    def change(passed, data):
        time.sleep(0.05)
        return data

    proxy = Proxy(server.port, change)
    home.reach(proxy.port)
    found = home.ask(prompt=STORY, tokens=48)
    check("slow: route", found.route, CLOUD)
    check("slow: finish", found.end, "length")
    check("slow: the whole answer", found.text, proxy.text)
    check("slow: it was", found.seconds > 2)


def broken(home, server):
    proxy = Proxy(server.port, lambda passed, data: data if len(passed) < 6000 else None)
    home.reach(proxy.port)
    with home.chat("--prompt", STORY) as chat:
        found = chat.answer()
    check("broken: route", found.route, CLOUD)
    check("broken: finish", found.end, "interrupted")
    check("broken: the text so far", found.text, proxy.text)
    check("broken: some text", len(found.text) > 20)
    check("broken: status", chat.status, 75)
    check("broken: what to type", "--local" in chat.messages and "/continue" not in chat.messages)
    # Before the first word, a local model takes over.
    home.reach(Proxy(server.port, lambda passed, data: data if len(passed) < 200 else None).port)
    found = home.ask()
    check("broken: before the first word", (found.route, bool(found.text)), (("local", "took-over"), True))


def killed(home, server):
    with home.chat("--max-tokens", "700", isTerminal=True) as chat:
        chat.type(STORY)
        found = chat.answer(onText=lambda: server.send(signal.SIGKILL))
        check("killed: route", found.route, CLOUD)
        check("killed: finish", found.end, "interrupted")
        check("killed: the text so far", bool(found.text))
        chat.type("/continue")
        rest = chat.answer()
        check("killed: /continue", rest.route, ("local", "local-preferred"))
        check("killed: its text", bool(rest.text))
        check("killed: its finish", rest.end in ("stop", "length"))
        chat.type("/exit")
    check("killed: status", chat.status, 0)
    check("killed: what to type", "/continue" in chat.messages)
    check("killed: decisions", [past["reason"] for past in home.route()["decisions"]], ["local-preferred", "cloud"])


def missing(home, server):
    server.send(signal.SIGKILL)
    for number in range(3):
        found = home.ask()
        check(f"missing: answer {number + 1}", (found.route, bool(found.text)), (("local", "took-over"), True))
        check("missing: its reason", "(unreachable)" in home.route()["decisions"][0]["trace"][-1])
    check("missing: answer 4", home.ask().route, ("local", "failing"))
    route = home.route()
    check("missing: hearth route", (route["source"], route["reason"], route["breaker"]), ("local", "failing", "open"))
    check("missing: decisions", [past["reason"] for past in route["decisions"]], ["failing"] + ["took-over"] * 3)
    with home.chat("--cloud", "--prompt", "Why?") as chat:
        found = chat.answer()
    check("missing: --cloud", (found.route, found.end, chat.status), (None, "unreachable", 75))
    # Without a local model, the failure of the cloud is the one to act on, also while the breaker is open.
    alone = Home("alone", server.port)
    for number in range(4):
        with alone.chat("--prompt", "Why?") as chat:
            found = chat.answer()
        check(f"missing: no local model, answer {number + 1}", (found.end, chat.status), ("unreachable", 75))
    check("missing: its breaker", alone.route()["breaker"], "open")
    # It is revived.
    server.start()
    check("revived: the breaker still pauses", home.route()["reason"], "failing")
    check("revived: after the pause", eventually(lambda: home.route()["reason"], "cloud"), "cloud")
    route = home.route()
    check("revived: hearth route", (route["source"], route["health"]), ("cloud", "healthy"))
    check("revived: answer", home.ask().route, CLOUD)
    check("revived: breaker", home.route()["breaker"], "closed")


def stopped(home, server):
    home.set("cloud.firstByteSeconds", "2")
    server.send(signal.SIGSTOP)
    found = home.ask()
    check("stopped: a local model takes over", (found.route, bool(found.text)), (("local", "took-over"), True))
    check("stopped: its reason", "(timed-out)" in home.route()["decisions"][0]["trace"][-1])
    check("stopped: soon", found.seconds < 30)
    route = home.route()
    check("stopped: hearth route", (route["source"], route["reason"], route["health"]), ("local", "unhealthy", "failed"))
    with home.chat("--cloud", "--prompt", "Why?") as chat:
        found = chat.answer()
    check("stopped: --cloud", (found.end, chat.status), ("timed-out", 75))
    # It answers the requests that were given up first.
    server.send(signal.SIGCONT)
    home.run("config", "unset", "cloud.firstByteSeconds").check_returncode()
    check("stopped: and goes on", home.ask().route, CLOUD)


def cut(home, server):
    # No packet arrives, and nothing says so: the answer ends after a minute of silence.
    with home.chat("--max-tokens", "700", "--prompt", STORY) as chat:
        found = chat.answer(onText=lambda: set_loopback(False))
    check("cut: finish", (found.route, found.end), (CLOUD, "interrupted"))
    check("cut: the text so far", bool(found.text))
    check("cut: after a minute", 55 < found.seconds < 100)
    found = home.ask()
    check("cut: without a network", (found.route, bool(found.text)), (("local", "took-over"), True))
    check("cut: hearth route", home.route()["reason"], "unhealthy")
    set_loopback(True)
    eventually(server.is_healthy, True)
    check("cut: the network is back", home.ask().route, CLOUD)


set_loopback(True)
server = Server()
try:
    home = Home("home", server.port)
    os.symlink(MODEL, f"{WORK}/smollm2-135m-instruct-v1.0.0-q4_1.gguf")
    home.run("pull", f"{WORK}/smollm2-135m-instruct-v1.0.0-q4_1.gguf", "--quiet").check_returncode()
    scenes = [answers, slow, broken, killed, missing, stopped, cut]
    for scene in [scene for scene in scenes if scene.__name__ in sys.argv[4:]] or scenes:
        if not server.is_healthy():
            server.start()
        home.forget()
        home.reach(server.port)
        scene(home, server)
finally:
    if server.process:
        server.send(signal.SIGKILL)
    shutil.rmtree(WORK, ignore_errors=True)
print(f"cloud: {failed} wrong")
sys.exit(1 if failed else 0)
