#!/usr/bin/env python3
"""Plays the service of a system that downloads for apps: daemon.py FOLDER [FAULT…].

It listens at FOLDER/socket and speaks lines of JSON (Tests/BackgroundProbe/DaemonSession.swift). Its tasks and their bytes lie in
FOLDER, so that it goes on where it was killed; FOLDER/orders.jsonl has a line for each order that came, ended, was cancelled or lost.
The end of a task is reported until the app has taken it, also to an app that starts later.

Faults: twice (reports are sent two times), order (reports are sent in any order), lose (one task in eight is forgotten), foreign
(resume data of another file), vanish (one file in eight is removed before the app moves it), broken (one connection in four ends
early: the app gets resume data). SEED in the environment makes them the same in each run.
"""
import asyncio
import base64
import json
import os
import random
import sys
import urllib.parse

CONNECTIONS = 4
STEP = 16 << 10
CANNOT_RESUME = -3006
LOST_CONNECTION = -1005


class Daemon:
    def __init__(self, folder, faults):
        self.folder, self.faults = folder, set(faults)
        self.random = random.Random(os.environ.get("SEED", "1"))
        self.tasks = {}  # the number of a task: its record
        self.running = {}
        self.app = None
        self.places = asyncio.Semaphore(CONNECTIONS)
        os.makedirs(folder, exist_ok=True)
        self.log = open(f"{folder}/orders.jsonl", "a", buffering=1)
        for name in os.listdir(folder):
            if name.startswith("task-"):
                with open(f"{folder}/{name}") as file:
                    record = json.load(file)
                self.tasks[record["number"]] = record
        self.last = max(self.tasks, default=0)
        counted = f"{folder}/count"
        if os.path.exists(counted):
            with open(counted) as file:
                self.last = max(self.last, int(file.read() or 0))

    # Records

    def save(self, record):
        path = f"{self.folder}/task-{record['number']}"
        with open(path.replace("task-", "new-"), "w") as file:
            json.dump(record, file)
        os.rename(file.name, path)

    def forget(self, record):
        self.tasks.pop(record["number"], None)
        for name in ("task", "bytes"):
            try:
                os.remove(f"{self.folder}/{name}-{record['number']}")
            except FileNotFoundError:
                pass

    def note(self, event, record, **more):
        order = json.loads(record["order"])
        self.log.write(json.dumps({
            "event": event, "task": record["number"], "id": order["id"], "sha256": order["sha256"], "start": order["start"],
            "end": order["end"], **more}) + "\n")

    def bytes_of(self, record):
        return f"{self.folder}/bytes-{record['number']}"

    def chance(self, fault, of):
        return fault in self.faults and self.random.randrange(of) == 0

    # The app

    async def serve(self, reader, writer):
        self.app = writer
        # What ended while no app listened.
        ended = [record for record in self.tasks.values() if record["state"] != "running"]
        if "order" in self.faults:
            self.random.shuffle(ended)
        for record in ended:
            self.report(record)
        self.send({"delivered": True})
        try:
            while line := await reader.readline():
                self.command(json.loads(line))
        except (ConnectionError, json.JSONDecodeError):
            pass
        if self.app is writer:
            self.app = None
        writer.close()

    def send(self, message):
        if self.app and not self.app.is_closing():
            self.app.write(json.dumps(message).encode() + b"\n")

    def command(self, message):
        if "begin" in message:
            self.begin(message["begin"], message.get("resume"))
        elif "cancel" in message:
            for record in list(self.tasks.values()):
                if json.loads(record["order"])["id"] == message["cancel"]:
                    self.note("cancelled", record)
                    self.stop(record)
        elif "list" in message:
            self.send({"tasks": [record["order"] for record in self.tasks.values()]})
        elif "took" in message and message["took"] in self.tasks:
            self.forget(self.tasks[message["took"]])

    def begin(self, order, resume):
        self.last += 1
        with open(f"{self.folder}/count", "w") as file:
            file.write(str(self.last))
        record = {"number": self.last, "order": order, "state": "running", "status": 0}
        kept = self.kept(order, resume)
        if resume and kept is None:
            record.update(state="failed", code=CANNOT_RESUME)
        elif kept:
            os.rename(kept, self.bytes_of(record))
        self.tasks[record["number"]] = record
        self.save(record)
        self.note("ordered", record, resumed=bool(kept))
        if record["state"] == "running":
            self.start(record)
        else:
            self.end(record)

    def kept(self, order, resume):
        """The bytes that resume data stand for; None if they are of another order, or gone."""
        if not resume:
            return None
        try:
            data = json.loads(base64.b64decode(resume))
            wanted = json.loads(order)
            fits = all(data[key] == wanted[key] for key in ("url", "start", "end"))
            return data["bytes"] if fits and os.path.exists(data["bytes"]) else None
        except (ValueError, KeyError):
            return None

    def report(self, record):
        message = {"report": record["number"]}
        if record["state"] == "landed":
            path = self.bytes_of(record)
            if self.chance("vanish", 8) and os.path.exists(path):
                os.remove(path)
            message.update(landed=record["order"], status=record["status"], file=path)
        else:
            message.update(failed=record["order"], code=record["code"], resume=record.get("resume"))
        for _ in range(2 if "twice" in self.faults else 1):
            self.send(message)

    # Tasks

    def start(self, record):
        self.running[record["number"]] = asyncio.get_running_loop().create_task(self.run(record))

    def stop(self, record):
        if task := self.running.pop(record["number"], None):
            task.cancel()
        self.forget(record)

    def end(self, record):
        self.running.pop(record["number"], None)
        self.save(record)
        self.note(record["state"], record)
        self.report(record)

    async def run(self, record):
        if self.chance("lose", 8):
            self.note("lost", record)
            return self.forget(record)
        while True:
            try:
                async with self.places:
                    await self.fetch(record)
                return
            except (OSError, asyncio.IncompleteReadError):
                await asyncio.sleep(0.05)

    async def fetch(self, record):
        order = json.loads(record["order"])
        address = urllib.parse.urlsplit(order["url"])
        path = self.bytes_of(record)
        have = os.path.getsize(path) if os.path.exists(path) else 0
        first, last = order["start"] + have, order["end"] - 1
        isBroken = self.chance("broken", 4)
        if first <= last:
            reader, writer = await asyncio.open_connection(address.hostname, address.port, limit=STEP)
            try:
                writer.write(
                    f"GET {address.path} HTTP/1.1\r\nHost: {address.netloc}\r\nRange: bytes={first}-{last}\r\nConnection: close\r\n\r\n"
                    .encode())
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                record["status"] = int(head.split(" ", 2)[1])
                with open(path, "ab") as file:
                    while first <= last:
                        piece = await reader.read(min(STEP, last + 1 - first))
                        if not piece:
                            raise ConnectionResetError
                        os.write(file.fileno(), piece)
                        first += len(piece)
                        if isBroken and first - order["start"] > (order["end"] - order["start"]) // 2:
                            return self.fail(record)
            finally:
                writer.close()
        elif not record["status"]:
            record["status"] = 206
        record["state"] = "landed"
        self.end(record)

    def fail(self, record):
        """The connection is lost for good: the bytes are kept under another name, which the resume data tell."""
        order = json.loads(record["order"])
        kept = f"{self.folder}/kept-{record['number']}"
        os.rename(self.bytes_of(record), kept)
        data = {"url": order["url"], "start": order["start"], "end": order["end"], "bytes": kept}
        if self.chance("foreign", 1):
            data["url"] += ".other"
        record.update(state="failed", code=LOST_CONNECTION, resume=base64.b64encode(json.dumps(data).encode()).decode())
        self.end(record)

    async def listen(self):
        path = f"{self.folder}/socket"
        if os.path.exists(path):
            os.remove(path)
        for record in list(self.tasks.values()):
            if record["state"] == "running":
                self.start(record)
        server = await asyncio.start_unix_server(self.serve, path, limit=1 << 20)
        async with server:
            await server.serve_forever()


async def main():
    await Daemon(sys.argv[1], sys.argv[2:]).listen()


if __name__ == "__main__":
    asyncio.run(main())
