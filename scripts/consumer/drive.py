#!/usr/bin/env python3
"""Runs the sample apps as people would: a conversation, a download, an action, a client of OpenAI, a publication.

    scripts/consumer/drive.py BINARIES MODEL.GGUF WORK [WORD…]     the words begin each command, as of another user

Uses the openai client, and a bucket of rclone or moto, as Python's path and PATH have them.
"""
import hashlib
import json
import os
import subprocess
import sys
import threading
import urllib.request
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../publish"))
binaries, model, work, *words = sys.argv[1:]
FAMILY, QUESTION = "smollm2-135m-instruct", "What is the capital of France?"
failed = []


def report(name, good, text):
    print(f"{'ok   ' if good else 'WRONG'} {name}: {text.strip()[-300:]}", flush=True)
    if not good:
        failed.append(name)


def command(app, *arguments, home=None, **variables):
    """A command of an app with a home of its own."""
    home = home or f"{work}/home-{app}"
    return [*words, f"HEARTH_HOME={home}", *(f"{key}={value}" for key, value in variables.items()), f"{binaries}/{app}", *arguments]


def run(app, *arguments, typed="", **more):
    result = subprocess.run(command(app, *arguments, **more), input=typed, capture_output=True, text=True, timeout=300)
    return result.returncode == 0, result.stdout + ("" if result.returncode == 0 else result.stderr[-2000:])


def serve(folder):
    """The address of a plain web server of a folder."""
    class Files(SimpleHTTPRequestHandler):
        def __init__(self, *given):
            super().__init__(*given, directory=folder)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Files)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}"


def origin(folder):
    """A folder with the model and the models.json that a publisher writes by hand."""
    os.makedirs(folder)
    name = f"{FAMILY}-v1.0.0-q4_1.gguf"
    os.link(model, f"{folder}/{name}")
    with open(model, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    with open(f"{folder}/models.json", "w") as file:
        json.dump({"schemaVersion": 1, "currentVersion": "1.0.0", "models": [{
            "id": FAMILY, "version": "1.0.0", "filename": name, "sizeBytes": os.path.getsize(model), "sha256": digest,
            "minAppVersion": "1.0.0", "downloadUrl": name}]}, file)
    return folder


def chat():
    good, text = run("Chat", model, typed=f"{QUESTION}\nAnd of Germany?\n")
    report("local chat", good and "Paris" in text and len(text.splitlines()) >= 2, text)


def picker():
    good, text = run("Picker", f"{serve(origin(f'{work}/origin'))}/models.json", FAMILY)
    report("picker with download", good and "Paris" in text, text)


def assistant():
    stand_in = subprocess.Popen([sys.executable, "scripts/cloud/scripted.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    os.makedirs(f"{work}/assistant", mode=0o777)
    os.chmod(f"{work}/assistant", 0o777)
    cloud = {"kind": "openai", "url": stand_in.stdout.readline().strip(), "model": "stand-in"}
    with open(f"{work}/assistant/config.json", "w") as file:
        json.dump({"cloud": cloud}, file)
    os.chmod(f"{work}/assistant/config.json", 0o666)
    good, text = run("Assistant", "Make an event: the dentist", home=f"{work}/assistant", OPENAI_API_KEY="stand-in-key")
    stand_in.stdin.close()
    report("assistant with an own calendar", good and "in the calendar: Dentist" in text, text)


def server():
    import socket
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(command("Server", model, str(port)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        for _ in range(300):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/ready", timeout=2).close()
                break
            except OSError:
                if process.poll() is not None:
                    break
                threading.Event().wait(0.2)
        import openai
        client = openai.OpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key="none")
        name = client.models.list().data[0].id
        stream = client.chat.completions.create(model=name, temperature=0, max_tokens=60, stream=True,
                                                messages=[{"role": "system", "content": "Answer in one sentence."},
                                                          {"role": "user", "content": QUESTION}])
        text = "".join(piece.choices[0].delta.content or "" for piece in stream if piece.choices)
        report("embedded server and the openai client", "Paris" in text, text)
    except Exception as error:
        report("embedded server and the openai client", False, f"{error!r}")
    finally:
        process.terminate()
        process.wait(30)


def publish():
    import bucket
    store = bucket.Server("rclone", work)
    named = f"{work}/{FAMILY}-v1.0.0-q4_1.gguf"
    os.link(model, named)
    try:
        good, text = run("Publish", store.endpoint, "models", named, AWS_ACCESS_KEY_ID=bucket.KEY, AWS_SECRET_ACCESS_KEY=bucket.SECRET)
        report("publishing to a bucket", good, text)
        good, text = run("Picker", f"{store.public.removesuffix('/' + bucket.PREFIX)}/models.json", FAMILY, home=f"{work}/home-device")
        report("a device that downloads from the bucket", good and "Paris" in text, text)
    finally:
        store.stop()


for app in (chat, picker, assistant, server, publish):
    if os.path.exists(f"{binaries}/{app.__name__.capitalize()}"):
        app()
print(f"consumer: {len(failed)} wrong")
sys.exit(1 if failed else 0)
