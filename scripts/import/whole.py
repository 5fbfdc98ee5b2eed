#!/usr/bin/env python3
"""Takes the small models the whole way: pulled from a stand-in for a model hub, prepared, probed, activated, and asked in a chat.

    scripts/import/whole.py HEARTH MODELS [FORM]

MODELS has the models of models.py, which have learnt answers to its questions. Exit status 1 if a model fails or answers otherwise.
"""

import functools
import hashlib
import http.server
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import urllib.parse

from lessons import LESSONS

COMMIT = "7c1f0f2a9b7d4ad4b6c1d2e3f405162738495a6b"


def entry(path, name):
    with open(path, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    size = os.path.getsize(path)
    found = {"type": "file", "path": name, "size": size, "oid": hashlib.sha1(digest.encode()).hexdigest()}
    if name.endswith(".safetensors"):
        found["lfs"] = {"oid": digest, "size": size, "pointerSize": 132}
    else:
        with open(path, "rb") as file:
            data = file.read()
        found["oid"] = hashlib.sha1(b"blob %d\0" % size + data).hexdigest()
    return found


class Hub(http.server.BaseHTTPRequestHandler):
    """Facts, files and ranges of one repository for each folder."""

    protocol_version = "HTTP/1.1"

    def __init__(self, folder, *arguments):
        self.folder = folder
        super().__init__(*arguments)

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        names = [urllib.parse.unquote(name) for name in urllib.parse.urlsplit(self.path).path.split("/") if name]
        isFacts = names[:2] == ["api", "models"]
        name = (names[3:4] if isFacts else names[1:2] or [""])[0]
        place = os.path.join(self.folder, os.path.basename(name))
        if not os.path.isdir(place):
            return self.reply(404, b"{}")
        if isFacts:
            files = [entry(os.path.join(place, file), file) for file in sorted(os.listdir(place))]
            facts = {"id": f"tiny/{name}", "sha": COMMIT, "gated": False, "tags": ["mlx"], "library_name": "mlx",
                     "siblings": [{"rfilename": file["path"], "size": file["size"]} for file in files]}
            return self.reply(200, json.dumps(files if names[4:5] == ["tree"] else facts).encode())
        file = os.path.join(place, os.path.basename(names[-1]))
        if not os.path.isfile(file):
            return self.reply(404, b"{}")
        with open(file, "rb") as opened:
            data = opened.read()
        facts = entry(file, names[-1])
        headers = {"ETag": f'"{facts.get("lfs", facts)["oid"]}"', "X-Repo-Commit": COMMIT, "Accept-Ranges": "bytes"}
        span = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if not span:
            return self.reply(200, data, headers)
        first, last = int(span[1]), min(int(span[2] or len(data) - 1), len(data) - 1)
        self.reply(206, data[first:last + 1], {**headers, "Content-Range": f"bytes {first}-{last}/{len(data)}"})

    def reply(self, status, body, headers={}):
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


def whole_way(hearth, name, environment):
    """What went wrong, or nothing."""
    run = functools.partial(subprocess.run, env=environment, capture_output=True, text=True, timeout=300)
    pulled = run([hearth, "pull", f"hf:tiny/{name}", "--quiet"])
    if pulled.returncode != 0:
        return f"pull: {pulled.returncode} {pulled.stderr.strip()}"
    installed = json.loads(run([hearth, "list", "--format", "json"]).stdout)
    models = installed["models"] if isinstance(installed, dict) else installed
    live = [model for model in models if name in model["family"]]
    if [model["format"] for model in live] not in (["mlx"], ["safetensors"]):
        return f"list: {live}"
    for question, answer in LESSONS:
        said = run([hearth, "chat", live[0]["family"], question, "--quiet", "--temperature", "0"])
        if said.returncode != 0 or said.stdout.strip() != answer:
            return f"chat: {said.returncode} {said.stdout.strip()!r} for {answer!r} {said.stderr.strip()}"
    return ""


def main(hearth, models, form="4bit"):
    names = [name for name in sorted(os.listdir(models)) if name.endswith(f"-{form}")]
    hub = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Hub, models))
    threading.Thread(target=hub.serve_forever, daemon=True).start()
    failed = 0
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "HEARTH_HOME": home, "HEARTH_ORIGIN": "", "NO_PROXY": "*",
                       "HF_ENDPOINT": f"http://127.0.0.1:{hub.server_address[1]}"}
        for name in names:
            fault = whole_way(hearth, name, environment)
            failed += bool(fault)
            print(f"{name}: {fault or 'pulled, prepared, probed and asked'}", flush=True)
    print(f"the whole way: {len(names) - failed} of {len(names)}", flush=True)
    sys.exit(1 if failed or not names else 0)


main(*sys.argv[1:])
