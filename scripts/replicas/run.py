#!/usr/bin/env python3
"""Servers behind haproxy and nginx, with the configurations of docs/scale.md: restarts, and a kill, under clients that stream.

    scripts/replicas/run.py HEARTH --model FILE [--clients 32] [--rounds 3] [--balancer haproxy|nginx]

Exit status 1 if an answer was lost in a restart, if one that was cut off looks whole, or if a server does not end in order.
"""
import argparse
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PORTS = {"haproxy": 8080, "nginx": 8081}
SERVERS = (4401, 4402)


def configuration(balancer):
    with open(os.path.join(ROOT, "docs", "scale.md"), encoding="utf-8") as file:
        return re.search(f"```{balancer}\n(.*?)```", file.read(), re.DOTALL).group(1)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A `hearth serve` in a home of its own."""

    def __init__(self, program, home, port):
        self.program, self.home, self.port = program, home, port
        self.process = None

    def run(self, *words):
        return subprocess.run([self.program, *words], env=self.environment, check=True, capture_output=True, text=True)

    @property
    def environment(self):
        return {**os.environ, "HEARTH_HOME": self.home, "HEARTH_NETWORK": "unmetered"}

    def start(self):
        with open(os.path.join(self.home, "log"), "a", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [self.program, "serve", "--port", str(self.port)], env=self.environment, stdout=log, stderr=log)
        deadline = time.monotonic() + 60
        while self.ready() != 200:
            if time.monotonic() > deadline or self.process.poll() is not None:
                sys.exit(f"the server at {self.port} does not begin: see {self.home}/log")
            time.sleep(0.05)

    def ready(self):
        """The answer to haproxy's plain question; `None` without one."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=5) as connection:
                connection.sendall(b"GET /ready HTTP/1.0\r\n\r\n")
                return int(connection.makefile("rb").readline().split()[1])
        except (OSError, IndexError):
            return None

    def end(self, number=signal.SIGTERM):
        began = time.monotonic()
        self.process.send_signal(number)
        status = self.process.wait(timeout=400)
        return status, time.monotonic() - began


