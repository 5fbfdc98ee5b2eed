#!/usr/bin/env python3
"""Many processes change settings and keys at once, under a running server. Only the standard library.

    scripts/settings/race.py PROGRAM [--rounds N] [--kills N]

Each round: 40 processes set 40 settings and 20 create keys. Every command exits with 0, nothing is lost, and the server
accepts every key within a second of its line. Then an editor's rename of config.json is followed within two seconds, and a
writer that is killed at any moment leaves the old file or the new one.
"""
import argparse, http.client, json, os, random, shutil, signal, subprocess, sys, tempfile, threading, time

SETTERS, CREATORS = 40, 20
failures = []


def report(stage, is_good, text):
    print(f"{'ok  ' if is_good else 'FAIL'}  {stage}: {text}", flush=True)
    if not is_good:
        failures.append(stage)


class Home:
    """A home with a server."""

    def __init__(self, program):
        self.program = os.path.abspath(program)
        self.folder = tempfile.mkdtemp(prefix="hearth-race-")
        self.environment = dict(os.environ, HEARTH_HOME=self.folder, HEARTH_LOG="")
        self.environment.pop("HEARTH_ORIGIN", None)
        self.settings = os.path.join(self.folder, "config.json")
        self.log = open(os.path.join(self.folder, "race.log"), "w")
        self.server = subprocess.Popen([self.program, "serve", "--port", "0"], env=self.environment, stdout=subprocess.PIPE,
                                       stderr=self.log, text=True)
        address = self.server.stdout.readline().strip()
        if not address:
            sys.exit("hearth serve does not start: " + open(self.log.name).read()[-2000:])
        self.host, port = address.removeprefix("http://").split(":")
        self.port = int(port)

    def start(self, *words):
        return subprocess.Popen([self.program, *words], env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True)

    def run(self, *words):
        done = subprocess.run([self.program, *words], env=self.environment, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"hearth {' '.join(words)}: {done.stderr}")
        return done.stdout

    def status(self, headers):
        connection = http.client.HTTPConnection(self.host, self.port, timeout=10)
        try:
            connection.request("GET", "/v1/models", headers=headers)
            return connection.getresponse().status
        finally:
            connection.close()

    def delay(self, headers, limit):
        """The seconds until a request with these headers is accepted; None after the limit."""
        start = time.monotonic()
        while True:
            status = self.status(headers)
            passed = time.monotonic() - start
            if status == 200:
                return passed
            if passed > limit:
                return None

    def values(self):
        return {row["key"]: row["value"] for row in json.loads(self.run("config", "list", "--format", "json"))}

    def stop(self):
        self.server.send_signal(signal.SIGTERM)
        status = self.server.wait(60)
        shutil.rmtree(self.folder, ignore_errors=True)
        return status


def race(home, number):
    """One round: the slowest acceptance of a key, and the seconds of the round."""
    wanted = {f"origins.o{index}": f"https://models.example.org/{number}/{index}/models.json" for index in range(SETTERS)}
    keys, delays = [], []

    def accept(process):
        key = process.stdout.readline().strip()
        keys.append(key)
        delays.append(home.delay({"Authorization": f"Bearer {key}"}, 5))

    start = time.monotonic()
    setters = [home.start("config", "set", key, value) for key, value in wanted.items()]
    creators = [home.start("keys", "create", f"r{number}k{index}") for index in range(CREATORS)]
    threads = [threading.Thread(target=accept, args=(process,)) for process in creators]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    statuses = [process.wait() for process in setters + creators]
    errors = "".join(process.stderr.read() for process in setters if process.returncode)
    seconds = time.monotonic() - start
    report(f"round {number}: statuses", not any(statuses), f"{statuses.count(0)} of {len(statuses)} are 0 {errors[:500]}")
    values = home.values()
    kept = sum(values.get(key) == value for key, value in wanted.items())
    report(f"round {number}: settings", kept == SETTERS, f"{kept} of {SETTERS} are kept")
    slowest = max((delay if delay is not None else 99 for delay in delays), default=99)
    report(f"round {number}: keys", len(set(keys)) == CREATORS and slowest < 1,
           f"{len(set(keys))} of {CREATORS}, accepted after at most {slowest * 1000:.0f} ms; the round took {seconds:.1f} s")
    listed = {row["name"] for row in json.loads(home.run("keys", "list", "--format", "json"))}
    lost = [index for index in range(CREATORS) if f"r{number}k{index}" not in listed]
    report(f"round {number}: list", not lost, f"{len(listed)} keys are listed")
    # A home has at most 256 keys.
    if len(listed) + CREATORS > 256:
        for row in json.loads(home.run("keys", "list", "--format", "json")):
            home.run("keys", "revoke", row["id"])


def editor(home, number):
    """Saves as editors do: a new file in place of the old one."""
    with open(home.settings) as file:
        settings = json.load(file)
    name = f"box-{number}.local"
    settings.setdefault("serve", {})["hosts"] = name
    settings["new"] = {"kept": number}
    with open(home.settings + "~", "w") as file:
        json.dump(settings, file)
    os.replace(home.settings + "~", home.settings)
    delay = home.delay({"Host": name}, 10)
    report(f"rename {number}", delay is not None and delay <= 2, f"followed after {delay or 99:.2f} s")


def kill(home, number):
    """Kills a writer at a random moment. Returns whether the file has the new value."""
    old = home.values().get("threads")
    new = str(number % 1000 + 1)
    process = home.start("config", "set", "threads", new)
    time.sleep(random.uniform(0, kill.longest))
    process.kill()
    process.wait()
    with open(home.settings) as file:
        settings = json.load(file)
    found = str(settings.get("threads")) if "threads" in settings else None
    if found not in (old, new) or settings.get("new") is None:
        report(f"kill {number}", False, f"{found} in place of {old} or {new}")
    return found == new


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--kills", type=int, default=40)
    options = parser.parse_args()
    home = Home(options.program)
    try:
        for number in range(options.rounds):
            race(home, number)
        for number in range(3):
            editor(home, number)
        start = time.monotonic()
        home.run("config", "set", "threads", "1000")
        kill.longest = 1.2 * (time.monotonic() - start)
        changed = sum(kill(home, number) for number in range(options.kills))
        report("kills", True, f"{changed} of {options.kills} had written, the others had not")
        home.run("config", "set", "threads", "7")
        report("after the kills", home.values().get("threads") == "7", "the next writer works")
        left = [name for name in os.listdir(home.folder) if ".tmp-" in name]
        report("left behind", not left, f"{left}")
    finally:
        status = home.stop()
    report("end", status == 0, f"the server exits with {status}")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
