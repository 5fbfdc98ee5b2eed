#!/usr/bin/env python3
"""Runs every command of the documents' console blocks and compares what they print with what the document shows.

    scripts/documents/shell.py HEARTH             all documents
    scripts/documents/shell.py HEARTH FILE…       these
    scripts/documents/shell.py --check            only looks: each block has a language, each exception below is of a command there is

Each document has a folder, a home, an origin on a free port and a model that is installed already; its commands, the lines that begin
with `$ `, run in their order. The lines below a command are what it prints, all of it, where `…` stands for what varies; a command with
no line below it only has to succeed. Runs in a network namespace without any network but loopback, where the user may make one.
HEARTH_DEFAULT_MODEL and HEARTH_TINY_MODELS name the models.
"""
import collections
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
TYPE = f"{ROOT}/scripts/assistant/type.py"
FAMILY = "smollm2-135m-instruct"
LIMIT = 300

# Commands that are not run here, and why.
NOT_RUN = {
    r"^make (run|chat)$": "the stage first-run",
    r"^make (test|lint format|verify.*)$": "the stages themselves",
    r"^(BENCH_\w+=\S+ )*(make bench|scripts/bench/)": "the stages bench",
    r"^make install-dev|^PKG_CONFIG_PATH=\S+ swift build": "the stage consumer",
    r"^HEARTH_TESTS=full swift test": "minutes of computing; the tests take a share",
    r"^hearth pull$": "asks a person; ModelsToBeginWithTests answers",
    r" --to r2:": "a bucket; the stage publish has two",
    r"^hearth pull lupus-diary$@docs/gateway.md": "a gateway; the stage gateway has two",
    r"^hearth gateway serve": "a bucket; the stage gateway has one",
    r"^systemctl --user": "systemd of a user",
    r"--install-timer": "systemd of a user",
    r"^hearth connect run": "an agent; ConnectorTests",
    r"pirate": "a file of the reader; PresetTests",
    r"^export HEARTH_GATEWAY_DATABASE": "PostgreSQL; the stage gateway has one",
}
# What is typed where a command wants a terminal.
TYPED = {
    r"^HEARTH_LOG=\S+ hearth chat$": "> \t/exit\n",
}
# Commands that serve until they are ended; the first line that they print is their address.
SERVES = r"^hearth (host|serve)\b(?!.*--(detach|install-unit))"
# What a document expects to be there, by the beginning of the command that wants it.
BEFORE = {
    ("docs/delivery.md", "hearth update"): "publish lupus-diary 1.1.0",
    ("docs/getting-started.md", "hearth transfers pause"): "pull my-model slowly",
    ("docs/getting-started.md", "hearth list --available"): "publish my-model 1.1.0",
    ("docs/routing.md", "hearth config set cloud.kind"): "start the cloud",
    ("docs/trust.md", "hearth trust init --to ./origin --role-key"): "make keys",
    ("docs/server.md", "curl"): "start the server",
    ("docs/api.md", "curl"): "start the server",
    ("docs/upstreams.md", "curl"): "start the server",
    ("docs/assistant.md", "hearth habits log"): "hearth habits add running",
    ("docs/classification.md", "hearth classify --decode --cloud"): "start the cloud",
    ("docs/logging.md", "hearth chat"): "hearth config set defaultModel " + FAMILY,
}
# Commands that the documents show failing, and their status.
STATUS = {}
Block = collections.namedtuple("Block", "line language text")


