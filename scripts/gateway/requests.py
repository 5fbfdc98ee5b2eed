#!/usr/bin/env python3
"""Sends requests of every kind to two gateways on one database, and to the S3 server whose addresses they sign.

    scripts/gateway/requests.py HEARTH --rclone RCLONE [--requests N] [--model FILE.gguf]
                       [--postgres ADDRESS --psql PSQL --restart COMMAND]

COMMAND restarts PostgreSQL; MODE in it becomes `fast` or `immediate`. Prints a line for each check and ends with status 1 if one
failed. Only the standard library.
"""
import argparse, collections, hashlib, http.client, http.server, json, os, pathlib, random, re, shutil, socket, subprocess, sys, tempfile
import threading, time, urllib.parse
from concurrent.futures import ThreadPoolExecutor

ACCESS, SECRET = "test-access-key", "test-secret-key-of-the-bucket"
# rclone answers 400 where a signature is missing, and 403 where it is wrong or old.
REFUSED = (400, 403)
failures = []


def check(name, holds, words=""):
    print(f"{'ok   ' if holds else 'WRONG'} {name}{': ' if words else ''}{words}", flush=True)
    if not holds:
        failures.append(name)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Process:
    """A child process whose first line of output is its address."""

    def __init__(self, words, env=None, **more):
        self.process = subprocess.Popen(words, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **more)
        self.address = self.process.stdout.readline().strip()

    def end(self):
        self.process.terminate()
        return self.process.wait(30)


def ask(url, method="GET", body=None, headers=None, timeout=60):
    """The status, the headers and the body of one exchange."""
    parts = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=timeout)
    try:
        target = parts.path + ("?" + parts.query if parts.query else "")
        connection.request(method, target, body=body, headers=headers or {})
        response = connection.getresponse()
        return response.status, response.headers, response.read()
    finally:
        connection.close()


def code_of(body):
    try:
        return json.loads(body)["error"]["code"]
    except (ValueError, KeyError, TypeError):
        return None


class RangeProxy(http.server.BaseHTTPRequestHandler):
    """Passes requests on to rclone, which answers a part of a file with 200 instead of 206; a client that reads ranges as RFC 9110
    has them refuses that. Signatures stay, since the Host header is passed on."""

    protocol_version = "HTTP/1.1"
    target = None

    def do_GET(self):
        connection = http.client.HTTPConnection(*self.target, timeout=60)
        try:
            connection.putrequest("GET", self.path, skip_host=True, skip_accept_encoding=True)
            for name, value in self.headers.items():
                if name.lower() != "connection":
                    connection.putheader(name, value)
            connection.endheaders()
            response = connection.getresponse()
            self.send_response(206 if response.status == 200 and response.headers["Content-Range"] else response.status)
            for name in ["Content-Length", "Content-Range", "Content-Type", "ETag"]:
                if response.headers[name]:
                    self.send_header(name, response.headers[name])
            self.end_headers()
            shutil.copyfileobj(response, self.wfile)
        except OSError:
            self.close_connection = True
        finally:
            connection.close()

    def log_message(self, *_):
        pass


class QuietServer(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, address):
        """Devices close connections in the middle of an answer when an address ends."""


