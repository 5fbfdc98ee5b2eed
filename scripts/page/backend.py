"""A scripted server of the native API for the page's tests: files of the page, event stream with resumption, and a
`World` with models, conversations and records. Tests run it in their own process and steer the world directly."""
import gzip
import json
import mimetypes
import os
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from world import Refusal, World

HERE = os.path.dirname(os.path.abspath(__file__))
PAGE = os.path.normpath(os.path.join(HERE, "../../Sources/CPage/page"))
# The libraries as Debian's packages unpack them; scripts/page/run.sh does that.
LIBRARIES = {
    "marked.js": "usr/share/nodejs/marked/lib/marked.esm.js",
    "purify.js": "usr/share/nodejs/dompurify/dist/purify.es.js",
    "highlight.js": "usr/share/javascript/highlight.js/highlight.min.js",
    "katex.js": "usr/share/javascript/katex/katex.js",
}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
    "connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types dompurify hearth"
)
mimetypes.add_type("text/javascript", ".js")
mimetypes.add_type("application/manifest+json", ".webmanifest")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def handle(self):
        try:
            super().handle()
        except (ConnectionError, BrokenPipeError):
            pass

    def do_GET(self):
        path, _, query = self.path.partition("?")
        self.server.requests.append(self.path)
        if path == "/hearth/v1/events":
            return self.events(urllib.parse.parse_qs(query))
        if path.startswith("/hearth/v1"):
            return self.call("GET", path, query)
        return self.file(path)

    def do_POST(self):
        self.change("POST")

    def do_PUT(self):
        self.change("PUT")

    def do_PATCH(self):
        self.change("PATCH")

    def do_DELETE(self):
        self.change("DELETE")

    def change(self, method):
        path, _, query = self.path.partition("?")
        self.call(method, path, query)

    def call(self, method, path, query):
        length = int(self.headers.get("Content-Length") or 0)
        if path.endswith("/documents") and self.server.world.cuts_uploads:
            self.rfile.read(min(length, 1000))
            self.close_connection = True
            return self.connection.close()
        raw = self.rfile.read(length) if length else b""
        parts = [urllib.parse.unquote(part) for part in path.removeprefix("/hearth/v1/").split("/")]
        try:
            is_json = self.headers.get("Content-Type", "").startswith("application/json") and "import" not in parts
            body = json.loads(raw) if raw and is_json else raw
            values = {name: texts[0] for name, texts in urllib.parse.parse_qs(query).items()}
            with self.server.world.lock:
                status, reply = self.server.world.call(method, parts, body, values)
                reply = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
            if method != "GET":
                time.sleep(self.server.world.reply_delay)
        except Refusal as refusal:
            status, reply = refusal.status, json.dumps({"error": refusal.error}).encode()
        if "documents" in parts and parts[-1].isdigit() and status == 200:
            return self.send(status, reply, "text/plain; charset=utf-8")
        return self.send(status, reply, "image/png" if "pictures" in parts and method == "GET" else "application/json")

    def file(self, path):
        if path == "/":
            name = os.path.join(PAGE, "index.html")
        elif path.startswith("/page/lib/") and path[10:] in LIBRARIES:
            name = os.path.join(self.server.libraries, LIBRARIES[path[10:]])
        else:
            name = os.path.normpath(os.path.join(PAGE, path.removeprefix("/page/")))
        if not (name.startswith(PAGE) or name.startswith(self.server.libraries)) or not os.path.isfile(name):
            return self.send(404, b"", "text/plain")
        kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
        if name not in self.server.compressed:
            with open(name, "rb") as file:
                self.server.compressed[name] = gzip.compress(file.read())
        return self.send(200, self.server.compressed[name], kind, {"Content-Encoding": "gzip"})

    def send(self, status, data, kind, headers=None):
        self.server.sent += len(data)
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Cache-Control", "no-cache")
        self.send_header("Content-Security-Policy", POLICY)
        self.send_header("X-Content-Type-Options", "nosniff")
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def events(self, query):
        world = self.server.world
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-store")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        after = self.headers.get("Last-Event-ID") or query.get("after", [None])[0]
        with self.server.streams_lock:
            self.server.streams.append(self.connection)
        epoch, _, number = (after or "").rpartition("-")
        position = world.number
        if epoch == world.epoch:
            position = int(number)
        elif after:
            self.wfile.write(f"id: {world.epoch}-{position}\nevent: reset\ndata: {{\"reason\":\"restarted\"}}\n\n".encode())
        while not self.server.ending:
            for number, name, data in world.wait_after(position):
                self.wfile.write(f"id: {world.epoch}-{number}\nevent: {name}\ndata: {data}\n\n".encode())
                position = number
            self.wfile.flush()


class Backend:
    """The server on a free port of loopback: `start`, `stop`, `cut_streams`, `restart` as a killed process would."""

    def __init__(self, libraries, port=0):
        self.libraries, self.port = os.path.abspath(libraries), port
        self.world = World()
        self.server = None

    def start(self):
        self.server = ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self.server.daemon_threads = True
        self.server.world, self.server.libraries = self.world, self.libraries
        self.server.compressed, self.server.requests, self.server.sent = {}, [], 0
        self.server.streams, self.server.streams_lock, self.server.ending = [], threading.Lock(), False
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    @property
    def address(self):
        return f"http://127.0.0.1:{self.port}"

    def cut_streams(self):
        """Cuts all event streams, as a lost connection does."""
        with self.server.streams_lock:
            streams, self.server.streams = self.server.streams, []
        for stream in streams:
            try:
                stream.shutdown(2)
            except OSError:
                pass

    def stop(self):
        self.server.ending = True
        self.cut_streams()
        self.server.shutdown()
        self.server.server_close()

    def restart(self):
        """Starts again with what was kept: a new epoch, unfinished answers interrupted, downloads not running."""
        self.world.restarted()
        return self.start()


if __name__ == "__main__":
    import sys

    backend = Backend(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 8765).start()
    print(backend.address, flush=True)
    while True:
        time.sleep(3600)
