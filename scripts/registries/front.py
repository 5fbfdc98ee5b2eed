"""A front before a registry: tokens that end, and blobs that are redirected to another host, as large registries have it.

    front = Front(registry_port, tokens=True, redirects=True)
    front.address        host:port of the registry that clients see
"""
import base64
import http.client
import json
import socketserver
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

USER, PASSWORD = "user", "pass word"
BASIC = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
HOPS = {"connection", "transfer-encoding", "keep-alive", "host", "content-length"}


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        """A killed client breaks its connections."""


class Front:
    def __init__(self, registry, tokens=True, redirects=True, rate=None, uses=None):
        """`rate`: the bytes of blobs a second, over all connections. `uses`: the requests after which a token ends."""
        self.registry, self.has_tokens, self.redirects, self.uses = registry, tokens, redirects, uses
        self.rate, self.lock, self.next = rate, threading.Lock(), 0.0
        self.token, self.used = 0, 0
        self.given, self.refused, self.blob_bytes, self.leaks = 0, 0, 0, 0
        self.servers = [Server(("127.0.0.1", 0), self.handler(kind)) for kind in ("api", "token", "storage")]
        for server in self.servers:
            threading.Thread(target=server.serve_forever, daemon=True).start()
        self.api, self.tokens, self.storage = (server.server_address[1] for server in self.servers)
        self.address = f"127.0.0.1:{self.api}"

    def stop(self):
        for server in self.servers:
            server.shutdown()
            server.server_close()

    def pause(self, count):
        """Lets so many bytes pass, and keeps the rate."""
        with self.lock:
            self.blob_bytes += count
            if not self.rate:
                return
            now = time.monotonic()
            self.next = max(self.next, now) + count / self.rate
            wait = self.next - now
        if wait > 0:
            time.sleep(wait)

    def accepts(self, authorization):
        """Whether a request has the present token. A token ends after some uses, in mid-transfer too."""
        with self.lock:
            if authorization != f"Bearer token-{self.token}":
                self.refused += 1
                return False
            self.used += 1
            if self.uses and self.used >= self.uses:
                self.token, self.used = self.token + 1, 0
            return True

    def handler(front, kind):
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def answer(self, status, headers=(), body=b""):
                self.send_response(status)
                for name, value in headers:
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(body)

            def do(self):
                getattr(self, "on_" + kind)()

            do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do

            def on_token(self):
                length = int(self.headers.get("Content-Length") or 0)
                self.rfile.read(length)
                if self.headers.get("Authorization") != BASIC:
                    return self.answer(401)
                with front.lock:
                    front.given += 1
                    token = f"token-{front.token}"
                self.answer(200, [("Content-Type", "application/json")], json.dumps({"token": token}).encode())

            def on_api(self):
                if front.has_tokens and not front.accepts(self.headers.get("Authorization")):
                    self.rfile.read(int(self.headers.get("Content-Length") or 0))
                    realm = f'Bearer realm="http://127.0.0.1:{front.tokens}/token",service="front"'
                    names = self.path.split("/")
                    if len(names) > 4:
                        name = self.path[4:].rsplit("/blobs/", 1)[0].rsplit("/manifests/", 1)[0]
                        realm += f',scope="repository:{name}:pull,push"'
                    return self.answer(
                        401, [("WWW-Authenticate", realm)], b'{"errors": [{"code": "UNAUTHORIZED"}]}')
                is_blob = "/blobs/sha256:" in self.path and self.command in ("GET", "HEAD")
                if is_blob and front.redirects and self.command == "GET":
                    return self.answer(307, [("Location", f"http://localhost:{front.storage}{self.path}")])
                self.forward()

            def on_storage(self):
                if self.headers.get("Authorization"):
                    with front.lock:
                        front.leaks += 1
                    return self.answer(400)
                self.forward()

            def forward(self):
                length = int(self.headers.get("Content-Length") or 0)
                if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
                    body = b""
                    while size := int(self.rfile.readline().split(b";")[0], 16):
                        body += self.rfile.read(size)
                        self.rfile.readline()
                    self.rfile.readline()
                else:
                    body = self.rfile.read(length) if length else None
                upstream = http.client.HTTPConnection("127.0.0.1", front.registry, timeout=60)
                headers = {}
                for name, value in self.headers.items():
                    if name.lower() not in HOPS | {"authorization"}:
                        headers[name] = f"{headers[name]}, {value}" if name in headers else value
                # The registry writes the addresses of uploads with this name.
                headers["Host"] = front.address
                try:
                    upstream.request(self.command, self.path, body, headers)
                    reply = upstream.getresponse()
                    self.send_response(reply.status)
                    for name, value in reply.getheaders():
                        if name.lower() not in HOPS - {"content-length"}:
                            self.send_header(name, value)
                    self.end_headers()
                    is_blob = "/blobs/sha256:" in self.path
                    while self.command != "HEAD" and (piece := reply.read(64 << 10)):
                        if is_blob:
                            front.pause(len(piece))
                        self.wfile.write(piece)
                finally:
                    upstream.close()

        return Handler
