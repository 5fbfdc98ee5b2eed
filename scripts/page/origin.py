"""A slow static server with ranges: an origin whose downloads last long enough to be paused and cut."""
import os
import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.do_GET(with_body=False)

    def do_GET(self, with_body=True):
        name = os.path.normpath(os.path.join(self.server.folder, self.path.split("?")[0].lstrip("/")))
        if not name.startswith(self.server.folder) or not os.path.isfile(name):
            self.send_response(404)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        size = os.path.getsize(name)
        found = re.match(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        first, last = (int(found[1]), int(found[2] or size - 1)) if found else (0, size - 1)
        self.send_response(206 if found else 200)
        if found:
            self.send_header("Content-Range", f"bytes {first}-{last}/{size}")
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("ETag", f'"{size}-{os.stat(name).st_mtime_ns}"')
        self.send_header("Content-Length", str(last - first + 1))
        self.end_headers()
        if not with_body:
            return
        try:
            with open(name, "rb") as file:
                file.seek(first)
                left = last - first + 1
                while left > 0:
                    piece = file.read(min(left, 256 * 1024))
                    self.wfile.write(piece)
                    left -= len(piece)
                    if self.server.rate:
                        time.sleep(len(piece) / self.server.rate)
        except ConnectionError:
            pass


def start(folder, rate):
    """Serves a folder on loopback with `rate` bytes a second for each connection, 0 for no limit."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    # Clients leave in the middle, which is no error here.
    server.handle_error = lambda *_: None
    server.folder, server.rate = os.path.abspath(folder), rate
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
