"""An origin with the cases as releases, served by `hearth host`."""
import hashlib, json, os, subprocess, sys

import classifiers, mutations, projectors, text_models
from gguf_file import GGUF, with_fewer_tokens

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
CLASSIFIER = os.path.join(ROOT, "models", "hearth-hanzi")


def read(*place):
    with open(os.path.join(*place), "rb") as file:
        return file.read()


def small(tiny, name):
    """A tiny model with few tokens."""
    return with_fewer_tokens(GGUF(read(tiny, name))).bytes()


def every_case(tiny, mutated, seed):
    """All cases: their names, what they are (text, vision, classifier), and functions that give the bytes."""
    healthy = small(tiny, "plain.gguf")
    yield from ((name, "text", make) for name, make in text_models.cases(healthy).items())
    yield from ((name, "vision", make) for name, make in projectors.cases(read(tiny, "projector-grid.gguf")).items())
    yield from ((name, "classifier", make) for name, make in classifiers.cases(read(CLASSIFIER, "model.onnx")).items())
    yield from ((name, "text", make) for name, make in mutations.cases(healthy, mutated, seed).items())


class Origin:
    """Writes the cases and their models.json into a folder, and serves it."""

    def __init__(self, program, folder, tiny, cases):
        self.folder = folder
        os.makedirs(os.path.join(folder, "models"))
        seeing = self._file("grid.gguf", small(tiny, "grid.gguf"))
        entries = [self._entry(name, role, make(), seeing) for name, role, make in cases]
        listed = {"schemaVersion": 1, "serial": 1, "issued": "2026-01-01T00:00:00Z", "models": entries,
                  "current": {entry["family"]: "1.0.0" for entry in entries}}
        with open(os.path.join(folder, "models.json"), "w") as file:
            json.dump(listed, file)
        environment = dict(os.environ, HEARTH_HOME=os.path.join(folder, "home"))
        self.process = subprocess.Popen([program, "host", folder], env=environment, stdout=subprocess.PIPE, text=True,
                                        stderr=subprocess.DEVNULL)
        self.address = self.process.stdout.readline().strip()
        if not self.address:
            sys.exit("hearth host does not start")

    def _file(self, name, data):
        with open(os.path.join(self.folder, "models", name), "wb") as file:
            file.write(data)
        return {"url": f"models/{name}", "sizeBytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}

    def _entry(self, name, role, data, seeing):
        ending = "-f16.gguf" if role != "classifier" else ".onnx"
        file, beside = self._file(f"{name}.data", data), []
        if role == "vision":
            beside = [dict(file, path="mmproj.gguf", role="projector")]
            file = seeing
        entry = {"family": name, "version": "1.0.0", "id": f"{name}-v1.0.0", "filename": f"{name}-v1.0.0{ending}",
                 "role": role, "format": "onnx" if role == "classifier" else "gguf", "files": beside,
                 "downloadUrl": file["url"], "sizeBytes": file["sizeBytes"], "sha256": file["sha256"],
                 "minAppVersion": "0.0.0", "released": "2026-01-01",
                 "requirements": {"memoryBytes": 1_000_000, "storageBytes": file["sizeBytes"] + len(data)}}
        if role != "classifier":
            entry.update(variant="f16", contextLength=2048)
        return entry

    def close(self):
        self.process.terminate()
        self.process.wait()
