"""Watches a server while others use it: its workers and their memory, and a client whose answers go on."""
import http.client, json, os, re, threading, time

MIB = 1 << 20


def words_of(process):
    """The command line of a process; empty after its end."""
    try:
        with open(f"/proc/{process}/cmdline", "rb") as file:
            return file.read().decode(errors="replace").split("\0")
    except OSError:
        return []


def facts_of(process):
    """The lines of /proc/PROCESS/status; empty after its end."""
    try:
        with open(f"/proc/{process}/status") as file:
            lines = (line.partition(":") for line in file)
            return {name: value.strip() for name, _, value in lines}
    except OSError:
        return {}


def kilobytes(facts, name):
    return int(facts.get(name, "0 kB").split()[0]) * 1024


def lives(process):
    """Whether it runs; a zombie does not."""
    return not facts_of(process).get("State", "Z").startswith(("Z", "X"))


def workers_of(server, home):
    """The processes of workers: children of the server, and those that read files of its home."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            words = words_of(name)
            if len(words) > 1 and words[1] == "worker" and lives(name) and (
                    facts_of(name).get("PPid") == str(server) or home in " ".join(words)):
                found.append(int(name))
    return found


def limit_of(process):
    """The private memory that a worker may have, as its command line says it."""
    found = re.search(r"data-limit[= ](\d+)", " ".join(words_of(process)))
    return int(found[1]) if found else None


class Memory(threading.Thread):
    """Samples the memory of the server and its workers. `excesses` are workers above their limits."""

    # Of a worker without a limit of its own.
    UNLIMITED = 2 << 30

    def __init__(self, server):
        super().__init__(daemon=True)
        self.server, self.seen, self.excesses = server, set(), []
        self.server_peak, self.worker_peak, self.unlimited_peak, self.unlimited = 0, 0, 0, 0
        self.is_over = threading.Event()

    def run(self):
        while not self.is_over.wait(0.1):
            process = self.server.process.pid
            self.server_peak = max(self.server_peak, kilobytes(facts_of(process), "VmRSS"))
            for worker in workers_of(process, self.server.home):
                self._sample(worker)

    def _sample(self, worker):
        facts, limit = facts_of(worker), limit_of(worker)
        if limit:
            used = kilobytes(facts, "VmData")
            self.worker_peak = max(self.worker_peak, used)
        else:
            used = kilobytes(facts, "RssAnon")
            self.unlimited_peak = max(self.unlimited_peak, used)
            self.unlimited += worker not in self.seen
        self.seen.add(worker)
        if used > (limit or self.UNLIMITED):
            self.excesses.append(f"worker {worker} has {used // MIB} MiB, its limit is {(limit or self.UNLIMITED) // MIB}")

    def taken_excesses(self):
        found, self.excesses = self.excesses, []
        return found

    def stop(self):
        self.is_over.set()
        self.join()


class SecondClient(threading.Thread):
    """Streams one answer after another from a healthy model, and measures the pauses between two pieces."""

    def __init__(self, server, model):
        super().__init__(daemon=True)
        self.server, self.model = server, model
        self.is_over = threading.Event()
        self.longest, self.pieces, self.answers, self.errors = 0, 0, 0, []

    def run(self):
        while not self.is_over.is_set():
            try:
                self._answer()
            except (OSError, http.client.HTTPException, ValueError) as error:
                self.errors.append(repr(error))
                # The server ends or starts again.
                self.is_over.wait(0.2)

    def _answer(self):
        connection = http.client.HTTPConnection(self.server.host, self.server.port, timeout=60)
        body = {"model": self.model, "stream": True, "max_tokens": 1000, "messages": [{"role": "user", "content": "Go on."}]}
        last = time.monotonic()
        try:
            connection.request("POST", "/v1/chat/completions", json.dumps(body), {"Content-Type": "application/json"})
            reply = connection.getresponse()
            if reply.status != 200:
                raise ValueError(f"{reply.status} {reply.read()[:200]!r}")
            is_whole = False
            while line := reply.readline():
                if line.startswith(b"data:"):
                    now = time.monotonic()
                    self.longest = max(self.longest, now - last)
                    last = now
                    self.pieces += 1
                    is_whole = line.startswith(b"data: [DONE]")
                    if b'"error"' in line:
                        raise ValueError(repr(line[:200]))
                    if self.is_over.is_set():
                        return
            if not is_whole:
                raise ValueError("the answer broke off")
            self.answers += 1
        finally:
            connection.close()

    def taken_longest(self):
        """The longest pause since the last call."""
        found, self.longest = self.longest, 0
        return found

    def taken_errors(self):
        found, self.errors = self.errors, []
        return found

    def stop(self):
        self.is_over.set()
        self.join()
