"""A cloud of OpenAI's kind on this machine: it says what it is, keeps what it was sent, and fails when it should."""
import json
import os
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, status, value):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        self.reply(200, {"object": "list", "data": [{"id": "walk-cloud", "object": "model"}]})

    def do_POST(self):
        cloud = self.server.cloud
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
        cloud.bodies.append(body)
        if cloud.fails > 0:
            cloud.fails -= 1
            return self.reply(500, {"error": {"message": "the cloud is on fire", "type": "server_error", "code": None}})
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for index, word in enumerate(cloud.text.split(" ")):
            piece = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "walk-cloud",
                     "choices": [{"index": 0, "delta": {"content": (" " if index else "") + word}, "finish_reason": None}]}
            self.wfile.write(f"data: {json.dumps(piece)}\n\n".encode())
            self.wfile.flush()
            time.sleep(cloud.pause)
            if cloud.cuts_after and index + 1 == cloud.cuts_after:
                cloud.cuts_after = 0
                self.close_connection = True
                return self.connection.shutdown(2)
        last = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "walk-cloud",
                "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 7, "completion_tokens": 9, "total_tokens": 16}}
        self.wfile.write(f"data: {json.dumps(last)}\n\ndata: [DONE]\n\n".encode())
        self.wfile.flush()
        self.close_connection = True


class Cloud:
    """`fails` requests are refused, an answer is cut after `cuts_after` words; `bodies` are the requests."""

    def __init__(self, text="Here is the cloud speaking to you, in a calm voice."):
        self.text, self.pause, self.fails, self.cuts_after, self.bodies = text, 0.02, 0, 0, []
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
        self.server.daemon_threads, self.server.cloud = True, self
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        descriptor, self.key = tempfile.mkstemp(prefix="hearth-walk-key-")
        os.write(descriptor, b"walk-key\n")
        os.close(descriptor)
        os.chmod(self.key, 0o600)
        self.variables = {}

    def settings(self):
        return {"cloud.kind": "openai", "cloud.url": f"http://127.0.0.1:{self.server.server_address[1]}/v1", "cloud.model": "walk-cloud", "cloud.keyFile": self.key}

    def end(self):
        self.server.shutdown()
        os.remove(self.key)
