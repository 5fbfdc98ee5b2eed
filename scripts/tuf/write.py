#!/usr/bin/env python3
"""`hearth` reads the repositories that python-tuf makes: write.py FOLDER"""
import datetime
import hashlib
import os
import sys

from origin import Server, contents, hearth, publish
from securesystemslib.signer import CryptoSigner
from tuf.api.metadata import (DelegatedRole, Delegations, Metadata, MetaFile, Root, Snapshot, TargetFile, Targets,
                              Timestamp)

folder = os.path.abspath(sys.argv[1])
origin = os.path.join(folder, "origin")
os.makedirs(folder)
expires = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0) + datetime.timedelta(days=20)
checks = 0


def write(name, data):
    path = os.path.join(origin, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)


def target(path, data):
    """Puts a file at its consistent name."""
    parts = path.rsplit("/", 1)
    parts[-1] = f"{hashlib.sha256(data).hexdigest()}.{parts[-1]}"
    write("targets/" + "/".join(parts), data)
    return TargetFile.from_data(path, data)


def sign(signed, signers):
    metadata = Metadata(signed)
    for signer in signers:
        metadata.sign(signer, append=True)
    return metadata.to_bytes()


def check(label, condition):
    global checks
    if not condition:
        raise SystemExit(f"hearth and python-tuf: FAILED, {label}")
    checks += 1
    print(f"hearth reads {label}")


# Keys of every scheme that python-tuf signs with; two of three owners sign a root.
owners = [CryptoSigner.generate_ed25519(), CryptoSigner.generate_ecdsa(), CryptoSigner.generate_rsa()]
keys = {"targets": CryptoSigner.generate_rsa(), "snapshot": CryptoSigner.generate_ecdsa(),
        "timestamp": CryptoSigner.generate_ed25519()}
root = Root(expires=expires, consistent_snapshot=True)
for owner in owners:
    root.add_key(owner.public_key, "root")
root.roles["root"].threshold = 2
for role, signer in keys.items():
    root.add_key(signer.public_key, role)

# The models and their list are published without metadata, which python-tuf makes.
publish(origin, "m-v1.0.0-q4_0.gguf", b"1" * 4096, "--unsigned")
extra = b"a file that another publisher signs\n"
helper = CryptoSigner.generate_ed25519()
versions = {"targets": 0, "snapshot": 0, "timestamp": 0}


def release():
    """Signs the present list, as a new version of everything."""
    for role in versions:
        versions[role] += 1
    targets = Targets(version=versions["targets"], expires=expires)
    targets.targets["models.json"] = target("models.json", contents(origin, "models.json"))
    targets.delegations = Delegations(keys={}, roles={
        "helper": DelegatedRole("helper", [], 1, terminating=True, paths=["extra/*.txt"])})
    targets.add_key(helper.public_key, "helper")
    delegated = Targets(version=1, expires=expires)
    delegated.targets["extra/a b.txt"] = target("extra/a b.txt", extra)
    snapshot = Snapshot(version=versions["snapshot"], expires=expires)
    snapshot.meta["targets.json"] = MetaFile(version=versions["targets"])
    snapshot.meta["helper.json"] = MetaFile(version=1)
    timestamp = Timestamp(version=versions["timestamp"], expires=expires)
    snapshot_bytes = sign(snapshot, [keys["snapshot"]])
    timestamp.snapshot_meta = MetaFile(
        version=versions["snapshot"], length=len(snapshot_bytes),
        hashes={"sha256": hashlib.sha256(snapshot_bytes).hexdigest()})
    write("metadata/1.helper.json", sign(delegated, [helper]))
    write(f"metadata/{versions['targets']}.targets.json", sign(targets, [keys["targets"]]))
    write(f"metadata/{versions['snapshot']}.snapshot.json", snapshot_bytes)
    write("metadata/timestamp.json", sign(timestamp, [keys["timestamp"]]))


write("metadata/1.root.json", sign(root, owners[:2]))
release()
server = Server(origin)
home = os.path.join(folder, "home")
hearth("config", "set", "origins.main", f"{server.url}/models.json", home=home)
refused = hearth("list", "--available", home=home, status=1)
check("that it does not know the keys yet", "[no-trusted-root]" in refused.stderr)
fingerprint = hashlib.sha256(contents(origin, "metadata", "1.root.json")).hexdigest()
check("the fingerprint", fingerprint in refused.stderr)
hearth("config", "set", "trust.main", fingerprint, home=home)
check("the list", "1.0.0" in hearth("list", "--available", home=home).stdout)
publish(origin, "m-v1.1.0-q4_0.gguf", b"2" * 4096, "--unsigned")
unsigned = hearth("list", "--available", "--refresh", home=home).stdout
check("nothing that is not signed", "1.1.0" not in unsigned)
release()
check("a new list", "1.1.0" in hearth("list", "--available", "--refresh", home=home).stdout)
pulled = hearth("pull", "m", "--no-probe", "--ignore-memory", home=home, status=None)
check("the model itself", pulled.returncode == 0 or "[no-engine]" in pulled.stderr or "[model-" in pulled.stderr)

# Another owner, and other keys everywhere: signed by the present owners and the next ones.
root.version = 2
newcomer = CryptoSigner.generate_ed25519()
root.revoke_key(owners[0].public_key.keyid, "root")
root.add_key(newcomer.public_key, "root")
for role in keys:
    root.revoke_key(keys[role].public_key.keyid, role)
    keys[role] = CryptoSigner.generate_ed25519()
    root.add_key(keys[role].public_key, role)
write("metadata/2.root.json", sign(root, [owners[1], owners[2], newcomer]))
publish(origin, "m-v1.2.0-q4_0.gguf", b"3" * 4096, "--unsigned")
release()
check("a list of other keys", "1.2.0" in hearth("list", "--available", "--refresh", home=home).stdout)

# The client alone, with a file of a delegated role whose name needs an escape.
trusted = os.path.join(folder, "trusted")
got = os.path.join(folder, "got")
os.makedirs(got)
hearth("trust", "client", "--metadata-dir", trusted, "init", os.path.join(origin, "metadata", "1.root.json"))
hearth("trust", "client", "--metadata-dir", trusted, "--metadata-url", f"{server.url}/metadata", "--target-name",
       "extra/a b.txt", "--target-base-url", f"{server.url}/targets", "--target-dir", got, "download")
check("a delegated file", contents(got, os.listdir(got)[0]) == extra)

# One owner is not enough.
root.version = 3
write("metadata/3.root.json", sign(root, [newcomer]))
refused = hearth("list", "--available", "--refresh", home=home, status=None)
check("that one of two owners is not enough", "signed by 1 of 2 trusted keys" in refused.stderr + refused.stdout)
print(f"hearth read {checks} facts of a repository of python-tuf")
