#!/usr/bin/env python3
"""A stand-in for a model hub on loopback: every repository that is asked for holds one small model.

    scripts/documents/hub.py MODEL.gguf [PORT]     prints its address; MODEL.gguf is what each repository's file holds

It answers what the hub client of Hearth asks: facts and files of a repository, file contents with ranges, and the search for a word.
"""
import functools
import hashlib
import http.server
import json
import os
import re
import sys
import urllib.parse

COMMIT = "5d3ad50e0e5c3b5d1c4b2a7f6e9d8c7b6a594837"
FOUND = [("bartowski/SmolLM2-135M-Instruct-GGUF", 41874, 34), ("unsloth/SmolLM2-135M-Instruct-GGUF", 3120, 11)]
# The file of a repository, by the quantization that the model in question is known for.
QUANTIZATION = "Q4_K_M"


class Model:
    def __init__(self, path):
        self.path, self.size = path, os.path.getsize(path)
        with open(path, "rb") as file:
            self.sha256 = hashlib.file_digest(file, "sha256").hexdigest() if hasattr(hashlib, "file_digest") else hashlib.sha256(file.read()).hexdigest()

    def name(self, repository):
        return f"{re.sub(r'-gguf$', '', repository.split('/')[1], flags=re.I)}-{QUANTIZATION}.gguf"

    def entry(self, repository):
        pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{self.sha256}\nsize {self.size}\n".encode()
        oid = hashlib.sha1(b"blob %d\0" % len(pointer) + pointer).hexdigest()
        return {"type": "file", "path": self.name(repository), "size": self.size, "oid": oid,
                "lfs": {"oid": self.sha256, "size": self.size, "pointerSize": len(pointer)}}

    def facts(self, repository, downloads=1, likes=0):
        entry = self.entry(repository)
        return {"_id": "621ffdc036468d709f17434d", "id": repository, "modelId": repository, "sha": COMMIT, "author": repository.split("/")[0],
                "private": False, "gated": False, "disabled": False, "downloads": downloads, "likes": likes, "pipeline_tag": "text-generation",
                "tags": ["gguf", "license:apache-2.0", "text-generation"], "lastModified": "2026-11-21T00:00:00.000Z",
                "createdAt": "2026-11-20T00:00:00.000Z", "cardData": {"license": "apache-2.0"},
                "gguf": {"total": 134515008, "architecture": "llama", "context_length": 8192},
                "siblings": [{"rfilename": entry["path"], "size": entry["size"], "lfs": {"sha256": self.sha256, "size": self.size}}]}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, model, *arguments):
        self.model = model
        super().__init__(*arguments)

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.answer()

    def do_GET(self):
        self.answer()

    def answer(self):
        url = urllib.parse.urlsplit(self.path)
        names = [urllib.parse.unquote(name) for name in url.path.split("/") if name]
        query = urllib.parse.parse_qs(url.query)
        if names == ["api", "models"]:
            words = query.get("search", [""])[0].lower().split()
            return self.json([self.model.facts(*row) for row in FOUND if all(word in row[0].lower() for word in words)])
        if names[:2] == ["api", "models"] and len(names) >= 4:
            repository = "/".join(names[2:4])
            if names[4:5] == ["tree"]:
                return self.json([self.model.entry(repository)])
            if names[4:5] in ([], ["revision"]):
                return self.json(self.model.facts(repository))
        if len(names) == 5 and names[2] == "resolve" and names[4] == self.model.name("/".join(names[:2])):
            return self.file()
        self.reply(404, b'{"error":"Not found"}', {"X-Error-Code": "EntryNotFound"})

    def json(self, value):
        self.reply(200, json.dumps(value).encode(), {"Content-Type": "application/json"})

    def reply(self, status, body, headers):
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def file(self):
        span = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        first, last = (int(span[1]), int(span[2] or self.model.size - 1)) if span else (0, self.model.size - 1)
        last = min(last, self.model.size - 1)
        self.send_response(206 if span else 200)
        if span:
            self.send_header("Content-Range", f"bytes {first}-{last}/{self.model.size}")
        for name, value in {"Content-Length": last - first + 1, "ETag": f'"{self.model.sha256}"', "X-Linked-ETag": f'"{self.model.sha256}"',
                            "X-Linked-Size": self.model.size, "X-Repo-Commit": COMMIT, "Accept-Ranges": "bytes"}.items():
            self.send_header(name, str(value))
        self.end_headers()
        if self.command == "HEAD":
            return
        with open(self.model.path, "rb") as file:
            file.seek(first)
            left = last - first + 1
            while left > 0 and (piece := file.read(min(left, 1 << 20))):
                self.wfile.write(piece)
                left -= len(piece)


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, request, address):
        """A client that leaves mid-way is not reported."""


if __name__ == "__main__":
    server = Server(("127.0.0.1", int(sys.argv[2]) if len(sys.argv) > 2 else 0), functools.partial(Handler, Model(sys.argv[1])))
    print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
    server.serve_forever()
