"""Rings of the scripted server: begun by a check, answered by the pages."""


class Rings:
    def __init__(self, world):
        self.world = world
        self.open, self.missed, self.played, self.answers = [], 0, [], []

    def begin(self, id, title, due, **rest):
        """Lets a reminder ring in all open pages."""
        ring = {"id": id, "store": "reminders", "record": f"record-{id}", "title": title, "due": due, "rings": due, "isLate": False, **rest}
        with self.world.lock:
            self.open.append(ring)
            self.world.emit("ring", {"ring": ring})

    def miss(self, count):
        with self.world.lock:
            self.missed = count
            self.world.emit("rings-missed", {"missed": count})

    def call(self, method, rest, body, values):
        from world import Refusal
        if method == "GET":
            return 200, {"rings": self.open, "missed": self.missed, "event": self.world.event}
        if method == "DELETE":
            self.missed = 0
            self.world.emit("rings-missed", {"missed": 0})
            return 200, {}
        id = rest[0]
        if not any(ring["id"] == id for ring in self.open):
            raise Refusal(404, "no-such-record", "no ring with this id waits for an answer")
        if rest[-1] == "play":
            is_first = id not in self.played
            self.played.append(id)
            return 200, {"isFirst": is_first}
        self.answers.append((id, body))
        self.open = [ring for ring in self.open if ring["id"] != id]
        self.world.emit("ring-ended", {"id": id})
        return 200, {}
