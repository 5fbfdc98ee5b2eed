"""The steps of a new publisher, and of a device that trusts only this publisher's root.

A helper of scripts/publish/kills.py: a bucket, a model under the name `lupus-diary-v1.0.0-q4_k_m.gguf`, one command to upload it
signed, and a device that pulls it from the public address and answers. Then a thief with the key of the bucket, but with none of
the publisher's, puts another model there: the device takes nothing from it.
"""
import json
import os
import re
import shutil
import sys

ORIGIN = "r2:models/signed"
NAME = "lupus-diary-v1.0.0-q4_k_m.gguf"
QUESTION = "What is the capital of France? Answer in one sentence."


def fail(text):
    sys.exit(f"publish.py: {text}")


def copied(publisher, model, name):
    """The model under a release's name."""
    path = os.path.join(publisher.folder, name)
    shutil.copyfile(model, path)
    return path


def steps(publisher, model):
    public = publisher.server.public.rsplit("/", 1)[0] + "/signed"
    secret = {"HEARTH_TRUST_PASSPHRASE": "a passphrase of the tests"}
    fingerprint = re.search(r"[0-9a-f]{64}", publisher.run("trust", "init", "--to", ORIGIN, **secret)[0]).group()
    upload = ["--to", ORIGIN, "--public", public, "--current", "always"]
    path = copied(publisher, model, NAME)
    _, said = publisher.run("publish", path, *upload, "--sign", **secret)
    if "signed." not in said:
        fail(f"the publication is not signed:\n{said}")
    listed = json.loads(publisher.run("origin", "check", public, "--format", "json")[0])
    if not listed["signed"] or any(found["weight"] == "fault" for found in listed["findings"]):
        fail(f"the signed origin: {listed}")

    # A device that knows the address and the fingerprint, and nothing of the bucket.
    device = {"HEARTH_HOME": os.path.join(publisher.folder, "device"), "HEARTH_NETWORK": "unmetered",
              "RCLONE_CONFIG_R2_ACCESS_KEY_ID": "", "RCLONE_CONFIG_R2_SECRET_ACCESS_KEY": ""}
    publisher.run("config", "set", "origins.main", public + "/models.json", **device)
    _, refused = publisher.run("pull", "lupus-diary", expect=1, **device)
    if "[no-trusted-root]" not in refused:
        fail(f"a device without the root: {refused}")
    publisher.run("config", "set", "trust.main", fingerprint, **device)
    publisher.run("pull", "lupus-diary", **device)
    ask = ["chat", "lupus-diary", "--prompt", QUESTION, "--temperature", "0", "--max-tokens", "40"]
    answer, _ = publisher.run(*ask, **device)
    if "Paris" not in answer:
        fail(f"the pulled model does not answer: {answer}")
    os.remove(path)

    # The thief has the key of the bucket: the upload succeeds, and no device with the root takes the release.
    thief = {"HEARTH_HOME": os.path.join(publisher.folder, "thief")}
    path = copied(publisher, model, NAME.replace("1.0.0", "6.6.6"))
    publisher.run("publish", path, *upload, "--unsigned", **thief)
    os.remove(path)
    seen, _ = publisher.run("list", "--available", "--refresh", **device)
    if "1.0.0" not in seen or "6.6.6" in seen:
        fail(f"a list that the publisher did not sign: {seen}")
    again, _ = publisher.run(*ask, **device)
    return answer.strip(), answer == again
