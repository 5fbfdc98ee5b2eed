#!/usr/bin/env python3
"""Lays out the package of scripts/siblings in a folder: copies of the sources and tests, and the stand-ins.

    prepare.py FOLDER

In the copies, branches for Darwin are taken where a stand-in has what they call, and tests of libcurl's client have URLSession's.
A file that did not change keeps its date.
"""
import os
import re
import sys

TARGETS = ["CCrypto", "CZlib", "CProcess", "HearthBase", "HearthHTTP", "HearthCatalog", "HearthTransfer", "HearthStore",
           "HearthTestSupport"]
TESTS = ["HearthBaseTests", "HearthHTTPTests", "HearthStoreTests", "HearthTransferTests"]
STAND_INS = ["StandIns", "CryptoKit", "Security", "Network"]
# What needs inference, which no sibling does, and authorities of certificates that only libcurl's client is given.
LEFT_OUT = ("Sources/HearthTestSupport/ScriptedEngine.swift", "Sources/HearthTestSupport/EngineHelpers.swift",
            "Tests/HearthTransferTests/Faults/", "Tests/HearthTransferTests/Durability/",
            "Tests/HearthTransferTests/Fetch/FullDiskJournalTests.swift")
# Conditions of branches whose calls the stand-ins have.
DARWIN, LINUX = "canImport(Darwin)", "os(Linux)"
CONDITIONS = {
    "Sources/HearthBase/Files/LocalFileSystem+Fetchable.swift": {DARWIN: "true"},
    "Sources/HearthBase/System/ProcessIdentity.swift": {DARWIN: "true"},
    "Sources/HearthBase/System/SystemMemory.swift": {LINUX: "false", "os(iOS)": "true", "canImport(os)": "false"},
    "Sources/HearthCatalog/Releases/ArchiveFormat.swift": {LINUX: "false"},
    "Sources/HearthHTTP/Client/ExchangeDelegate.swift": {DARWIN: "true"},
    "Sources/HearthHTTP/Client/URLSessionHTTPClient.swift": {DARWIN: "true"},
}


def changed(path, text):
    for condition, value in CONDITIONS.get(path, {}).items():
        if condition not in text:
            sys.exit(f"prepare: {path} has no {condition}")
        text = re.sub(f"(#(?:else)?if .*){re.escape(condition)}", rf"\g<1>{value}", text)
    if path.startswith("Tests/"):
        text = re.sub(r"\bCurlHTTPClient\b", "URLSessionHTTPClient", text)
    return text


def files(root):
    for folder, _, names in os.walk(root):
        for name in names:
            yield os.path.join(folder, name)


def main(folder):
    wanted = {"Package.swift": "scripts/siblings/Package.swift", "scripts/tests/archives.py": "scripts/tests/archives.py",
              "scripts/publish/sigv4.json": "scripts/publish/sigv4.json"}
    for root in [f"Sources/{name}" for name in TARGETS] + [f"Tests/{name}" for name in TESTS]:
        wanted.update((path, path) for path in files(root) if not path.startswith(LEFT_OUT))
    for name in STAND_INS:
        root = f"scripts/siblings/stand-ins/{name}"
        wanted.update((f"Sources/{name}/{os.path.relpath(path, root)}", path) for path in files(root))
    for path in files("scripts/siblings/additions"):
        wanted[os.path.relpath(path, "scripts/siblings/additions")] = path
    for target, source in wanted.items():
        with open(source, "rb") as file:
            data = file.read()
        if source.endswith(".swift"):
            data = changed(source, data.decode()).encode()
        place = os.path.join(folder, target)
        if os.path.exists(place):
            with open(place, "rb") as file:
                if file.read() == data:
                    continue
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "wb") as file:
            file.write(data)
    for part in ["Sources", "Tests"]:
        for path in list(files(os.path.join(folder, part))):
            if os.path.relpath(path, folder) not in wanted:
                os.remove(path)


main(sys.argv[1])
