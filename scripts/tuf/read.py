#!/usr/bin/env python3
"""python-tuf reads the origins that `hearth trust` and `hearth publish --sign` make: read.py FOLDER"""
import os
import sys

from origin import Server, contents, hearth, publish
from tuf.api.metadata import Metadata
from tuf.ngclient import Updater

folder = os.path.abspath(sys.argv[1])
origin = os.path.join(folder, "origin")
os.makedirs(folder)
server = None
checks = 0


def read(label):
    """Follows the metadata and downloads every signed file."""
    global checks
    updater = Updater(
        metadata_dir=os.path.join(folder, "metadata"), metadata_base_url=f"{server.url}/metadata/",
        target_dir=os.path.join(folder, "targets"), target_base_url=f"{server.url}/targets/", bootstrap=first)
    updater.refresh()
    signed = Metadata.from_file(os.path.join(folder, "metadata", "targets.json")).signed
    assert "models.json" in signed.targets, signed.targets
    for path in signed.targets:
        info = updater.get_targetinfo(path)
        assert info is not None, path
        for old in os.listdir(os.path.join(folder, "targets")):
            os.remove(os.path.join(folder, "targets", old))
        assert contents(updater.download_target(info)) == contents(origin, path), path
    checks += 1
    print(f"python-tuf reads {label}: {len(signed.targets)} files, targets {signed.version}")


for name in ["metadata", "targets"]:
    os.makedirs(os.path.join(folder, name))
hearth("trust", "init", "--to", origin)
first = contents(origin, "metadata", "1.root.json")
publish(origin, "m-v1.0.0-q4_0.gguf", b"1" * 4096, "--sign")
server = Server(origin)
read("a first publication")
publish(origin, "m-v1.1.0-q4_0.gguf", b"2" * 4096, "--sign")
read("a second one")
for role in ["timestamp", "snapshot", "targets", "root"]:
    hearth("trust", "rotate", role, "--to", origin)
    read(f"a new key of {role}")
hearth("trust", "add", "root", "--to", origin, "--threshold", "2")
read("a root that two keys sign")
hearth("trust", "renew", "--to", origin, "--days", "3")
hearth("trust", "renew", "root", "--to", origin)
publish(origin, "m-v1.2.0-q4_0.gguf", b"3" * 4096, "--unsigned")
hearth("trust", "sign", "--to", origin)
read("a list that was signed afterwards")
print(f"python-tuf read {checks} states of an origin of hearth")
