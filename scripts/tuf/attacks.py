#!/usr/bin/env python3
"""The attacks that The Update Framework names, on the program, with what a person reads: attacks.py FOLDER"""
import hashlib
import json
import os
import shutil
import sys

from origin import Server, contents, hearth, publish

folder = os.path.abspath(sys.argv[1])
origin = os.path.join(folder, "origin")
keys = os.path.join(folder, "keys")
os.makedirs(folder)
failures = 0


def device(name, copy="seen"):
    """A device that has seen the first publication."""
    home = os.path.join(folder, name.replace(" ", "-"))
    shutil.copytree(os.path.join(folder, copy), home)
    return home


def attack(name, answers, code, sentence, home=None, words=("list", "--available", "--refresh")):
    """Expects the code and the sentence; afterwards the honest origin is read again."""
    global failures
    home = home or device(name)
    server.answers.update(answers)
    done = hearth(*words, home=home, status=None)
    server.answers.clear()
    shown = done.stderr.strip().splitlines()
    isRight = done.returncode != 0 and f"[{code}]" in done.stderr and sentence in done.stderr
    print(f"{name}: {shown[0] if shown else 'nothing is said'}")
    after = hearth(*words, home=home, status=None)
    if not isRight or "1.0.0" not in after.stdout:
        failures += 1
        print(f"{name}: FAILED, expected [{code}] {sentence}\n{done.stderr}{after.stderr}", file=sys.stderr)


def signed_list():
    return next(name for name in os.listdir(os.path.join(origin, "targets")) if name.endswith("models.json"))


def snapshot_of(place):
    """All signed files of an origin, as answers of a server."""
    return {f"/{sub}/{name}": contents(place, sub, name)
            for sub in ["metadata", "targets"] for name in os.listdir(os.path.join(place, sub)) if name.endswith(".json")}


hearth("trust", "init", "--to", origin, "--keys", keys)
publish(origin, "m-v1.0.0-q4_0.gguf", b"1" * 4096, "--sign", "--keys", keys)
server = Server(origin)
fingerprint = hashlib.sha256(contents(origin, "metadata", "1.root.json")).hexdigest()
seen = os.path.join(folder, "seen")
new = os.path.join(folder, "new")
for home in [seen, new]:
    hearth("config", "set", "origins.main", f"{server.url}/models.json", home=home)
    hearth("config", "set", "trust.main", fingerprint, home=home)
hearth("list", "--available", home=seen)
first = snapshot_of(origin)

strangers = os.path.join(folder, "strangers")
hearth("trust", "init", "--to", strangers, "--keys", os.path.join(folder, "other-keys"))
publish(strangers, "evil-v9.9.9-q4_0.gguf", b"6" * 4096, "--sign", "--keys", os.path.join(folder, "other-keys"))
attack("arbitrary software", {k: v for k, v in snapshot_of(strangers).items() if "root" not in k}, "too-few-signatures",
       "timestamp.json is signed by 0 of 1 trusted keys")
attack("endless data", {"/metadata/timestamp.json": "endless"}, "metadata-too-large",
       "timestamp.json is larger than it may be")
name = signed_list()
entry = json.loads(contents(origin, "targets", name))
changed = contents(origin, "targets", name).replace(b'"1.0.0"', b'"6.6.6"')
attack("wrong software", {f"/targets/{name}": changed}, "target-mismatch",
       '"models.json" is not the file that its publisher signed', device("wrong", "new"))
entry["models"][0]["files"] = [{"path": "more.bin", "role": "other", "sizeBytes": 1, "sha256": "0" * 64, "url": "x"}]
more = json.dumps(entry).encode()
attack("extraneous dependencies", {f"/targets/{name}": more[:len(changed)].ljust(len(changed))}, "target-mismatch",
       '"models.json" is not the file that its publisher signed', device("extraneous", "new"))
attack("slow retrieval", {"/metadata/timestamp.json": "slow"}, "origin-unreachable",
       "it did not answer within 60 s", device("slow", "new"))

publish(origin, "m-v1.1.0-q4_0.gguf", b"2" * 4096, "--sign", "--keys", keys)
attack("mix-and-match", {"/metadata/3.targets.json": first["/metadata/2.targets.json"]}, "metadata-mismatch",
       "targets.json has another digest than the origin's signed list says")
attack("malicious mirrors", {"/metadata/3.snapshot.json": "missing"}, "metadata-missing",
       "the origin has no snapshot.json")
ahead = device("ahead")
hearth("list", "--available", "--refresh", home=ahead)
attack("rollback", first, "metadata-rollback",
       "the origin offers an older timestamp.json than this device has seen from it", ahead)

# With the stolen key of the timestamp; the publisher then replaces that key.
stolen = os.path.join(folder, "stolen")
shutil.copytree(origin, stolen)
only = os.path.join(folder, "only")
os.makedirs(only)
shutil.copy(os.path.join(keys, "timestamp.key"), only)
for _ in range(3):
    hearth("trust", "renew", "--to", stolen, "--keys", only)
home = device("fast-forward")
server.answers["/metadata/timestamp.json"] = contents(stolen, "metadata", "timestamp.json")
hearth("list", "--available", "--refresh", home=home)
server.answers.clear()
refused = hearth("list", "--available", "--refresh", home=home, status=None)
print(f"fast-forward: {refused.stderr.strip().splitlines()[0]}")
refusedKey = hearth("trust", "sign", "--to", stolen, "--keys", only, status=None)
print(f"vulnerability to key compromise: {refusedKey.stderr.strip().splitlines()[0]}")
hearth("trust", "rotate", "timestamp", "--to", origin, "--keys", keys)
after = hearth("list", "--available", "--refresh", home=home, status=None)
if "[metadata-rollback]" not in refused.stderr or "1.1.0" not in after.stdout:
    failures += 1
    print(f"fast-forward: FAILED\n{refused.stderr}{after.stderr}", file=sys.stderr)
if refusedKey.returncode == 0 or "[too-few-signatures]" not in refusedKey.stderr:
    failures += 1
    print(f"key compromise: FAILED\n{refusedKey.stderr}", file=sys.stderr)

# The freeze: a timestamp whose time is over. The command cannot sign for less than a day, so the clock is put forward.
if shutil.which("faketime"):
    import subprocess
    environment = dict(os.environ, HEARTH_HOME=device("freeze"))
    done = subprocess.run(["faketime", "-f", "+40d", os.environ["HEARTH_BINARY"], "list", "--available", "--refresh"],
                          capture_output=True, text=True, env=environment, stdin=subprocess.DEVNULL)
    print(f"indefinite freeze: {done.stderr.strip().splitlines()[0]}")
    if done.returncode == 0 or "[metadata-expired]" not in done.stderr:
        failures += 1
        print(f"indefinite freeze: FAILED\n{done.stderr}", file=sys.stderr)
else:
    print("indefinite freeze: skipped, Debian's faketime is not installed")

print(f"attacks: {failures} of 11 not answered as they should be")
sys.exit(1 if failures else 0)
