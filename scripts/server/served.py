"""A `hearth serve` of its own for the scripts that load it, and their reports. Only the standard library."""
import http.client, json, os, resource, shutil, signal, socket, subprocess, sys, tempfile, time

MIB = 1 << 20
failures = []


def report(stage, is_good, text):
    print(f"{'ok  ' if is_good else 'FAIL'}  {stage}: {text}", flush=True)
    if not is_good:
        failures.append(stage)


class Server:
    """A server in a home of its own.

    model: a file to install, under the name it has. settings: the values of `hearth config set`.
    variables: more environment variables. address_space: the most bytes of it that the process may use.
    """

    def __init__(self, program, model=None, settings=None, variables=None, address_space=None):
        self.address_space = address_space
        self.program = os.path.abspath(program)
        self.home = tempfile.mkdtemp(prefix="hearth-load-")
        self.environment = dict(os.environ, HEARTH_HOME=self.home, HEARTH_LOG="", HEARTH_ALONE="", **(variables or {}))
        if "HEARTH_ORIGIN" not in (variables or {}):
            self.environment.pop("HEARTH_ORIGIN", None)
        for key, value in (settings or {}).items():
            self.run("config", "set", key, str(value))
        if model:
            self.run("pull", os.path.abspath(model))
        self.start()

    def start(self):
        """Starts the process, and returns when it has printed its address."""
        def limit():
            if self.address_space:
                resource.setrlimit(resource.RLIMIT_AS, (self.address_space, self.address_space))

        with open(os.path.join(self.home, "load.log"), "a") as log:
            self.process = subprocess.Popen([self.program, "serve", "--port", "0"], env=self.environment,
                                            stdout=subprocess.PIPE, stderr=log, text=True, preexec_fn=limit)
        address = self.process.stdout.readline().strip()
        if not address:
            sys.exit("hearth serve does not start: " + open(os.path.join(self.home, "load.log")).read()[-2000:])
        self.host, port = address.removeprefix("http://").split(":")
        self.port = int(port)
        self.url = address

    def run(self, *words, may_fail=False):
        done = subprocess.run([self.program, *words], env=self.environment, capture_output=True, text=True)
        if done.returncode and not may_fail:
            sys.exit(f"hearth {' '.join(words)}: {done.stderr}")
        return done.stdout

    def memory(self):
        with open(f"/proc/{self.process.pid}/status") as status:
            return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmRSS"))

    def settled(self, limit=30):
        """The memory once it stops falling."""
        best, still = self.memory(), 0
        end = time.monotonic() + limit
        while still < 4 and time.monotonic() < end:
            time.sleep(0.5)
            now = self.memory()
            still = 0 if now < best - 256 * 1024 else still + 1
            best = min(best, now)
        return best

    def connect_locally(self, timeout=10):
        """A connection to the unix socket, whose owner may have any number of them."""
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.settimeout(timeout)
        connection.connect(os.path.join(self.home, "server", "socket"))
        return connection

    def key(self):
        """A new key for answers."""
        return self.run("keys", "create", "load").split()[-1]

    def connect(self, timeout=10, receive_buffer=None):
        connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        if receive_buffer:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        connection.settimeout(timeout)
        connection.connect((self.host, self.port))
        return connection

    def get(self, path, headers=None):
        return self.send("GET", path, None, headers or {})

    def post(self, path, body, timeout=300):
        return self.send("POST", path, json.dumps(body), {"Content-Type": "application/json"}, timeout)

    def send(self, method, path, body, headers, timeout=20):
        connection = http.client.HTTPConnection(self.host, self.port, timeout=timeout)
        try:
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    def own(self, path):
        """The body of a reply over the unix socket, which is this user's alone."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(20)
            connection.connect(os.path.join(self.home, "server/socket"))
            connection.sendall(f"GET {path} HTTP/1.0\r\nHost: localhost\r\n\r\n".encode())
            reply = b"".join(iter(lambda: connection.recv(65536), b""))
        head, _, body = reply.partition(b"\r\n\r\n")
        if b" 200 " not in head.split(b"\r\n")[0]:
            raise OSError(f"{path}: {head[:60]!r}")
        return body

    def model(self):
        return json.loads(self.get("/v1/models")[1])["data"][0]["id"]

    def running(self):
        """The requests in progress, that of this question included."""
        text = self.own("/metrics").decode()
        return next(int(line.split()[1]) for line in text.splitlines() if line.startswith("hearth_http_requests_running"))

    def is_well(self):
        try:
            return self.process.poll() is None and self.get("/health")[0] == 200
        except OSError:
            return False

    def ticks(self):
        """The processor time used, in ticks of the system."""
        with open(f"/proc/{self.process.pid}/stat") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
            return int(fields[11]) + int(fields[12])

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = None
        shutil.rmtree(self.home, ignore_errors=True)
        return status


def head_of(connection):
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(4096)
        if not piece:
            break
        data += piece
    return data


def ask(model, tokens, prompt, key=None, **fields):
    """The bytes of a request for a streamed answer."""
    body = json.dumps({"model": model, "stream": True, "max_tokens": tokens,
                       "messages": [{"role": "user", "content": prompt}], **fields}).encode()
    shown = b"Authorization: Bearer %s\r\n" % key.encode() if key else b""
    return (b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" + shown +
            b"Content-Length: %d\r\n\r\n" % len(body)) + body


def rest_of(connection):
    """All bytes until the end of a chunked reply; what came until the connection ended."""
    data = b""
    while not data.endswith(b"0\r\n\r\n"):
        piece = connection.recv(65536)
        if not piece:
            break
        data += piece
    return data
