#!/usr/bin/env python3
"""Carries models between Hearth and a real registry, with the tools that others use, and kills pulls at random moments.

    scripts/registries/run.py BINARY --model FILE.gguf [--kills N] [--seed N]

Needs docker-registry and skopeo, and the packages of scripts/requirements/registries.txt (oras). All listen on loopback.
Round trips are compared by the digests of manifests and files. A front adds tokens that end in mid-transfer, and redirects of
blobs to another host, which must see no log-in.
"""
import argparse
import hashlib
import json
import os
import pathlib
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

from front import BASIC, PASSWORD, USER, Front

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
DOCKER_MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"
RAW = "application/vnd.cncf.model.weight.v1.raw"

passed = failed = 0


def check(name, is_right, found=""):
    global passed, failed
    passed, failed = passed + bool(is_right), failed + (not is_right)
    print(f"{'ok   ' if is_right else 'WRONG'} {name}" + (f"  {found}" if found else ""), flush=True)


def digest(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def file_digest(path):
    with open(path, "rb") as file:
        return "sha256:" + hashlib.file_digest(file, "sha256").hexdigest()


class Registry:
    """docker-registry on a free port, with its storage in a folder."""

    def __init__(self, work):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        config = work / "registry.yml"
        config.write_text(
            f"version: 0.1\nlog: {{level: error, accesslog: {{disabled: true}}}}\n"
            f"storage: {{filesystem: {{rootdirectory: {work}/registry}}}}\nhttp: {{addr: '127.0.0.1:{self.port}'}}\n")
        self.process = subprocess.Popen(
            ["docker-registry", "serve", config], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(200):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}/v2/")
                break
            except OSError:
                time.sleep(0.05)
        self.address = f"127.0.0.1:{self.port}"

    def request(self, method, path, data=None, headers={}):
        url = path if path.startswith("http") else f"http://{self.address}{path}"
        return urllib.request.urlopen(urllib.request.Request(url, data, headers, method=method), timeout=60)

    def push(self, repository, data):
        with self.request("POST", f"/v2/{repository}/blobs/uploads/", b"") as answer:
            place = answer.headers["Location"]
        mark = "&" if "?" in place else "?"
        self.request("PUT", f"{place}{mark}digest={digest(data)}", data,
                     {"Content-Type": "application/octet-stream"}).close()
        return {"digest": digest(data), "size": len(data)}

    def publish(self, repository, tag, layers, config, manifest_type=MANIFEST):
        """Stores a manifest of (media type, bytes, annotations) as another tool would."""
        described = []
        for media_type, data, annotations in layers:
            layer = {"mediaType": media_type, **self.push(repository, data)}
            described.append(layer | ({"annotations": annotations} if annotations else {}))
        document = {"schemaVersion": 2, "mediaType": manifest_type,
                    "config": {"mediaType": config[0], **self.push(repository, config[1])}, "layers": described}
        data = json.dumps(document).encode()
        self.request("PUT", f"/v2/{repository}/manifests/{tag}", data, {"Content-Type": manifest_type}).close()
        return digest(data)

    def manifest(self, repository, tag):
        accept = {"Accept": f"{MANIFEST}, {DOCKER_MANIFEST}, application/vnd.oci.image.index.v1+json"}
        with self.request("GET", f"/v2/{repository}/manifests/{tag}", headers=accept) as answer:
            return answer.read()


class Device:
    """The program with a home of its own."""

    def __init__(self, binary, work, name, login=None):
        self.binary, self.home = binary, work / name
        self.environment = {
            "PATH": os.environ["PATH"], "HOME": str(work / (name + "-user")), "HEARTH_HOME": str(self.home),
            "HEARTH_ALONE": "1", "NO_PROXY": "*", "HEARTH_NETWORK": "unmetered"}
        if login:
            folder = work / (name + "-docker")
            folder.mkdir()
            folder.joinpath("config.json").write_text(json.dumps({"auths": {login: {"auth": BASIC.split()[1]}}}))
            self.environment["DOCKER_CONFIG"] = str(folder)

    def start(self, *words):
        return subprocess.Popen(
            [self.binary, *words], env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)

    def run(self, *words):
        process = self.start(*words)
        out, err = process.communicate(timeout=600)
        return process.returncode, out, err

    def pull(self, reference):
        """Pulls, and returns the digests of the installed files by their names; the message of a failure else."""
        status, out, err = self.run("pull", reference, "--no-probe", "--format", "json")
        last = json.loads(out.splitlines()[-1]) if out.strip() else {}
        if status:
            return f"{status}: {err or last}"
        found = {}
        for receipt in self.home.rglob("receipt.json"):
            for path in receipt.parent.rglob("*"):
                if path.is_file() and path.name != "receipt.json":
                    found[str(path.relative_to(receipt.parent))] = file_digest(path)
        return found


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("binary")
    arguments.add_argument("--model", required=True)
    arguments.add_argument("--kills", type=int, default=25)
    arguments.add_argument("--seed", type=int, default=None)
    arguments = arguments.parse_args()
    seed = arguments.seed if arguments.seed is not None else random.randrange(1 << 16)
    random.seed(seed)
    print(f"seed {seed}")
    os.environ["NO_PROXY"] = "*"
    work = pathlib.Path(tempfile.mkdtemp(prefix="hearth-registries-"))
    registry = Registry(work)
    try:
        everything(arguments, work, registry)
    finally:
        registry.process.terminate()
        registry.process.wait()
        shutil.rmtree(work, ignore_errors=True)
    print(f"registries: {passed} right, {failed} wrong")
    sys.exit(failed != 0)


def skopeo(*words):
    return subprocess.run(["skopeo", *words], capture_output=True)


def everything(arguments, work, registry):
    model = work / "toy-v1.1.0-q4_1.gguf"
    shutil.copy(arguments.model, model)
    weights, data = file_digest(model), model.read_bytes()
    devices = iter(range(1000))

    def device(login=None):
        return Device(arguments.binary, work, f"device-{next(devices)}", login)

    plain = f"oci://{registry.address}"

    # Published by Hearth.
    publisher = device()
    status, out, err = publisher.run("publish", str(model), "--to", f"{plain}/ai/toy", "--format", "json")
    check("hearth publish", status == 0, err.strip())
    published = json.loads(out.splitlines()[-1])["reference"].split("@")[1]
    raw = skopeo("inspect", "--raw", "--tls-verify=false", f"docker://{registry.address}/ai/toy:1.1.0-q4_1").stdout
    check("skopeo inspect --raw: the manifest has the digest that was told", digest(raw) == published, published)
    status, out, _ = publisher.run("publish", str(model), "--to", f"{plain}/ai/again:x", "--format", "json")
    check("the same release again: the same digest",
          status == 0 and json.loads(out.splitlines()[-1])["reference"].endswith(published))
    check("hearth pull", device().pull(f"{plain}/ai/toy:1.1.0-q4_1") == {model.name: weights})
    referrers = json.loads(registry.manifest("ai/toy", published.replace(":", "-")))
    check("the chunk index is listed under sha256-…", len(referrers["manifests"]) == 1)

    # Copied by skopeo, without referrers.
    copied = skopeo("copy", "--src-tls-verify=false", "--dest-tls-verify=false", "--preserve-digests",
                    f"docker://{registry.address}/ai/toy:1.1.0-q4_1", f"docker://{registry.address}/copy/toy:1")
    check("skopeo copy", copied.returncode == 0, copied.stderr.decode().strip()[-200:] if copied.returncode else "")
    check("the copy has the same digest", digest(registry.manifest("copy/toy", "1")) == published)
    check("hearth pull of the copy", device().pull(f"{plain}/copy/toy@{published}") == {model.name: weights})

    # oras reads what Hearth wrote, and the reverse.
    import oras.client
    client = oras.client.OrasClient(hostname=registry.address, insecure=True)
    fetched = client.pull(target=f"{registry.address}/ai/toy:1.1.0-q4_1", outdir=str(work / "oras"))
    check("oras pull", [file_digest(path) for path in fetched] == [weights], fetched)
    os.chdir(work)
    client.push(target=f"{registry.address}/oras/toy:1", files=[f"{model.name}:{RAW}"], disable_path_validation=True)
    check("hearth pull of what oras pushed", device().pull(f"{plain}/oras/toy:1") == {model.name: weights})

    # The forms of Docker Model Runner and Ollama.
    docker = registry.publish(
        "ai/docker", "135M-Q4_1", [("application/vnd.docker.ai.gguf.v3", data, None),
                                   ("application/vnd.docker.ai.license", b"a license", None)],
        ("application/vnd.docker.ai.model.config.v0.1+json", b'{"config": {"format": "gguf"}}'))
    copied = skopeo("copy", "--src-tls-verify=false", "--dest-tls-verify=false", "--preserve-digests",
                    f"docker://{registry.address}/ai/docker:135M-Q4_1", f"docker://{registry.address}/copy/docker:1")
    check("skopeo copy of Docker Model Runner's form", copied.returncode == 0
          and digest(registry.manifest("copy/docker", "1")) == docker)
    check("hearth pull of Docker Model Runner's form", device().pull(f"{plain}/copy/docker:1")
          == {"docker-1.gguf": weights, "LICENSE": digest(b"a license")})
    registry.publish(
        "library/toy", "latest", [("application/vnd.ollama.image.model", data, None),
                                  ("application/vnd.ollama.image.template", b"{{ .Prompt }}", None),
                                  ("application/vnd.ollama.image.license", b"a license", None),
                                  ("application/vnd.ollama.image.params", b"{}", None)],
        ("application/vnd.docker.container.image.v1+json", b'{"model_format": "gguf"}'), DOCKER_MANIFEST)
    check("hearth pull of Ollama's form", device().pull(f"{plain}/library/toy")
          == {"toy-latest.gguf": weights, "LICENSE": digest(b"a license")})

    # Tokens that end, and redirects.
    front = Front(registry.port, uses=8)
    found = device().pull(f"oci://{front.address}/ai/toy:1.1.0-q4_1")
    check("no log-in: refused", isinstance(found, str) and "repository-missing" in found)
    one = device(front.address)
    found = one.pull(f"oci://{front.address}/ai/toy:1.1.0-q4_1")
    check("hearth pull behind tokens that end after eight requests, and redirects", found == {model.name: weights},
          f"{front.given} tokens, {front.refused} refusals")
    check("tokens ended in mid-transfer", front.given > 1)
    status, out, err = one.run("publish", str(model), "--to", f"oci://{front.address}/front/toy:1", "--format", "json")
    check("hearth publish behind tokens", status == 0 and digest(registry.manifest("front/toy", "1")) == published,
          err.strip()[-200:])
    check("no log-in reached the storage's host", front.leaks == 0)
    login = skopeo("inspect", "--raw", "--tls-verify=false", "--creds", f"{USER}:{PASSWORD}",
                   f"docker://{front.address}/front/toy:1")
    check("skopeo reads it behind the same front", digest(login.stdout) == published, login.stderr.decode().strip()[-200:])
    front.stop()
    kills(arguments, registry, device, model, weights)


def kills(arguments, registry, device, model, weights):
    """Kills a pull of two files again and again, and counts the bytes of blobs.

    A kill costs the bytes that were not recorded yet (docs/durability.md), whatever the size of the file: hence a large one.
    """
    beside = b"".join(random.randbytes(1 << 20) for _ in range(400))
    registry.publish(
        "ai/large", "1", [(RAW, model.read_bytes(), {"org.cncf.model.filepath": model.name}),
                          ("application/vnd.cncf.model.weight.config.v1.raw", beside,
                           {"org.cncf.model.filepath": "beside.bin"})],
        ("application/vnd.cncf.model.config.v1+json", b"{}"))
    size, seconds = model.stat().st_size + len(beside), 40
    front = Front(registry.port, rate=size / seconds, uses=20)
    puller = device(front.address)
    reference = f"oci://{front.address}/ai/large:1"
    killed = 0
    for _ in range(arguments.kills):
        before = front.blob_bytes
        process = puller.start("pull", reference, "--no-probe", "--format", "json")
        # A kill counts in mid-transfer only: bytes have come since the start.
        while process.poll() is None and front.blob_bytes == before:
            time.sleep(0.01)
        time.sleep(random.uniform(0.02, 1.6 * seconds / arguments.kills))
        if process.poll() is None:
            killed += 1
        process.kill()
        process.communicate()
    found = puller.pull(reference)
    ratio = front.blob_bytes / size
    check(f"{killed} kills of {arguments.kills} in mid-transfer, then both files whole",
          found == {model.name: weights, "beside.bin": digest(beside)} and killed > 0)
    check("the bytes of all attempts are at most 1.2 times the files'", ratio <= 1.2,
          f"{ratio:.3f} copies of {size} bytes, {front.given} tokens")
    check("no log-in reached the storage's host", front.leaks == 0)
    front.stop()


if __name__ == "__main__":
    main()
