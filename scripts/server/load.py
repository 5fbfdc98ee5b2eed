#!/usr/bin/env python3
"""Puts `hearth serve` under load and hostile requests, and checks its memory and its answers.

    scripts/server/load.py HEARTH [--model FILE.gguf] [--quick] [--stages idle,hostile,slow,answers,restarts,killed,terminal]

Starts HEARTH in a home of its own. Without a model, the stages with answers are left out. Prints a line for each
stage and ends with status 1 if one failed. Only the standard library.
"""
import argparse, fcntl, http.client, json, os, pty, random, select, shutil, signal, socket, subprocess, sys, tempfile, termios, threading, time

from served import MIB, Server, ask, failures, head_of, report, rest_of


def idle(server, count):
    # The first requests make what is made once.
    for _ in range(50):
        server.get("/health")
    before = server.settled(5)
    connections = []
    for _ in range(count):
        connection = server.connect_locally()
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        head_of(connection)
        connections.append(connection)
    added = server.memory() - before
    server_ticks = server.ticks()
    time.sleep(3)
    used = server.ticks() - server_ticks
    # Each of them still serves.
    good = 0
    for connection in connections:
        connection.sendall(b"GET /ready HTTP/1.1\r\nHost: localhost\r\n\r\n")
        good += head_of(connection).startswith(b"HTTP/1.1 200")
        connection.close()
    report("idle", added <= 48 * MIB * count // 1000 and good == count,
           f"{count} connections add {added / MIB:.1f} MiB, {good} served again, {used} ticks in 3 s")


def hostile_requests(seed, count):
    """Requests that no client library sends, from a seeded generator."""
    chance = random.Random(seed)
    methods = [b"GET", b"POST", b"PUT", b"DELETE", b"OPTIONS", b"TRACE", b"CONNECT", b"get", b"", b"\x00", b"G" * 100]
    paths = [b"/health", b"/v1/models", b"/v1/chat/completions", b"/hearth/v1/status", b"/hearth/v1/jobs", b"/../../etc/passwd",
             b"/%2e%2e/%2e%2e/etc/passwd", b"*", b"http://evil.example/", b"/" + b"a" * 9000, b"/%00", b"/a b", b"//", b""]
    fields = [b"Host: localhost", b"Host: evil.example", b"Host: a\r\nHost: b", b"Content-Length: 5", b"Content-Length: -1",
              b"Content-Length: 5\r\nContent-Length: 6", b"Content-Length: 99999999999999999999", b"Content-Length : 5",
              b"Transfer-Encoding: chunked", b"Transfer-Encoding: chunked\r\nContent-Length: 3", b"Transfer-Encoding: xchunked",
              b"Transfer-Encoding : chunked", b"X: " + b"y" * 40000, b"X\x00: y", b": y", b"X", b" folded", b"Expect: 100-continue",
              b"Upgrade: websocket\r\nConnection: Upgrade", b"Origin: https://evil.example", b"Origin: null",
              b"Authorization: Bearer " + b"k" * 5000, b"Cookie: hearth_session=x", b"Range: bytes=0-,1-", b"Connection: keep-alive, close",
              b"Content-Type: application/json", b"\r\n".join(b"X-%d: y" % n for n in range(150))]
    bodies = [b"", b"hello", b"5\r\nhello\r\n0\r\n\r\n", b"ffffffffffffffff\r\n", b"0\r\n\r\nGET /hearth/v1/status HTTP/1.1\r\nHost: localhost\r\n\r\n",
              b'{"model":', b"[" * 5000, b'{"messages":[{"role":"user","content":"' + b"x" * 50000, bytes(range(256)), b'{"model":"/etc/passwd"}']
    versions = [b"HTTP/1.1", b"HTTP/1.0", b"HTTP/9.9", b"HTTP", b"", b"http/1.1"]
    endings = [b"\r\n", b"\n", b"\r", b"\r\n\x00"]
    for _ in range(count):
        end = endings[0] if chance.random() < 0.8 else chance.choice(endings)
        lines = [b" ".join([chance.choice(methods), chance.choice(paths), chance.choice(versions)])]
        if chance.random() < 0.7:
            lines.append(fields[0])
        lines += chance.sample(fields, chance.randint(0, 4))
        request = end.join(lines) + end + end + chance.choice(bodies)
        if chance.random() < 0.3:
            request = request[: chance.randint(0, len(request))]
        yield request, chance.random()