def blocks(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        text = file.read()
    for match in re.finditer(r"^( *)```(\w*)[^\n]*\n(.*?)^ *```$", text, re.S | re.M):
        lines = [line[len(match[1]):] for line in match[3].split("\n")]
        yield Block(text.count("\n", 0, match.start()) + 2, match[2], "\n".join(lines))


def commands(block):
    """The commands of a block with their lines and what stands below them; remarks are left out."""
    number, rows = block.line, block.text.split("\n")
    found_commands = []
    while rows:
        first, row = number, rows.pop(0)
        number += 1
        if not row.startswith("$ "):
            if found_commands and row.strip() and not row.startswith("#"):
                found_commands[-1][2].append(row.rstrip())
            continue
        row = row[2:]
        while row.endswith("\\"):
            row = row[:-1].rstrip() + " " + rows.pop(0).removeprefix(">").strip()
            number += 1
        found_commands.append((first, re.sub(r"\s#\s.*", "", row).strip(), []))
    return found_commands


def found(table, path, command):
    """The value of the first pattern; one with a document at its end is for that alone."""
    for pattern, value in table.items():
        pattern, _, document_path = pattern.partition("@docs/")
        if re.search(pattern, command) and (not document_path or path == f"docs/{document_path}"):
            return value
    return None


class World:
    """A folder with files that the documents name, a home and an origin."""

    def __init__(self, program, template):
        self.folder = tempfile.mkdtemp(prefix="hearth-documents-")
        self.files, home = f"{self.folder}/files", f"{self.folder}/user"
        for folder in (self.files, home, f"{self.folder}/bin"):
            os.makedirs(folder)
        os.symlink(program, f"{self.folder}/bin/hearth")
        shutil.copytree(template, f"{self.folder}/home", symlinks=True)
        cache = os.environ.get("HEARTH_CACHE") or os.path.join(os.environ.get("XDG_CACHE_HOME") or f"{os.environ['HOME']}/.cache", "hearth")
        kept = {key: value for key, value in os.environ.items() if key == "HEARTH_DEFAULT_MODEL" or not re.match(r"HEARTH_|XDG_|OPENAI|GEMINI|ANTHROPIC|HF_|NO_COLOR", key)}
        self.environment = {
            **kept, "HOME": home, "HEARTH_HOME": f"{self.folder}/home", "HEARTH_CACHE": cache, "PATH": f"{self.folder}/bin:{os.environ['PATH']}",
            "HEARTH_TRUST_PASSPHRASE": "a passphrase of the documents", "LC_ALL": "C.UTF-8", "TERM": "xterm-256color", "no_proxy": "127.0.0.1"}
        self.running, self.slow, self.address = [], None, ""

    def run(self, command, typed=None):
        """Runs a command as a shell that keeps its variables; returns its status and what it printed."""
        variables = f"{self.folder}/variables"
        script = f'set -o pipefail; cd "{self.files}"; [ ! -f "{variables}" ] || . "{variables}"; {command}\nstatus=$?; export -p > "{variables}"; exit $status'
        words = ["bash", "-c", script]
        if typed is not None:
            words = [TYPE, *words]
        process = subprocess.Popen(words, env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   text=True, start_new_session=True)
        try:
            return_text = process.communicate(typed or "", timeout=LIMIT)[0]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return 124, f"it did not end within {LIMIT} s\n" + (process.communicate()[0] or "")
        return process.returncode, return_text

    def serve(self, command, keeps_input=False):
        """Starts what serves, and returns the address that it prints."""
        process = subprocess.Popen(["bash", "-c", f"exec {command}"], cwd=self.files, env=self.environment, text=True, start_new_session=True,
                                   stdin=subprocess.PIPE if keeps_input else subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=open(f"{self.folder}/serves", "a"))
        self.running.append(process)
        return process.stdout.readline().strip()

    def must(self, command):
        status, text = self.run(command)
        if status != 0:
            sys.exit(f"documents: {command} ended with {status}:\n{text}")

    def publish(self, file, family, version):
        self.must(f"hearth publish {file} --family {family} --version {version} --variant q4_k_m --to {self.folder}/origin")

    def fill(self):
        """The files that the documents name."""
        tiny, default = os.environ["HEARTH_TINY_MODELS"], os.environ["HEARTH_DEFAULT_MODEL"]
        for name in ("my-model-v1.0.0-q4_k_m.gguf", "my-model-v1.1.0-q4_k_m.gguf", "my-eyes-v1.0.0-q4_k_m.gguf", "my-model.gguf", "weights.gguf",
                     "lupus-diary-v1.0.0-q4_k_m.gguf"):
            shutil.copy(f"{tiny}/plain.gguf", f"{self.files}/{name}")
        shutil.copy(f"{tiny}/projector.gguf", f"{self.files}/mmproj.gguf")
        hanzi = f"{ROOT}/models/hearth-hanzi"
        for name in os.listdir(hanzi):
            shutil.copy(f"{hanzi}/{name}", self.files)
        for name in ("hanzi.onnx", "hanzi-v1.0.0.onnx"):
            shutil.copy(f"{hanzi}/model.onnx", f"{self.files}/{name}")
        for name in ("character.png", "page.png", "page.tiff", "picture.jpg", "photo.jpg"):
            shutil.copy(f"{hanzi}/canary.png", f"{self.files}/{name}")
        self.must(f"hearth publish {default} --family {FAMILY} --version 1.0.0 --variant q4_1 --to {self.folder}/origin")
        for family in ("lupus-diary", "my-model"):
            self.publish("my-model.gguf", family, "1.0.0")
        self.must(f"hearth publish hanzi-v1.0.0.onnx classifier.json classes.txt canary.png --to {self.folder}/origin")
        self.address = self.serve(f"hearth host {self.folder}/origin --port 0")
        self.environment["HEARTH_ORIGIN"] = self.address
        self.environment["HF_ENDPOINT"] = self.serve(f"python3 {ROOT}/scripts/documents/hub.py {default}")

    def prepare(self, what):
        if what.startswith("publish"):
            self.publish("my-model.gguf", *what.split()[1:])
        elif what == "pull my-model slowly":
            # Large, and with other bytes than those that are installed.
            with open(os.environ["HEARTH_DEFAULT_MODEL"], "rb") as file:
                weights = bytearray(file.read())
            for position in range(8 << 20, len(weights), 4096):
                weights[position] ^= 1
            with open(f"{self.files}/large.gguf", "wb") as file:
                file.write(weights)
            self.publish("large.gguf", "my-model", "1.2.0")
            self.running.append(subprocess.Popen(["hearth", "pull", "my-model", "--limit-rate", "1M", "--refresh"], env=self.environment,
                                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True))
            self.must("for _ in $(seq 100); do hearth transfers list | grep -q my-model && exit 0; sleep 0.1; done > /dev/null; exit 1")
        elif what == "start the cloud":
            address = self.serve(f"python3 {ROOT}/scripts/cloud/stand_in.py", keeps_input=True)
            self.environment["GEMINI_API_KEY"] = "stand-in-key"
            self.must(f"hearth config set cloud.kind gemini; hearth config set cloud.url {address}")
        elif what == "make keys":
            self.must("rm -rf origin; for key in a b c; do hearth trust key $key.key > $key.pub; done")
        elif what == "start the server":
            self.serve("hearth serve")
        else:
            self.must(what if what.startswith("hearth ") else f"hearth {what}")

    def here(self, command):
        """The command with the addresses and folders that there are here."""
        command = re.sub(r"https://models\.example\.(org|com)/models\.json", self.address, command)
        command = re.sub(r"http://127\.0\.0\.1:PORT/models\.json", self.address, command)
        command = command.replace("/home/anna/", f"{self.environment['HOME']}/")
        command = re.sub(r"=…", "=stand-in-key", command)
        return re.sub(r"^make ", f"make --no-print-directory -C {ROOT} ", command)

    def end(self):
        self.run("hearth stop")
        for process in self.running:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)
                process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def is_shown(shown, printed):
    """Whether a command printed these lines and no others. `…` stands for any text, alone on a line for any lines."""
    pattern = "".join(
        r"(?:.*\n)*" if row.strip() == "…" else re.escape(row.strip()).replace("…", ".*") + r"\n" for row in shown)
    text = "".join(f"{row.strip()}\n" for row in re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", printed).split("\n") if row.strip())
    return re.fullmatch(pattern, text) is not None


def document(path, program, template):
    counts, wrong = collections.Counter(), []
    found_blocks = [block for block in blocks(path) if block.language == "console"]
    if not found_blocks:
        return counts, wrong
    world = World(program, template)
    try:
        world.fill()
        for line, command, shown in [row for block in found_blocks for row in commands(block)]:
            reason = found(NOT_RUN, path, command)
            if reason:
                counts["not run"] += 1
                print(f"not run  {path}:{line}: {command[:70]} ({reason})")
                continue
            for (document_path, beginning), what in BEFORE.items():
                if document_path == path and re.sub(r"^(\w+=\S+ )+", "", command).startswith(beginning):
                    world.prepare(what)
            counts["run"] += 1
            if re.search(SERVES, command):
                text = world.serve(world.here(command))
                status = 0 if text.startswith("http") else 1
            else:
                status, text = world.run(world.here(command), found(TYPED, path, command))
            expected = found(STATUS, path, command) or 0
            faults = [] if status == expected else [f"ended with {status}"]
            if shown:
                counts["compared"] += len(shown)
                faults += [] if is_shown(shown, text) else ["printed other lines than the document shows"]
            print(f"{'WRONG  ' if faults else 'ok     '}  {path}:{line}: {command[:100]}")
            if faults:
                wrong.append(f"{path}:{line}")
                print(f"         {', '.join(faults)}\n" + "".join(f"         {row}\n" for row in text.strip().split("\n")[-25:]))
    finally:
        world.end()
    return counts, wrong


def check(paths):
    """Looks without running: what the tables name has to be there, and a block has to say what it is. Commands stand in console blocks."""
    texts, wrong = [], []
    for path in paths:
        for block in blocks(path):
            if not block.language:
                wrong.append(f"{path}:{block.line - 1}: say what this block is: console, text, swift, …")
            if block.language in ("sh", "bash", "shell"):
                wrong.append(f"{path}:{block.line - 1}: commands stand in a console block, with `$ ` before each")
            texts += [(path, command) for _, command, _ in commands(block)] if block.language == "console" else []
    for pattern in [*NOT_RUN, *TYPED, *STATUS]:
        if not any(found({pattern: True}, path, command) for path, command in texts):
            wrong.append(f"scripts/documents/shell.py: no command of the documents is {pattern}")
    for path, beginning in BEFORE:
        if not any(path == other and re.sub(r"^(\w+=\S+ )+", "", command).startswith(beginning) for other, command in texts):
            wrong.append(f"scripts/documents/shell.py: {path} has no command {beginning}")
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


def main(arguments):
    os.chdir(ROOT)
    every = ["README.md", "CONTRIBUTING.md", *sorted(glob.glob("docs/*.md"))]
    if arguments == ["--check"]:
        return check(every)
    program, paths = os.path.realpath(arguments[0]), arguments[1:] or every
    counts, wrong = collections.Counter(), []
    with tempfile.TemporaryDirectory(prefix="hearth-documents-") as folder:
        environment = {**os.environ, "HEARTH_HOME": f"{folder}/home", "HEARTH_ORIGIN": f"{folder}/origin/models.json"}
        for words in (["publish", os.environ["HEARTH_DEFAULT_MODEL"], "--family", FAMILY, "--version", "1.0.0", "--variant", "q4_1", "--to", f"{folder}/origin"],
                      ["pull", FAMILY]):
            subprocess.run([program, "-q", *words], check=True, env=environment, stdout=subprocess.DEVNULL)
        for path in paths:
            more, bad = document(path, program, f"{folder}/home")
            counts += more
            wrong += bad
    print(f"documents: {counts['run']} commands run, {counts['not run']} not run, {counts['compared']} lines compared, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
