#!/usr/bin/env python3
"""Publishes broken forms of a model after a good release, and pulls each: it must not become active, and the good one answers.

    scripts/hostile/broken.py PROGRAM MODEL [--only PART,…]

The forms are those of broken_models.py. A file that `hearth publish` refuses is put into the origin by hand, as a publisher
without Hearth would.
"""
import argparse, hashlib, json, os, re, shutil, subprocess, sys, tempfile, time

from broken_models import cases

QUESTION = "Name the capital of France."


def read(*place):
    with open(os.path.join(*place), "rb") as file:
        return file.read()


class Home:
    """An origin with its server, and a device."""

    def __init__(self, program, folder):
        self.program, self.origin = program, os.path.join(folder, "origin")
        self.environment = dict(os.environ, HEARTH_HOME=os.path.join(folder, "home"))
        self.server = None

    def run(self, *words):
        result = subprocess.run([self.program, *words], env=self.environment, capture_output=True, text=True, timeout=300)
        code = re.findall(r"\[([a-z0-9-]+)\]", result.stderr)
        return result, "done" if result.returncode == 0 else code[-1] if code else f"no code, status {result.returncode}"

    def serve(self):
        self.server = subprocess.Popen([self.program, "host", self.origin], env=self.environment, stdout=subprocess.PIPE,
                                       text=True, stderr=subprocess.DEVNULL)
        self.environment["HEARTH_ORIGIN"] = self.server.stdout.readline().strip()

    def put(self, path, version):
        """Lists a file by hand, as the newest release."""
        listed = json.loads(read(self.origin, "models.json"))
        data, name = read(path), f"broken-{version}.gguf"
        shutil.copyfile(path, os.path.join(self.origin, "models", name))
        entry = dict(listed["models"][0], version=version, id=f"model-v{version}", filename=f"model-v{version}.gguf",
                     downloadUrl=f"models/{name}", sizeBytes=len(data), sha256=hashlib.sha256(data).hexdigest())
        entry.pop("index", None)
        listed["models"].append(entry)
        listed["current"]["model"] = version
        listed["serial"] += 1
        with open(os.path.join(self.origin, "models.json"), "w") as file:
            json.dump(listed, file)

    def active(self):
        found = [one for one in json.loads(self.run("list", "--format", "json")[0].stdout or "[]") if one.get("active")]
        return found[0]["version"] if found else None

    def close(self):
        if self.server:
            self.server.terminate()
            self.server.wait()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("model")
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    data, wrong = read(arguments.model), []
    parts = [part for part in arguments.only.split(",") if part]
    for name, is_good, make in cases(data):
        if parts and not any(part in name for part in parts):
            continue
        folder = tempfile.mkdtemp(prefix="hearth-broken-")
        home = Home(arguments.program, folder)
        try:
            good = os.path.join(folder, "model-v1.0.0.gguf")
            shutil.copyfile(arguments.model, good)
            home.run("publish", good, "--to", home.origin)
            home.serve()
            home.run("pull", "model")
            broken = os.path.join(folder, "model-v2.0.0.gguf")
            with open(broken, "wb") as file:
                file.write(make())
            _, published = home.run("publish", broken, "--to", home.origin)
            if published != "done":
                home.put(broken, "2.0.0")
            begin = time.monotonic()
            result, pulled = home.run("pull", "model")
            seconds, active = time.monotonic() - begin, home.active()
            answer, asked = home.run("chat", "model", "--prompt", QUESTION, "--max-tokens", "12")
            said = " ".join(answer.stdout.split())
            is_right = active == ("2.0.0" if is_good else "1.0.0") and asked == "done" and bool(said)
            print(f"{'ok  ' if is_right else 'FAIL'}  {name}: publish {published}, pull {pulled} in {seconds:.1f} s, "
                  f"active {active}, answers {said[:40]!r}", flush=True)
            if pulled != "done":
                print(f"      {result.stderr.strip().splitlines()[-1][:300]}", flush=True)
            if not is_right:
                wrong.append(name)
        finally:
            home.close()
            shutil.rmtree(folder, ignore_errors=True)
    sys.exit(f"wrong: {', '.join(wrong)}" if wrong else 0)


main()
