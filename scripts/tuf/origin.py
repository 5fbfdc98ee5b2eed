"""What the scripts of this folder share: a web server that can misbehave, and calls of the program."""
import functools
import http.server
import os
import struct
import subprocess
import threading
import time

HEARTH = os.environ["HEARTH_BINARY"]


def gguf(payload):
    """A file that is accepted as a model: a header of GGUF 3 without tensors, and some bytes."""

    def text(value):
        data = value.encode()
        return struct.pack("<Q", len(data)) + data

    header = b"GGUF" + struct.pack("<IQQ", 3, 0, 1)
    return header + text("general.architecture") + struct.pack("<I", 8) + text("llama") + payload


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves a folder; `server.answers` replaces the answers of paths."""

    def do_GET(self):
        answer = self.server.answers.get(self.path)
        if answer is None:
            return super().do_GET()
        if answer == "missing":
            return self.send_error(404)
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        try:
            if isinstance(answer, bytes):
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)
            elif answer == "endless":
                self.end_headers()
                while True:
                    self.wfile.write(b" " * 65536)
            elif answer == "slow":
                self.end_headers()
                for _ in range(600):
                    self.wfile.write(b" ")
                    time.sleep(0.5)
        except OSError:
            pass

    def log_message(self, *_):
        pass


class Server:
    """A server of a folder on this machine, in a thread."""

    def __init__(self, folder):
        handler = functools.partial(Handler, directory=folder)
        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.http.daemon_threads = True
        self.http.answers = {}
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    @property
    def answers(self):
        return self.http.answers


def hearth(*words, home=None, status=0):
    """Runs the program; a status of `None` accepts any."""
    environment = dict(os.environ)
    if home:
        environment["HEARTH_HOME"] = home
    done = subprocess.run([HEARTH, *words], capture_output=True, text=True, env=environment, stdin=subprocess.DEVNULL)
    if status is not None and done.returncode != status:
        raise SystemExit(f"hearth {' '.join(words)}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def publish(folder, name, payload, *words):
    """Publishes a model of a few bytes."""
    source = os.path.join(folder + ".sources", name)
    os.makedirs(os.path.dirname(source), exist_ok=True)
    with open(source, "wb") as file:
        file.write(gguf(payload))
    return hearth("publish", source, "--to", folder, *words)


def contents(*parts):
    with open(os.path.join(*parts), "rb") as file:
        return file.read()
