#!/usr/bin/env python3
"""escalation.py HEARTH MODEL PAGE: `hearth classify --decode --cloud` against the stand-in for Anthropic that Anthropic's own client has
accepted (scripts/cloud): pictures arrive as they were cut, each request costs one credit, and a cut connection loses no character.
Exit status 1 if something is not so."""
import base64
import collections
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from http.server import ThreadingHTTPServer

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../cloud"))
import stand_in

CREDITS = 500
ANSWER = "國"
taken = []
failed = 0


class Recorded(stand_in.Conversation):
    """Keeps the pictures, and answers each with one character; the connection of every fifth request is cut after it."""

    number = 0

    def picture(self, media, data):
        super().picture(media, data)
        taken.append((media, base64.b64decode(data)))
        self.number = len(taken)

    @property
    def text(self):
        return "cut" if self.number and self.number % 5 == 0 else self.words

    @text.setter
    def text(self, words):
        self.words = words

    @property
    def answer(self):
        return [ANSWER]


class Dead(stand_in.Stream):
    """Is well, and closes the connection of each request without an answer."""

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.cut()


def check(name, is_so, found=""):
    global failed
    failed += not is_so
    print(f"{'ok  ' if is_so else 'FAIL'} {name}" + ("" if is_so else f": {found}"), flush=True)


class Device:
    """A home whose cloud is the stand-in, with a classifier that is rarely sure."""

    def __init__(self, hearth, model, folder, handler):
        self.hearth, self.folder = hearth, folder
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.environment = {**os.environ, "HEARTH_HOME": folder + "/home", "ANTHROPIC_API_KEY": stand_in.KEY, "NO_PROXY": "*"}
        release = folder + "/release"
        shutil.copytree(os.path.dirname(os.path.abspath(model)), release)
        with open(release + "/classifier.json", encoding="utf-8") as file:
            settings = json.load(file)
        settings["thresholds"] = {"green": 0.9995, "yellow": 0.999}
        with open(release + "/classifier.json", "w", encoding="utf-8") as file:
            json.dump(settings, file)
        self.model = release + "/model.onnx"
        address = f"http://127.0.0.1:{self.server.server_address[1]}"
        for key, value in (("cloud.kind", "anthropic"), ("cloud.url", address), ("cloud.model", "stand-in"), ("entitlement.tier", "starter"),
                           ("entitlement.credits", str(CREDITS))):
            self.run("config", "set", key, value)

    def run(self, *words):
        done = subprocess.run([self.hearth, *words], env=self.environment, capture_output=True, text=True, timeout=300)
        if done.returncode != 0:
            sys.exit(f"{' '.join(words)}: {done.stderr.strip()}")
        return done.stdout

    def decode(self, page, *words):
        output = self.run("classify", "--model", self.model, "--decode", "--cloud", "--format", "json", *words, page)
        return [event for event in map(json.loads, output.splitlines()) if event["event"] == "character"]

    @property
    def credits(self):
        return json.loads(self.run("route", "--format", "json"))["creditsLeft"]


def places(characters):
    return [character["box"] for character in characters]


def main():
    hearth, model, page = sys.argv[1:]
    stand_in.Conversation = Recorded
    with tempfile.TemporaryDirectory() as folder:
        device = Device(hearth, model, folder, stand_in.Stream)
        local = [json.loads(line) for line in device.run("classify", "--model", device.model, "--decode", "--format", "json", page).splitlines()]
        local = [event for event in local if event["event"] == "character"]
        check("without --cloud nothing is sent", not taken, len(taken))
        unsure = [character for character in local if character["verdict"] == "unverified"]
        check("the page has characters to ask about", len(unsure) > 20, len(unsure))

        characters = device.decode(page, "--cloud-limit", "20")
        reasons = collections.Counter(character["reason"] for character in characters if character["verdict"] in ("verified", "unverified"))
        check("no character is lost", places(characters) == places(local), len(characters))
        check("one request for each picture, and no more than allowed", len(taken) == 20, len(taken))
        check("every fifth was cut, the rest answered", reasons == {"asked-cloud": 16, "answer-interrupted": 4, "request-limit": len(unsure) - 20}, reasons)
        check("an answer of the cloud counts", all(c["text"] == ANSWER and c["source"] == "cloud" for c in characters if c["reason"] == "asked-cloud"))
        check("after a cut the answer of this device stays",
              all(ours["text"] == other["text"] and ours["source"] == "device" for ours, other in zip(characters, local) if ours["reason"] == "answer-interrupted"))
        check("each request costs a credit", device.credits == CREDITS - 20, device.credits)

        # What arrived is classified again: a pixel more or less would give other confidences.
        files = []
        check("pictures are PNG files", {media for media, _ in taken} == {"image/png"})
        for number, (_, data) in enumerate(taken):
            files.append(f"{folder}/{number}.png")
            with open(files[-1], "wb") as file:
                file.write(data)
        again = [json.loads(line)["candidates"][0] for line in device.run("classify", "--model", device.model, "--format", "json", *files).splitlines()]
        sent = [character["candidates"][0] for character in characters if character["reason"] in ("asked-cloud", "answer-interrupted")]
        order = lambda all: sorted((one["label"], round(one["confidence"], 5)) for one in all)
        check("pictures arrive as they were cut", order(again) == order(sent), (order(again)[:3], order(sent)[:3]))

    with tempfile.TemporaryDirectory() as folder:
        device = Device(hearth, model, folder, Dead)
        characters = device.decode(page)
        check("a cloud that never answers loses no character", places(characters) == places(local), len(characters))
        reasons = collections.Counter(character["reason"] for character in characters if character["verdict"] == "unverified")
        check("the answers of this device stay", sum(reasons.values()) == len(unsure) and set(reasons) <= {"unreachable"}, reasons)
        check("what was not answered costs nothing", device.credits == CREDITS, device.credits)
    sys.exit(1 if failed else 0)


main()
