#!/usr/bin/env python3
"""kills.py HEARTH RELEASE [EVERY]: ends `hearth update` with SIGKILL after every step that it takes on the disk, from version 1.0.0 of
a classifier to 2.0.0; each time the next start classifies, by one of the two with its own classes, and the next update ends well.

RELEASE is a folder with model.onnx, classifier.json, classes.txt and canary.png. strace holds the program after each step, so that
the kill comes before the next. EVERY (1) takes every Nth step. Exit status 1 if a start does not classify.
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile

STEPS = ("rename,renameat,renameat2,link,linkat,symlink,symlinkat,unlink,unlinkat,rmdir,mkdir,mkdirat,fsync,fdatasync,ftruncate,"
         "fallocate,write,pwrite64,fchmod,fchmodat")
# Long enough for this script to read a line and send a signal.
DELAY = 15_000


def entry(key, value):
    """An entry of a model's metadata: messages of protobuf may be joined, so it is put at the end of the file."""
    body = b"\x0a" + bytes([len(key)]) + key.encode() + b"\x12" + bytes([len(value)]) + value.encode()
    return b"\x72" + bytes([len(body)]) + body


class Lab:
    def __init__(self, hearth, release, folder):
        self.hearth, self.release, self.folder = os.path.abspath(hearth), release, folder
        self.canary = os.path.abspath(os.path.join(release, "canary.png"))
        self.origin = os.path.join(folder, "origin")

    def environment(self, home):
        return {**os.environ, "HEARTH_HOME": home, "HEARTH_ORIGIN": os.path.join(self.origin, "models.json"), "HEARTH_NETWORK": "unmetered"}

    def run(self, home, *words):
        done = subprocess.run([self.hearth, *words], env=self.environment(home), capture_output=True, text=True, timeout=120)
        return done.returncode, done.stdout, done.stderr.strip()

    def need(self, home, *words):
        status, output, errors = self.run(home, *words)
        assert status == 0, f"{' '.join(words)}: {errors}"
        return output

    def publish(self, version, prefix):
        """A release whose labels tell its version."""
        made = os.path.join(self.folder, f"release-{version}")
        shutil.copytree(self.release, made)
        with open(f"{made}/model.onnx", "ab") as file:
            file.write(entry("note", version))
        with open(f"{made}/classes.txt", encoding="utf-8") as file:
            labels = [prefix + chr(int(line, 16)) for line in file.read().split()]
        with open(f"{made}/classes.txt", "w", encoding="utf-8") as file:
            file.write("\n".join(labels) + "\n")
        with open(f"{made}/classifier.json", encoding="utf-8") as file:
            settings = json.load(file)
        settings["classListVersion"] = version
        settings["canary"]["label"] = prefix + chr(int(settings["canary"]["label"], 16))
        with open(f"{made}/classifier.json", "w", encoding="utf-8") as file:
            json.dump(settings, file)
        name = f"{made}/hanzi-v{version}.onnx"
        os.rename(f"{made}/model.onnx", name)
        self.need(self.folder + "/publisher", "publish", name, *(f"{made}/{part}" for part in ("classifier.json", "classes.txt", "canary.png")), "--to", self.origin)
        return settings["canary"]["label"]

    def labels(self, home):
        """The likeliest classes of the canary by the next start."""
        output = self.need(home, "classify", "--top", "5", "--format", "json", self.canary)
        return [candidate["label"] for candidate in json.loads(output)["candidates"]]

    def update(self, home, last):
        """Updates and is killed after so many steps, `None` for not at all; returns the steps and whether it was killed."""
        pipe = os.path.join(self.folder, "steps")
        if os.path.exists(pipe):
            os.remove(pipe)
        os.mkfifo(pipe)
        command = ["strace", "-f", "-qq", "--seccomp-bpf", "-y", "-o", pipe, "-e", f"trace=openat,{STEPS}",
                   *(["-e", f"inject={STEPS}:delay_exit={DELAY}"] if last else []), self.hearth, "update"]
        process = subprocess.Popen(command, env=self.environment(home), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        steps, is_killed = [], False
        with open(pipe, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                thread, _, call = line.partition(" ")
                # Of all that is opened, what is made counts; of all that is written, what goes into the home.
                if "openat" in call and "O_CREAT" not in call or home not in call:
                    continue
                steps.append(call.strip())
                if len(steps) == last:
                    os.kill(int(thread), signal.SIGKILL)
                    is_killed = True
        errors = process.communicate()[1].decode()
        if not last:
            assert process.returncode == 0, errors
        return steps, is_killed


def main():
    hearth, release = sys.argv[1:3]
    every = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    if shutil.which("strace") is None:
        sys.exit("kills: there is no strace; scripts/setup.sh disk installs it")
    with tempfile.TemporaryDirectory() as folder:
        lab = Lab(hearth, release, os.path.realpath(folder))
        old = lab.publish("1.0.0", "old ")
        template = lab.folder + "/template"
        lab.need(template, "pull", "hanzi")
        new = lab.publish("2.0.0", "new ")

        def home(name):
            path = f"{lab.folder}/{name}"
            shutil.copytree(template, path, symlinks=True)
            return path

        whole = home("whole")
        steps, _ = lab.update(whole, None)
        assert lab.labels(whole)[0] == new
        kills, found, failed = 0, {old: 0, new: 0}, 0
        for last in range(1, len(steps) + 1, every):
            place = home(f"home-{last}")
            done, is_killed = lab.update(place, last)
            note = f"killed after step {last} of {len(steps)}, {done[-1][:120] if done else 'none'}"
            kills += is_killed
            try:
                labels = lab.labels(place)
                assert labels[0] in found and len({label.split()[0] for label in labels}) == 1, f"the next start answers {labels}"
                found[labels[0]] += 1
                lab.need(place, "update")
                assert lab.labels(place)[0] == new, "the next update does not arrive"
                lab.need(place, "verify")
            except AssertionError as error:
                failed += 1
                print(f"FAIL  {note}: {error}", flush=True)
            shutil.rmtree(place)
        print(f"killed at {kills} of {len(steps)} steps of an update: the next start classified with the old release {found[old]} times, with the "
              f"new one {found[new]} times, and failed {failed} times")
        sys.exit(1 if failed or not kills or not found[old] or not found[new] else 0)


main()
