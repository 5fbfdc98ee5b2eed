"""The state of the scripted server: what it lists, keeps and answers."""
import datetime
import json
import threading
import uuid

import chats
import models
import records
import rings


class Refusal(Exception):
    def __init__(self, status, code, message, remedy=None, **more):
        super().__init__(message)
        self.status = status
        self.error = {"code": code, "message": message, **({"remedy": remedy} if remedy else {}), **more}


def now():
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class World:
    """All calls go through `call`; all changes emit events."""

    def __init__(self):
        self.lock = threading.RLock()
        self.changed = threading.Condition(self.lock)
        self.epoch, self.number, self.history = uuid.uuid4().hex[:8], 0, []
        self.models = models.Models(self)
        self.chats = chats.Chats(self)
        self.records = records.Records(self)
        self.rings = rings.Rings(self)
        self.force_local = False
        # Whether the cloud may answer.
        self.has_cloud = False
        self.metered = False
        # The seconds between a change and its reply; its event goes out before.
        self.reply_delay = 0
        self.settings = {entry["key"]: dict(entry) for entry in SETTINGS}
        self.keys = []
        # Uploaded documents by id; whether the server goes away during an upload, and what it says instead of the facts.
        self.documents, self.cuts_uploads, self.upload_refusal, self.upload_facts = {}, False, None, {}
        self.codes = 0
        self.reach = {"address": "http://192.168.1.5:4327", "others": [], "isEncrypted": False}
        self.devices = [
            {"id": "0123456789ab", "agent": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36", "created": now(), "seen": now(), "isThis": True},
            {"id": "ba9876543210", "agent": "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.0 Mobile/15E148 Safari/604.1", "created": None, "seen": now(), "isThis": False},
        ]
        # What typed words say, by the words; the search that is set up.
        self.drafts, self.search = {}, None
        # The reply to a picture, whether it waits, and what was asked.
        self.reading, self.is_reading_slow, self.asked, self.offer = None, False, None, None

    # Events

    def emit(self, name, data):
        with self.lock:
            self.number += 1
            self.history.append((self.number, name, json.dumps(data)))
            del self.history[:-20000]
            self.changed.notify_all()

    def wait_after(self, position):
        with self.lock:
            if self.number <= position:
                self.changed.wait(0.25)
            if not self.history:
                return []
            first = self.history[0][0]
            return self.history[max(0, position + 1 - first):]

    @property
    def event(self):
        return f"{self.epoch}-{self.number}"

    def restarted(self):
        with self.lock:
            self.epoch, self.number, self.history = uuid.uuid4().hex[:8], 0, []
            self.models.restarted()
            self.chats.restarted()

    # Calls

    def call(self, method, parts, body, values):
        with self.lock:
            first, rest = parts[0], parts[1:]
            handler = getattr(self, f"on_{first}", None)
            if handler is None:
                raise Refusal(404, "not-found", f"There is no {first}.")
            return handler(method, rest, body, values)

    def on_state(self, *_):
        library = self.models.library()
        usable = [row for row in self.models.rows if row["isUsable"]]
        moving = [row for row in self.models.rows if row["state"] == "downloading"]
        step = "ready" if library["canAnswer"] or self.has_cloud else "loading" if self.models.is_loading else "downloading" if moving else "choose-model"
        return 200, {
            "version": "0.1.0", "home": "/home/anna/.local/share/hearth",
            "firstRun": {"step": step, "hasModel": bool(usable), "hasChat": bool(self.chats.all), "recommended": self.models.recommended},
            "library": library, "activation": self.models.activation(), "route": self.route(),
            "memory": {"deviceBytes": 16_777_216_000, "processBytes": 2_400_000_000, "diskFreeBytes": 182_000_000_000},
            "network": {"isOnline": True, "isMetered": self.metered}, "waiting": 0, "canAnswer": library["canAnswer"] or self.has_cloud, "event": self.event,
            **({"search": self.search} if self.search else {}),
        }

    def route(self):
        return {
            "badge": "Cloud" if self.has_cloud else "Local", "source": "cloud" if self.has_cloud else "local", "reason": "force-local" if self.force_local else "tier",
            "reasonText": "the tier free has no cloud", "forceLocal": self.force_local,
            "cloud": {"model": "gemini-2.5-flash", "kind": "gemini", "shares": "text", "hasOwnKey": True},
            "tier": "free", "canUseCloud": False, "credits": {"left": 42, "of": 60},
        }

    def on_route(self, method, rest, body, values):
        if method == "PUT":
            self.force_local = body["forceLocal"]
            self.emit("route", self.route())
        return 200, self.route()

    def on_models(self, *call):
        return self.models.call(*call)

    def on_activation(self, *_):
        return 200, self.models.activation()

    def on_transfers(self, method, rest, body, values):
        return 200, {"transfers": [], "event": self.event} if method == "GET" else {}

    def on_rings(self, *call):
        return self.rings.call(*call)

    def on_chats(self, *call):
        return self.chats.call(*call)

    def on_pictures(self, method, rest, body, values):
        if method == "DELETE":
            return 200, {}
        return 201, {"id": uuid.uuid4().hex, "width": 32, "height": 32, "type": "image/png", "bytes": len(body)}

    def on_documents(self, method, rest, body, values):
        if method == "DELETE":
            self.documents.pop(rest[0], None)
            return 200, {}
        if method == "GET":
            return 200, self.documents[rest[0]]
        if self.upload_refusal:
            raise Refusal(*self.upload_refusal)
        name = values.get("name", "file")
        is_pdf = body[:5] == b"%PDF-"
        read = int(values.get("pages", 200))
        facts = {"id": uuid.uuid4().hex, "name": name, "kind": "pdf" if is_pdf else "text", "bytes": len(body), "characters": len(body), "pages": None, "pagesRead": None,
                 "isCut": False, "isScanned": False, "pictures": 0, "tokens": len(body) // 3, "isEstimated": True, **self.upload_facts}
        if facts["pages"]:
            facts["pagesRead"] = min(read, facts["pages"])
        self.documents[facts["id"]] = {**facts, "text": body.decode("utf-8", "replace")}
        return 201, facts

    def on_classify(self, method, rest, body, values):
        self.asked = values
        while self.is_reading_slow:
            self.changed.wait(0.05)
        # As far as a picture that was cut off has no end.
        if not isinstance(body, bytes) or not (body.startswith(b"\x89PNG") and body.endswith(b"IEND\xaeB`\x82")):
            raise Refusal(422, "cannot-read-picture", "the picture cannot be read: it is damaged", "Check the file, or save the picture anew.")
        if self.offer is None:
            return 200, self.reading
        if int(values.get("cloud", 0)) < self.offer["requests"]:
            return 200, {**self.reading, "offer": self.offer}
        return 200, {**self.reading, "characters": [{**one, "verdict": "verified"} if one["verdict"] == "unverified" else one for one in self.reading["characters"]]}

    def on_search(self, method, rest, body, values):
        if self.search is None:
            raise Refusal(409, "search-off", "no search is set up")
        return 200, {"provider": "search.example.org", "results": [{"title": f"About {body['query']}", "excerpt": "The first <b>result</b>.", "url": "https://example.org/a"}, {"title": "javascript", "excerpt": "No link.", "url": "javascript:window.hurt=1"}]}

    def on_stores(self, *call):
        return self.records.call(*call)

    def on_actions(self, method, rest, body, values):
        if method == "POST":
            return 200, {"card": self.records.undo(rest[0])}
        return 200, {"actions": self.records.journal[::-1], "event": self.event}

    def on_approvals(self, *_):
        return 200, {"cards": [], "event": self.event}

    def on_settings(self, method, rest, body, values):
        if method == "PATCH":
            for key, value in body.items():
                setting = self.settings[key]
                if setting["type"] == "integer" and value is not None and not str(value).lstrip("-").isdigit():
                    raise Refusal(422, "invalid-configuration", f"{key} must be a whole number.")
                setting["value"] = value
            self.emit("settings", {"keys": list(body)})
            return 200, {"settings": [self.settings[key] for key in body], "event": self.event}
        return 200, {"settings": list(self.settings.values()), "event": self.event}

    def on_keys(self, method, rest, body, values):
        if method == "POST":
            self.keys.append({"id": uuid.uuid4().hex, "name": body["name"], "scopes": body["scopes"], "created": now()})
            return 201, {"id": self.keys[-1]["id"], "key": "hearth-" + uuid.uuid4().hex}
        if method == "DELETE":
            self.keys = [key for key in self.keys if key["id"] != rest[0]]
            return 200, {}
        return 200, {"keys": self.keys}

    def on_devices(self, method, rest, body, values):
        if method == "POST":
            self.codes += 1
            return 201, {"address": "http://192.168.1.5:4327", "code": f"7KQM-4T2{self.codes}", "url": f"http://192.168.1.5:4327/hearth/open?code=7KQM-4T2{self.codes}",
                         "others": [], "hasNetwork": True, "isEncrypted": False, "seconds": 600, "qr": ["101", "010", "111"]}
        if method == "DELETE":
            self.devices = [device for device in self.devices if device["id"] != rest[0]]
            self.emit("devices", {})
            return 200, {}
        return 200, {"devices": self.devices, "reach": self.reach, "event": self.event}

    def on_data(self, method, rest, body, values):
        if rest[1:] == ["export"]:
            return 200, {"format": "hearth-conversations", "version": 1, "conversations": list(self.chats.all.values())}
        if rest[1:] == ["import"]:
            return 200, self.chats.imported(body)
        self.chats.erase()
        return 200, {}


def setting(key, type, **rest):
    return {"key": key, "type": type, "summary": "", "reopensModels": False, **rest}


SETTINGS = [
    setting("defaultModel", "text"), setting("visionModel", "text"),
    setting("library.models", "list", value="hf:bartowski/Llama-3.2-3B-Instruct-GGUF,hf:mlx-community/Llama-3.2-11B-Vision-Instruct-4bit"),
    setting("contextLength", "integer", range={"minimum": 512, "maximum": 1_048_576}, unit="tokens", reopensModels=True),
    setting("cacheType", "choice", choices=["f16", "q8_0"], default="f16", reopensModels=True),
    setting("threads", "integer", range={"minimum": 1, "maximum": 64}),
    setting("temperature", "number", range={"minimum": 0, "maximum": 2}, default="0.35"),
    setting("ignoreMemory", "boolean", default="false"),
    setting("network.metered", "choice", choices=["allow", "ask", "deny"], default="deny"),
    setting("routing.forceLocal", "boolean", default="false"),
    setting("cloud.kind", "choice", choices=["gemini", "claude", "openai"]), setting("cloud.url", "address"),
    setting("entitlement.tier", "text", default="free"),
    *[setting(f"approval.{tag}", "choice", choices=["ask", "always", "never"], default="ask")
      for tag in ("CALENDAR_ACTION", "REMINDER_ACTION", "NOTE_ACTION", "HABIT_ACTION")],
    setting("search.kind", "choice", choices=["own", "searxng"]), setting("search.url", "address"),
    *[setting(f"stores.{store}", "choice", choices=["on", "off"], default="on") for store in ("calendar", "notes", "contacts")],
    setting("chat.showThinking", "boolean", default="true"), setting("serve.port", "integer", range={"minimum": 1, "maximum": 65535}, default="4327"),
    setting("stateFolder", "path"),
]
