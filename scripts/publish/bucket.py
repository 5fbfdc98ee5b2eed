"""An S3 server of other people with a bucket, and a public address of it, for scripts that publish. Needs scripts/requirements/s3.txt."""
import http.client
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

KEY, SECRET = "HEARTHKEY", "hearth/secret+key"
PREFIX = "origin"


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def wait_for(port):
    for _ in range(300):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.1)
    sys.exit(f"bucket.py: nothing listens on port {port}")


def signed(method, url, headers=()):
    request = AWSRequest(method, url, dict(headers))
    S3SigV4Auth(Credentials(KEY, SECRET), "s3", "us-east-1").add_auth(request)
    return dict(request.headers.items())


class Server:
    """An S3 server with a bucket named models, and the address at which it is read without a key."""

    def __init__(self, kind, folder):
        self.kind, self.port = kind, free_port()
        self.log = open(os.path.join(folder, f"{kind}.log"), "wb")
        self.endpoint = f"http://127.0.0.1:{self.port}"
        if kind == "rclone":
            os.makedirs(os.path.join(folder, "rclone", "models"))
            program = shutil.which("rclone")
            # Without a cache each request is on the disk when it is answered. With one, a catalog that was overwritten is
            # announced with its new length, and for seconds sent with the bytes of the old one.
            # Folders are forgotten after 50 ms: with 0 a timer of rclone fires all the time, and takes the processor.
            words = [program, "serve", "s3", "--addr", f"127.0.0.1:{self.port}", "--auth-key", f"{KEY},{SECRET}",
                     "--vfs-cache-mode", "off", "--dir-cache-time", "50ms",
                     os.path.join(folder, "rclone")]
        else:
            words = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(self.port)]
        environment = dict(os.environ, RCLONE_CONFIG=os.path.join(folder, "none.conf"), MOTO_S3_CUSTOM_ENDPOINTS="")
        self.process = subprocess.Popen(words, stdout=self.log, stderr=self.log, env=environment)
        wait_for(self.port)
        if kind == "moto":
            url = f"{self.endpoint}/models"
            urllib.request.urlopen(urllib.request.Request(url, method="PUT", headers=signed("PUT", url))).close()
        self.public = f"http://127.0.0.1:{self.front()}/models/{PREFIX}"

    def front(self):
        """A server that reads the bucket for people without a key, as a content delivery network does."""
        endpoint = self.endpoint

        class Front(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                given = {"Range": self.headers["Range"]} if self.headers["Range"] else {}
                connection = http.client.HTTPConnection(endpoint.split("//")[1], timeout=60)
                connection.request(self.command, self.path, headers=signed(self.command, endpoint + self.path, given))
                answer = connection.getresponse()
                # rclone answers ranges with 200; a delivery network does not.
                self.send_response(206 if answer.status == 200 and answer.headers["Content-Range"] else answer.status)
                for name in ["Content-Length", "Content-Range", "Cache-Control", "Content-Type", "ETag"]:
                    if answer.headers[name]:
                        self.send_header(name, answer.headers[name])
                if not answer.headers["Content-Length"]:
                    self.send_header("Connection", "close")
                    self.close_connection = True
                self.end_headers()
                if self.command == "GET":
                    shutil.copyfileobj(answer, self.wfile)
                connection.close()

            do_HEAD = do_GET

            def log_message(self, *words):
                pass

        class Quiet(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, request, address):
                """Clients that are killed in the middle of an answer are part of the test."""

        server = Quiet(("127.0.0.1", 0), Front)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return server.server_address[1]

    def settle(self):
        """Waits until the server has ended the requests of a publisher that was killed.

        rclone writes to files in place: a request that is still under way would write into the next publisher's files.
        """
        if self.kind != "rclone":
            return
        for _ in range(600):
            with open("/proc/net/tcp", encoding="ascii") as table:
                rows = [line.split() for line in table]
            # Column 1 is the local address, 3 the state: 08 is a connection that only the other side has closed.
            if not any(row[1].endswith(f":{self.port:04X}") and row[3] == "08" for row in rows):
                return
            time.sleep(0.01)

    def stop(self):
        self.process.terminate()
        self.process.wait()