def hostile(server, count):
    served_secret = answered = closed = 0
    for request, way in hostile_requests(7, count):
        try:
            connection = server.connect(timeout=0.25)
            connection.sendall(request)
            if way < 0.2:
                # Leaves without reading, half of them with a reset.
                if way < 0.1:
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
                connection.close()
                continue
            if way < 0.6:
                connection.shutdown(socket.SHUT_WR)
            data = b""
            try:
                while len(data) < 1 << 20:
                    piece = connection.recv(65536)
                    if not piece:
                        closed += 1
                        break
                    data += piece
                    if data.endswith(b"\n") and way >= 0.6:
                        break
            except TimeoutError:
                pass
            connection.close()
            answered += bool(data)
            served_secret += b"root:" in data or b'"process"' in data
        except OSError:
            closed += 1
    report("hostile", server.is_well() and served_secret == 0,
           f"{count} requests: {answered} answered, {closed} closed, {served_secret} got what they should not")


def slow_headers(server, count):
    """Clients that send a byte now and then do not keep others from being served."""
    connections = [server.connect() for _ in range(count)]
    for connection in connections:
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: loc")
    good = sum(server.get("/health")[0] == 200 for _ in range(100))
    deadline, closed = time.monotonic() + 40, 0
    while connections and time.monotonic() < deadline:
        for connection in list(connections):
            try:
                connection.sendall(b"a")
                connection.settimeout(0.001)
                if not connection.recv(1):
                    raise ConnectionError
            except TimeoutError:
                continue
            except OSError:
                closed += 1
                connections.remove(connection)
        time.sleep(1)
    report("slow headers", good == 100 and closed == count, f"{good} of 100 served beside {count}; {closed} were cut off")


def held(server, count):
    """A client without a key that holds connections does not keep out others of its address."""
    connections = []
    for _ in range(count):
        connections.append(server.connect())
        connections[-1].sendall(b"GET /ready HTTP/1.1\r\nHost: localhost\r\nX: ")
    with open("/proc/%d/net/tcp" % server.process.pid) as table:
        port = ":%04X" % server.port
        open_now = sum(fields[1].endswith(port) and fields[3] == "01" for fields in map(str.split, table))
    begin = time.monotonic()
    good = sum(server.get("/ready")[0] == 200 for _ in range(20))
    seconds = time.monotonic() - begin
    for connection in connections:
        connection.close()
    report("held connections", good == 20 and seconds < 2 and open_now <= 80,
           f"{count} opened, {open_now} of them open; {good} of 20 others served in {seconds:.2f} s")