class Clients:
    """Clients that ask one streamed question after another, each a conversation of its own."""

    def __init__(self, port, key, count, tokens):
        self.port, self.key, self.tokens = port, key, tokens
        self.lock, self.isOver = threading.Lock(), threading.Event()
        self.whole, self.broken, self.refused, self.pretended = 0, [], [], 0
        self.threads = [threading.Thread(target=self.talk, args=(number,)) for number in range(count)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.isOver.set()
        for thread in self.threads:
            thread.join()

    def talk(self, number):
        turn = 0
        while not self.isOver.is_set():
            turn += 1
            self.ask(number, turn)

    def ask(self, number, turn):
        began = time.time()
        body = json.dumps({
            "messages": [{"role": "user", "content": f"Client {number} asks question {turn}: tell me a story."}],
            "model": "story", "stream": True, "max_tokens": self.tokens, "temperature": 0.8,
        })
        fields = {
            "Content-Type": "application/json", "Authorization": f"Bearer {self.key}",
            "X-Hearth-Affinity": f"conversation-{number}",
        }
        text = b""
        try:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
            connection.request("POST", "/v1/chat/completions", body, fields)
            reply = connection.getresponse()
            if reply.status != 200:
                with self.lock:
                    self.refused.append((began, reply.status, reply.read(200)))
                time.sleep(0.05)
                return
            while piece := reply.read1(65536):
                text += piece
            connection.close()
        except (OSError, http.client.HTTPException) as error:
            with self.lock:
                self.broken.append((began, repr(error)))
                # What was cut off must not look like an answer that ended.
                self.pretended += b"[DONE]" in text
            return
        with self.lock:
            if b"[DONE]" in text and b'"error"' not in text:
                self.whole += 1
            else:
                self.broken.append((began, text[-120:]))


def balanced(name, folder):
    path = os.path.join(folder, name + ".conf")
    with open(path, "w", encoding="utf-8") as file:
        if name == "nginx":
            file.write(f"daemon off;\npid {folder}/nginx.pid;\nerror_log {folder}/nginx.log;\n")
        file.write(configuration(name).replace(
            "http {\n", f"http {{\n    access_log off;\n    client_body_temp_path {folder}/body;\n"
            f"    proxy_temp_path {folder}/proxy;\n" if name == "nginx" else "http {\n"))
    words = ["haproxy", "-db", "-f", path] if name == "haproxy" else ["nginx", "-p", folder, "-c", path]
    with open(os.path.join(folder, name + ".out"), "w", encoding="utf-8") as log:
        process = subprocess.Popen(words, stdout=log, stderr=log)
    deadline = time.monotonic() + 10
    while True:
        try:
            socket.create_connection(("127.0.0.1", PORTS[name]), timeout=1).close()
            return process
        except OSError:
            if time.monotonic() > deadline or process.poll() is not None:
                with open(os.path.join(folder, name + ".out"), encoding="utf-8") as log:
                    sys.exit(f"{name} does not begin: {log.read()}")
            time.sleep(0.05)


def restarts(name, servers, key, options):
    """Each server ends and begins again, in turn, while clients stream."""
    problems = []
    with Clients(PORTS[name], key, options.clients, options.tokens) as clients:
        time.sleep(3)
        for _ in range(options.rounds):
            for server in servers:
                status, seconds = server.end()
                if status != 0:
                    problems.append(f"{name}: the server ended with {status}")
                server.start()
                print(f"{name}: a server ended in {seconds:.1f} s and is ready again", flush=True)
                # As long as the balancer takes to notice.
                time.sleep(2.5)
    lost = len(clients.broken) + len(clients.refused)
    print(f"{name}: restarts under {options.clients} clients: {clients.whole} answers, {lost} lost", flush=True)
    for loss in (clients.broken + clients.refused)[:3]:
        print(f"  {loss}")
    return problems + ([f"{name}: {lost} lost"] if lost else [])


def kill(name, servers, key, options):
    """One server is killed: only what it had begun breaks."""
    with Clients(PORTS[name], key, options.clients, options.tokens) as clients:
        time.sleep(3)
        servers[0].end(signal.SIGKILL)
        killed = time.time()
        time.sleep(8)
    servers[0].start()
    late = [loss for loss in clients.broken + clients.refused if loss[0] > killed + 2]
    print(f"{name}: a kill: {clients.whole} answers, {len(clients.broken)} broken, {len(clients.refused)} refused, "
          f"{len(late)} of them sent 2 s later, {clients.pretended} look whole", flush=True)
    return [f"{name}: lost after a kill: {late[:3]}"] * bool(late) + [f"{name}: looks whole"] * bool(clients.pretended)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("hearth")
    parser.add_argument("--model", required=True)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tokens", type=int, default=48)
    parser.add_argument("--balancer", choices=list(PORTS), action="append")
    options = parser.parse_args()
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        servers = [Server(os.path.abspath(options.hearth), os.path.join(folder, str(port)), port) for port in SERVERS]
        for server in servers:
            os.makedirs(server.home)
            server.run("pull", os.path.abspath(options.model), "--family", "story", "--no-probe", "--quiet")
            server.run("config", "set", "serve.drain", "300")
            server.run("config", "set", "serve.drainDelay", "2")
            server.run("config", "set", "serve.slots", "8")
        key = servers[0].run("keys", "create", "balancer", "--scopes", "chat").stdout.split()[-1]
        keys = os.path.join("server", "keys.json")
        os.makedirs(os.path.join(servers[1].home, "server"), mode=0o700, exist_ok=True)
        with open(os.path.join(servers[0].home, keys), "rb") as source:
            descriptor = os.open(os.path.join(servers[1].home, keys), os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "wb") as target:
                target.write(source.read())
        for server in servers:
            server.start()
        try:
            for name in options.balancer or PORTS:
                balancer = balanced(name, folder)
                try:
                    problems += restarts(name, servers, key, options)
                    problems += kill(name, servers, key, options)
                finally:
                    balancer.terminate()
                    balancer.wait()
        finally:
            for server in servers:
                server.process.kill()
    for problem in problems:
        print(problem)
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