class Stage:
    def __init__(self, options, work):
        self.options, self.work = options, work
        self.env = {**os.environ, "HEARTH_HOME": str(work / "server"), "AWS_ACCESS_KEY_ID": ACCESS, "AWS_SECRET_ACCESS_KEY": SECRET,
                    "GEMINI_API_KEY": "stand-in-key", "NO_PROXY": "*", "NO_COLOR": "1"}
        self.env.pop("HEARTH_TEST_POSTGRES", None)
        if options.postgres:
            self.env["HEARTH_GATEWAY_DATABASE"] = options.postgres
        self.processes, self.keys = [], []
        self.audits = []

    def start(self, process):
        self.processes.append(process)
        return process.address

    def hearth(self, *words, env=None):
        done = subprocess.run([self.options.hearth, *words], env=env or self.env, capture_output=True, text=True, timeout=600)
        if done.returncode != 0:
            raise SystemExit(f"hearth {' '.join(words)}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout.strip()

    def key(self, name, *words):
        key = self.hearth("gateway", "keys", "create", name, *words)
        self.keys.append(key)
        return key

    def serve(self, *words):
        audit = self.work / f"audit-{len(self.audits)}.jsonl"
        self.audits.append(audit)
        return self.start(Process(
            [self.options.hearth, "gateway", "serve", "--port", "0", "--bucket", f"{self.s3}/bucket", "--files", self.files,
             "--cloud-url", self.cloud, "--audit", str(audit), *words], env=self.env, stderr=open(self.work / "gateway.log", "a")))

    # The servers

    def begin(self):
        self.content = random.Random(7).randbytes(300_000)
        folder = self.work / "s3" / "bucket" / "models"
        folder.mkdir(parents=True)
        for index in range(20):
            (folder / f"m{index} ü.gguf").write_bytes(self.content[:1000 * (index + 1)])
        port = free_port()
        self.s3 = f"http://127.0.0.1:{port}"
        self.processes.append(rclone := Process.__new__(Process))
        rclone.process = subprocess.Popen(
            [self.options.rclone, "serve", "s3", "--addr", f"127.0.0.1:{port}", "--auth-key", f"{ACCESS},{SECRET}",
             "--config", "/dev/null", "--vfs-cache-mode", "off", "--dir-cache-time", "0s", str(self.work / "s3")], stderr=open(self.work / "rclone.log", "w"))
        for _ in range(200):
            try:
                if ask(self.s3)[0] in REFUSED:
                    break
            except OSError:
                time.sleep(0.1)
        status = ask(f"{self.s3}/bucket/models/m0%20%C3%BC.gguf")[0]
        check("the bucket refuses requests without a signature", status in REFUSED, str(status))
        self.files = "http://127.0.0.1:9/files"
        self.cloud = self.start(Process([sys.executable, "scripts/cloud/stand_in.py"]))
        self.gateways = [self.serve(), self.serve()]
        for gateway in self.gateways:
            check("a gateway is healthy", ask(gateway + "/agent/health")[0] == 200, gateway)

    def address(self, gateway, key, location, **headers):
        if key is not None:
            headers["Authorization"] = f"Bearer {key}"
        return ask(gateway + "/models/address", "POST", json.dumps({"location": location}), headers)

    def location(self, index):
        return f"{self.files}/models/m{index}%20%C3%BC.gguf"

    # The stages

    def requests(self, count):
        good = [self.key(f"good-{index}") for index in range(30)]
        quotas = [self.key(f"quota-{index}", "--addresses", "20") for index in range(6)]
        revoked = self.key("revoked")
        self.hearth("gateway", "keys", "revoke", revoked.split("-")[1])
        soon = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 2))
        expired = self.key("expired", "--expires", soon)
        time.sleep(2.5)
        chat = self.key("chat", "--scopes", "chat")
        outside = ["https://evil.example/x", f"{self.files}/../secret", f"{self.files}/%2e%2e/x", f"{self.files}x/y", "", "\x00"]
        bodies = [b"", b"{", b"[]", b"\xff\xfe", b"x" * 100_000, b'{"location":' * 2000]
        fetched = collections.Counter()

        def fetch(index, reply):
            """Uses a signed address, and altered ones."""
            url = json.loads(reply)["url"]
            size = 1000 * (index % 20 + 1)
            status, _, body = ask(url)
            fetched["right bytes" if status == 200 and body == self.content[:size] else f"wrong: {status}"] += 1
            parts = urllib.parse.urlsplit(url)
            query = dict(urllib.parse.parse_qsl(parts.query))
            alterations = [
                parts._replace(path=parts.path.replace("/m", "/n", 1)),
                parts._replace(path=f"/bucket/models/m{(index + 1) % 20}%20%C3%BC.gguf"),
                parts._replace(query=urllib.parse.urlencode(query | {"X-Amz-Expires": "604800"})),
                parts._replace(query=urllib.parse.urlencode(query | {"X-Amz-Signature": "0" * 64})),
                parts._replace(query=urllib.parse.urlencode(query | {"X-Amz-Credential": query["X-Amz-Credential"].replace(ACCESS, "other")})),
                parts._replace(query=""),
            ]
            altered = ask(urllib.parse.urlunsplit(alterations[index // 20 % len(alterations)]))[0]
            fetched["altered refused" if altered in REFUSED else f"altered: {altered}"] += 1

        def one(index):
            gateway, kind = self.gateways[index % 2], index // 2 % 20
            location = self.location(index % 20)
            if kind < 8:
                status, _, body = self.address(gateway, good[index // 40 % len(good)], location)
                if status == 200 and index % 10 == 0:
                    fetch(index, body)
                return "good", status, None if status == 200 else code_of(body)
            if kind < 10:
                wrong = ["hearth-00000000-" + "0" * 64, good[0][:-1] + ("0" if good[0][-1] != "0" else "1"), "sk-x", "x" * 4000]
                name, (status, _, body) = "wrong", self.address(gateway, wrong[index // 40 % 4], location)
            elif kind < 12:
                name, (status, _, body) = "revoked", self.address(gateway, revoked, location)
            elif kind < 14:
                name, (status, _, body) = "expired", self.address(gateway, expired, location)
            elif kind < 16:
                name, (status, _, body) = "quota", self.address(gateway, quotas[index // 40 % len(quotas)], location)
            elif kind == 16:
                name, (status, _, body) = "outside", self.address(gateway, good[index // 40 % len(good)], outside[index // 40 % len(outside)])
            elif kind == 17:
                name = "hostile"
                status, _, body = ask(gateway + "/models/address", "POST", bodies[index // 40 % len(bodies)], {"X-API-Key": good[index // 40 % len(good)]})
            elif kind == 18:
                name, (status, _, body) = "no key", self.address(gateway, None, location)
            else:
                name, (status, _, body) = "scope", self.address(gateway, chat, location)
            return name, status, code_of(body)

        began = time.monotonic()
        with ThreadPoolExecutor(16) as pool:
            found = collections.Counter(pool.map(one, range(count)))
        taken = time.monotonic() - began
        allowed = {
            "good": {(200, None)}, "wrong": {(401, "unknown-key")}, "revoked": {(401, "key-revoked")}, "expired": {(401, "key-expired")},
            "quota": {(200, None), (429, "over-quota")}, "outside": {(404, "location-not-served")},
            "hostile": {(400, "bad-request"), (413, "body-too-large")}, "no key": {(401, "key-required")}, "scope": {(403, "scope-missing")},
        }
        for name, answers in allowed.items():
            own = {answer[1:]: number for answer, number in found.items() if answer[0] == name}
            check(f"requests: {name}", own and set(own) <= answers, str(own))
        given = sum(number for answer, number in found.items() if answer[:2] == ("quota", 200))
        check("requests: quotas are kept by both gateways together", given == 20 * len(quotas), f"{given} of {20 * len(quotas)}")
        check("the bucket takes signed addresses and refuses altered ones", set(fetched) == {"right bytes", "altered refused"}, str(dict(fetched)))
        print(f"bench gateway requests: {count / taken:.0f} a second, {count} in {taken:.1f} s")
        lines = [json.loads(line) for audit in self.audits for line in audit.read_text().splitlines()]
        strangers = sum(number for answer, number in found.items() if answer[0] in ("wrong", "no key"))
        known = sum("key" in line for line in lines)
        check("the audit log has a line for each decision about a key, and few about strangers",
              known == count - strangers and len(lines) < count, f"{known} of {count - strangers}, {len(lines) - known} about strangers")

    def expired_addresses(self):
        gateway, key = self.serve("--lifetime", "1"), self.key("short")
        urls = [json.loads(self.address(gateway, key, self.location(index))[2])["url"] for index in range(20)]
        fresh = json.loads(self.address(gateway, key, self.location(0))[2])["url"]
        check("a fresh address works", ask(fresh)[0] == 200)
        time.sleep(3)
        found = collections.Counter(ask(url)[0] for url in urls)
        check("the bucket refuses expired addresses", sum(found[status] for status in REFUSED) == 20, str(dict(found)))

    def credits(self):
        """Turns in several threads while PostgreSQL restarts: none costs twice, and none is lost."""
        credits, turns = 150, 200
        key = self.key("credits", "--scopes", "chat", "--credits", str(credits))
        served, refused, seen = [], [], collections.Counter()

        def send(index, text, turn):
            body = json.dumps({"contents": [{"role": "user", "parts": [{"text": text}]}]})
            headers = {"Authorization": f"Bearer {key}", "X-Hearth-Turn": turn, "Accept": "text/event-stream"}
            status, _, reply = ask(self.gateways[index % 2] + "/ai/chat", "POST", body, headers)
            seen[status] += 1
            return status, reply

        def turn(index):
            name, chance = f"turn-{index}", random.Random(index)
            if index % 3 == 0:
                # The cloud fails before a token: nothing is spent, whatever becomes of the turn.
                send(index, "error 503", name)
            passes = 2 if index % 4 == 0 else 1
            while passes:
                try:
                    status, reply = send(index + passes, "hello", name)
                except (OSError, http.client.HTTPException) as error:
                    seen[type(error).__name__] += 1
                    continue
                if status == 200 and b"finishReason" in reply:
                    passes -= 1
                elif status == 402:
                    refused.append(name)
                    return
                else:
                    time.sleep(0.2 + chance.random() / 5)
            served.append(name)

        def restart():
            for mode in ["fast", "immediate", "immediate"]:
                time.sleep(0.4)
                subprocess.run(self.options.restart.replace("MODE", mode), shell=True, check=True, timeout=120)

        restarting = threading.Thread(target=restart if self.options.restart else lambda: None)
        restarting.start()
        with ThreadPoolExecutor(12) as pool:
            list(pool.map(turn, range(turns)))
        restarting.join()
        check("credits: each is spent once", len(served) == credits and len(refused) == turns - credits,
              f"{len(served)} turns answered, {len(refused)} refused, {credits} credits; statuses {dict(seen)}")
        entry = next(entry for entry in json.loads(self.hearth("gateway", "keys", "list", "--format", "json")) if entry["name"] == "credits")
        check("credits: none is left", entry["creditsLeft"] == 0, str(entry["creditsLeft"]))
        if self.options.postgres:
            sql = "SELECT state, count(DISTINCT turn) FROM gateway_pass GROUP BY state ORDER BY state"
            found = subprocess.run([self.options.psql, "-At", self.options.postgres, "-c", sql], capture_output=True, text=True).stdout.split()
            check("credits: no pass is left open", not any(line.startswith("open") for line in found), str(found))

    def device(self):
        """A device pulls a model through the gateway; addresses end in the middle of the download."""
        model = self.options.model
        if not model or not os.path.exists(model):
            return print("device: skipped, there is no model")
        origin, env = self.work / "origin", {**os.environ, "HEARTH_HOME": str(self.work / "device"), "NO_PROXY": "*", "HEARTH_NETWORK": "unmetered"}
        self.hearth("publish", model, "--family", "gated", "--version", "1.0.0", "--to", str(origin), env=env)
        bucket = self.work / "s3" / "bucket" / "gated"
        shutil.copytree(origin, bucket)
        (bucket / "models.json").unlink()
        # The catalog is public; everything else is in the bucket alone.
        catalog = (origin / "models.json").read_bytes()

        class Catalog(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                found = self.path == "/models.json"
                self.send_response(200 if found else 403)
                self.send_header("Content-Length", str(len(catalog) if found else 0))
                self.end_headers()
                if found:
                    self.wfile.write(catalog)

            def log_message(self, *_):
                pass

        server = QuietServer(("127.0.0.1", 0), Catalog)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        parts = urllib.parse.urlsplit(self.s3)
        RangeProxy.target = (parts.hostname, parts.port)
        proxy = QuietServer(("127.0.0.1", 0), RangeProxy)
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        key = self.key("device")
        gateway = self.start(Process(
            [self.options.hearth, "gateway", "serve", "--port", "0", "--bucket", f"http://127.0.0.1:{proxy.server_port}/bucket/gated",
             "--files", address,
             "--lifetime", "1", "--audit", str(self.work / "device.jsonl")], env=self.env, stderr=open(self.work / "gateway.log", "a")))
        for name, value in [("origins.gated", address + "/models.json"), ("gateway.url", gateway)]:
            self.hearth("config", "set", name, value, env=env)
        bare = subprocess.run([self.options.hearth, "pull", "gated"], env=env, capture_output=True, text=True)
        check("device: without a key nothing is fetched", bare.returncode != 0 and "setting-not-set" in bare.stderr, bare.stderr.strip()[-200:])
        file = self.work / "device.key"
        file.write_text(key + "\n")
        file.chmod(0o600)
        self.hearth("config", "set", "gateway.keyFile", str(file), env=env)
        rate = max(1, os.path.getsize(model) // 6)
        self.hearth("pull", "gated", "--limit-rate", str(rate), env=env)
        entry = json.loads(self.hearth("list", "--format", "json", env=env))[0]
        weights = next(path for path in pathlib.Path(entry["path"]).rglob("*.gguf"))
        same = hashlib.sha256(weights.read_bytes()).digest() == hashlib.sha256(open(model, "rb").read()).digest()
        given = len((self.work / "device.jsonl").read_text().splitlines())
        check("device: the model came whole through renewed addresses", same and given > 2, f"{given} addresses")
        server.shutdown()
        proxy.shutdown()

    def secrets(self):
        text = "".join(path.read_text() for path in [*self.audits, self.work / "gateway.log"] if path.exists())
        found = [name for name in [SECRET, "stand-in-key", "X-Amz-Signature", "turn-", "hello", *(key[-64:] for key in self.keys)] if name in text]
        check("audit and log have no secrets and no texts", not found, str(found))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("hearth")
    for name in ["rclone", "postgres", "psql", "restart", "model"]:
        parser.add_argument(f"--{name}")
    parser.add_argument("--requests", type=int, default=10_000)
    options = parser.parse_args()
    work = pathlib.Path(tempfile.mkdtemp())
    stage = Stage(options, work)
    try:
        stage.begin()
        stage.requests(options.requests)
        stage.expired_addresses()
        stage.credits()
        stage.device()
        stage.secrets()
        ended = [process.end() for process in stage.processes]
        stage.processes = []
        check("every gateway ends in order", all(status in (0, 130, -15, 143) for status in ended), str(ended))
    finally:
        for process in stage.processes:
            process.process.kill()
        if failures:
            print((work / "gateway.log").read_text()[-4000:] if (work / "gateway.log").exists() else "")
        shutil.rmtree(work, ignore_errors=True)
    sys.exit(1 if failures else 0)


main()