def restarts(program, count):
    """A service manager's socket: while the server restarts, connections wait and none is refused or cut."""
    home = tempfile.mkdtemp(prefix="hearth-load-")
    door = socket.create_server(("127.0.0.1", 0), backlog=512)
    port = door.getsockname()[1]
    environment = dict(os.environ, HEARTH_HOME=home, LISTEN_FDS="1")
    command = f"exec 3<&{door.fileno()}; LISTEN_PID=$$ exec \"$0\" serve --quiet"

    def start():
        return subprocess.Popen(["sh", "-c", command, program], env=environment, pass_fds=[door.fileno()],
                                stdout=subprocess.PIPE, text=True)

    results, stop = [], threading.Event()

    def client():
        while not stop.is_set():
            try:
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
                connection.request("GET", "/v1/models")
                results.append(connection.getresponse().status)
                connection.close()
            except (OSError, http.client.HTTPException) as error:
                results.append(repr(error))

    process = start()
    process.stdout.readline()
    threads = [threading.Thread(target=client) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(count):
        time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        process.wait(60)
        process = start()
        process.stdout.readline()
    time.sleep(0.5)
    stop.set()
    for thread in threads:
        thread.join()
    process.send_signal(signal.SIGTERM)
    process.wait(60)
    shutil.rmtree(home, ignore_errors=True)
    bad = [result for result in results if result != 200]
    report("restarts", results and not bad, f"{count} restarts, {len(results)} requests, {len(bad)} lost {bad[:3]}")


def answers(server, slow, vanishing):
    model = server.model()

    def whole(tokens=16, subject="sea"):
        connection = server.connect(timeout=300)
        connection.sendall(ask(model, tokens, f"Tell me about the {subject}."))
        return b"[DONE]" in rest_of(connection)

    # The engine's caches fill with the first answers.
    warm = [whole() for _ in range(4)]
    threads = [threading.Thread(target=whole, args=(64, f"number {index}")) for index in range(48)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    before = server.settled()
    connections, statuses = [], {}
    # One address has at most 64 connections without a key, and one key at most 64 requests at once.
    keys = [server.key() for _ in range(1 + slow // 50)]
    for index in range(slow):
        connection = server.connect(timeout=120, receive_buffer=4096)
        connection.sendall(ask(model, 24, f"Count to {index + 10}, one number a line.", key=keys[index % len(keys)]))
        connections.append(connection)
    for connection in connections:
        data = head_of(connection)
        status = data[9:12].decode() or "none"
        statuses[status] = statuses.get(status, 0) + 1
        # Reads slowly: a few bytes with pauses.
        for _ in range(3):
            try:
                connection.recv(16)
            except OSError:
                break
            time.sleep(0.01)
    for connection in connections:
        connection.close()
    gone = 0
    for index in range(vanishing):
        connection = server.connect(timeout=60)
        connection.sendall(ask(model, 4000, f"Write a long story about the number {index}."))
        if index % 2:
            head_of(connection)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
        connection.close()
        gone += 1
    deadline = time.monotonic() + 60
    running = None
    while time.monotonic() < deadline:
        running = server.running()
        if running <= 1:
            break
        time.sleep(0.2)
    waited = 60 - (deadline - time.monotonic())
    after = server.settled()
    limit = before * 1.05 + 16 * MIB
    report("slow and vanishing", all(warm) and after <= limit and running <= 1 and whole(),
           f"{slow} slow readers {statuses}, {gone} vanished; all ended after {waited:.1f} s; "
           f"{before / MIB:.1f} -> {after / MIB:.1f} MiB (limit {limit / MIB:.1f})")


class Origin:
    """An origin on this machine with a model `slow`, no byte of which is on this device."""

    def __init__(self, program, model):
        self.folder = tempfile.mkdtemp(prefix="hearth-load-")
        self.size = os.path.getsize(model)
        file = os.path.join(self.folder, "slow-v1.0.0-q4_1.gguf")
        with open(model, "rb") as source, open(file, "wb") as copy:
            copy.write(source.read(self.size // 8))
            copy.write(random.Random(1).randbytes(self.size - self.size // 8))
        origin = os.path.join(self.folder, "origin")
        publishing = dict(os.environ, HEARTH_HOME=os.path.join(self.folder, "home"))
        subprocess.run([program, "publish", file, "--to", origin], env=publishing, check=True, capture_output=True)
        self.log = os.path.join(self.folder, "host.log")
        self.process = subprocess.Popen([program, "host", origin, "--access-log"], env=publishing, stdout=subprocess.PIPE,
                                        stderr=open(self.log, "w"), text=True)
        self.address = self.process.stdout.readline().strip()

    def close(self):
        """Ends it, and returns the bytes it sent of the model, as a part of its size."""
        self.process.terminate()
        self.process.wait()
        words = [line.split() for line in open(self.log)]
        sent = sum(int(word[3]) for word in words if len(word) > 3 and word[0] == "GET" and word[1].startswith("/models/"))
        shutil.rmtree(self.folder, ignore_errors=True)
        return sent / self.size


def transfers(server):
    return json.loads(server.run("transfers", "list", "--format", "json"))


def watch_end(server, limit=60):
    """Waits until no transfer is left; returns the states that were seen, and whether the model is installed."""
    states, deadline = [], time.monotonic() + limit
    while time.monotonic() < deadline and (now := transfers(server)):
        states += [one["state"] for one in now]
        time.sleep(0.1)
    return states, "slow" in server.run("list")


def killed(program, model):
    """SIGKILL under load, with a download under way: the next start serves within a second and continues it."""
    origin = Origin(program, model)
    server = Server(program, model, variables={"HEARTH_ORIGIN": origin.address})
    served = server.model()
    pull = subprocess.Popen([program, "pull", "slow", "--limit-rate", str(origin.size // 12), "--no-probe"],
                            env=server.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    connections = []
    for index in range(8):
        connection = server.connect(timeout=30)
        connection.sendall(ask(served, 2000, f"Write a long story about the number {index}."))
        connections.append(connection)
    # Which of them are answered first is open; the others may wait longer than the download takes.
    begun = select.select(connections, [], [], 30)[0]
    is_loaded = any(head_of(connection).startswith(b"HTTP/1.1 200") for connection in begun)
    time.sleep(4)
    received = sum(one["receivedBytes"] for one in transfers(server))
    server.process.kill()
    server.process.wait()
    pull_end = pull.wait(20)
    begin = time.monotonic()
    server.start()
    ready = server.get("/ready")[0]
    seconds = time.monotonic() - begin
    states, is_installed = watch_end(server)
    server.stop()
    sent = origin.close()
    report("killed", is_loaded and ready == 200 and seconds <= 1 and pull_end == 75 and is_installed and received > origin.size // 10 and sent <= 1.2,
           f"serves again after {seconds * 1000:.0f} ms; the pull ended with {pull_end} and {received / MIB:.0f} MiB; the download "
           f"{'ended well' if is_installed else 'did not end'} ({sorted(set(states))}); the origin sent {sent:.2f} of the file")


def terminal(program, model):
    """The terminal of a pull is closed: the download ends well, and the list shows it all the time."""
    origin = Origin(program, model)
    server = Server(program, None, variables={"HEARTH_ORIGIN": origin.address})
    master, slave = pty.openpty()

    def own_terminal():
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        # As a shell leaves it, also where this script was begun by nohup.
        signal.signal(signal.SIGHUP, signal.SIG_DFL)

    pull = subprocess.Popen([program, "pull", "slow", "--limit-rate", str(origin.size // 6), "--no-probe"], env=server.environment,
                            stdin=slave, stdout=slave, stderr=slave, start_new_session=True, preexec_fn=own_terminal)
    os.close(slave)
    seen = b""
    while b"downloading" not in seen and len(seen) < 1 << 20:
        seen += os.read(master, 4096)
    os.close(master)
    end = pull.wait(20)
    states, is_installed = watch_end(server)
    server.stop()
    sent = origin.close()
    report("terminal", is_installed and len(states) > 10 and set(states) <= {"running", "finished"} and sent <= 1.1,
           f"the command ended with {end}; the download {'ended well' if is_installed else 'did not end'}, "
           f"listed {len(states)} times as {sorted(set(states))}; the origin sent {sent:.2f} of the file")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--model")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--stages", default="idle,hostile,slow,answers,restarts,killed,terminal", help="which, separated by commas")
    options = parser.parse_args()
    stages = set(options.stages.split(","))
    part = 10 if options.quick else 1
    program, model = os.path.abspath(options.program), options.model and os.path.abspath(options.model)
    if stages & {"idle", "hostile", "slow", "answers"}:
        server = Server(program, model)
        try:
            if "idle" in stages:
                idle(server, 1000 // part)
            if "hostile" in stages:
                hostile(server, 2000 // part)
            if "slow" in stages:
                slow_headers(server, 100 // part)
                held(server, 600 // part)
            if model and "answers" in stages:
                answers(server, 200 // part, 50 // part)
        finally:
            status = server.stop()
        report("end", status == 0, f"SIGTERM: status {status}")
    if "restarts" in stages:
        restarts(program, 10 // (5 if options.quick else 1))
    if model and "killed" in stages:
        killed(program, model)
    if model and "terminal" in stages:
        terminal(program, model)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
