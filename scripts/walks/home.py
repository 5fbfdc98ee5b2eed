"""A home of the built program for one walk, and the server in it: with no model, with one, or with two and none chosen."""
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import urllib.request

HEARTH = os.path.abspath(os.environ.get("HEARTH_BINARY", ".build/release/hearth"))
CACHE = os.environ.get("HEARTH_CACHE", os.path.expanduser("~/.cache/hearth"))
MODEL = os.environ.get("PAGE_MODEL", os.path.join(CACHE, "models/SmolLM2-135M-Instruct.Q4_1.gguf"))
TEMPLATES = tempfile.mkdtemp(prefix="hearth-walk-templates-")


def environment(home, **more):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HEARTH_") or name in ("HEARTH_CACHE", "HEARTH_PAGE")}
    # Nothing outside of this machine is asked, and no desktop session of this machine.
    kept.pop("DBUS_SESSION_BUS_ADDRESS", None)
    return {**kept, "HEARTH_HOME": home, "HEARTH_NETWORK": "unmetered", "NO_PROXY": "*", "TZ": "Europe/Berlin", **more}


def run(home, *words, check=True, timeout=180, **more):
    done = subprocess.run([HEARTH, *words], env=environment(home, **more), capture_output=True, text=True, timeout=timeout, stdin=subprocess.DEVNULL)
    assert not check or done.returncode == 0, f"hearth {' '.join(words)}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done


templates = {}
lock = threading.Lock()


def template(models):
    """A home with so many models, made once."""
    with lock:
        if models not in templates:
            home = os.path.join(TEMPLATES, f"{models}")
            os.makedirs(home)
            for name in ("smollm2", "second")[:models]:
                public, file = os.path.join(TEMPLATES, f"public-{models}-{name}"), os.path.join(TEMPLATES, f"{name}-v1.0.0-q4_1.gguf")
                os.makedirs(public)
                shutil.copy(MODEL, file)
                run(home, "publish", file, "--to", public, "--name", f"Walk {name}", "--license", "apache-2.0")
                run(home, "pull", name, HEARTH_ORIGIN=os.path.join(public, "models.json"))
                os.remove(file)
                shutil.rmtree(public)
            templates[models] = home
        return templates[models]


class Home:
    """`hearth serve` in a home of its own; `settings` are set before it starts, `more` are variables."""

    def __init__(self, models=1, settings=(), arguments=(), more=None):
        self.folder = tempfile.mkdtemp(prefix="hearth-walk-")
        self.home = os.path.join(self.folder, "home")
        self.process, self.port, self.arguments, self.more = None, 0, list(arguments), dict(more or {})
        if models:
            shutil.copytree(template(models), self.home, symlinks=True)
        for key, value in dict(settings).items():
            self.run("config", "set", key, value)

    def run(self, *words, **options):
        return run(self.home, *words, **{**self.more, **options})

    def start(self):
        """Starts the server and returns an address that signs a browser in."""
        log = open(os.path.join(self.folder, "serve.log"), "a+")
        position = log.tell()
        self.process = subprocess.Popen(
            [HEARTH, "serve", "--port", str(self.port), *self.arguments], env=environment(self.home, **self.more), stdout=log, stderr=log,
            stdin=subprocess.DEVNULL, start_new_session=True)
        for _ in range(600):
            time.sleep(0.05)
            log.seek(position)
            text = log.read()
            if found := re.search(r"http://[\w.:\[\]-]+?:(\d+)", text):
                self.port = int(found[1])
                return self.address()
            assert self.process.poll() is None, text
        raise AssertionError(f"no address: {text}")

    @property
    def base(self):
        return f"http://127.0.0.1:{self.port}"

    @property
    def log(self):
        with open(os.path.join(self.folder, "serve.log")) as file:
            return file.read()

    def address(self):
        """Asked again, a server that runs prints an address with a new code."""
        done = self.run("serve", "--detach", timeout=60)
        return re.search(r"http://127\.0\.0\.1:\d+\S*open\?code=\S+", done.stdout + done.stderr)[0]

    def key(self, *scopes):
        """A key for the calls of a program."""
        return json.loads(self.run("keys", "create", "walk", *[word for scope in scopes or ("admin",) for word in ("--scope", scope)], "--format", "json").stdout)["key"]

    def kill(self, how=signal.SIGKILL):
        self.process.send_signal(how)
        self.process.wait(timeout=30)

    def end(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                self.process.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


def forget_templates():
    shutil.rmtree(TEMPLATES, ignore_errors=True)
