"""Conversations of the scripted server. The words of a question choose the answer; tokens come at a chosen rate."""
import json
import threading
import time
import uuid

HOSTILE = """# <script>window.hurt=1</script>

<img src=x onerror="window.hurt=1"> <svg onload="window.hurt=1"></svg> <style>body{display:none}</style>

[click](javascript:window.hurt=1) [data](data:text/html,<script>window.hurt=1</script>) [home](/hearth/v1/keys)

![out](https://outside.invalid/pixel.png) ![svg](data:image/svg+xml,<svg/onload=window.hurt=1>)

[bank.example](https://xn--bnk-0ra.example/login) and [https://good.example](https://evil.example/)
[https:///good.example](https://evil.example/good.example) [/good.example](https:/\\\\evil.example/good.example)
[good.example](https://good.example@evil.example/) [good。example](https://evil。example/) [help@good.example](mailto:help@good.example?bcc=me@evil.example)

Name: \u202egnp.exe\u202c end, \u2066isolated\u2069

<div style="position:fixed;inset:0;background:red;z-index:99999">cover</div><iframe src="https://outside.invalid"></iframe>

<form action="https://outside.invalid"><input name=q><button>send</button></form> <a href="https://outside.invalid" onclick="window.hurt=1">x</a>

```<script>
window.hurt = 1 </code></pre><img src=x onerror=window.hurt=1>
```

| a | b |
| --- | --- |
| <img src=x onerror=window.hurt=1> | [x](vbscript:window.hurt=1) |
"""

CODE = """Here is a function:

```python
def greet(name: str) -> str:
    # Says hello.
    return f"Hello, {name}!"
```

It takes a *name* and returns a **greeting**. See [the manual](https://docs.python.org/3/).

1. Call it.
2. Print the result.

| Call | Result |
| --- | --- |
| `greet("Anna")` | Hello, Anna! |
"""

PLAIN = ("Two calm days, close to the water:\n\n**Saturday**\n\n- Morning: the short lake path, about two hours\n- Noon: bread, cheese and a long break\n"
         "- Evening: read, and go to bed early\n\n**Sunday**\n\n- The ridge in the morning, before it is warm\n- Home by three\n\nShall I put both hikes in your calendar?")


def long_answer(words):
    parts = []
    for index in range(words // 40):
        parts.append(f"Paragraph {index} has *some* words and a `value` that say little, yet it reads like an answer of a model with **weight** and rhythm, so that "
                     "the page has to lay out lines, parse marks and keep its place while more arrives.\n\n")
    return "".join(parts)


class Chats:
    def __init__(self, world):
        self.world = world
        self.all = {}
        self.messages = {}
        self.rate = 200.0
        self.stops = {}
        self.decisions = {}
        # Answers to exact questions, before those that words choose.
        self.script = {}
        self.settings = {}
        # The model of conversations that choose none; None without one. `end` ends the next answer: an ending.
        self.model, self.end = "llama-3.2-3b", None
        # Other members of the next card, and the values that were approved with a change.
        self.proposal, self.edited = {}, None

    def restarted(self):
        for id, chat in self.all.items():
            if chat["isAnswering"]:
                chat["isAnswering"] = False
                self.stops[id].set()
                self.messages[id][-1]["ending"] = {"code": "unfinished", "message": "The answer broke off.", "help": "continue"}
        for id in [id for id, chat in self.all.items() if chat["isPrivate"]]:
            del self.all[id]

    def erase(self):
        for id in list(self.all):
            self.world.emit("chat-removed", {"id": id})
        self.all.clear()

    def call(self, method, rest, body, values):
        if not rest:
            if method == "POST":
                chat = self.begin((body or {}).get("title", ""), (body or {}).get("isPrivate", False))
                self.settings[chat["id"]] = self.changed({}, (body or {}).get("settings"))
                return 201, {"chat": chat}
            return 200, self.listed(values)
        if rest[0] == "search":
            return 200, self.found(values)
        from world import Refusal
        if rest[0] == "prewarm":
            return 202, {}
        if rest[0] == "settings":
            settings = self.changed({}, (body or {}).get("settings"))
            return 200, {"settings": settings, "defaults": self.defaults(), "answering": self.answering(settings)}
        if rest[0] not in self.all:
            raise Refusal(404, "not-found", "The conversation does not exist.")
        id, action = rest[0], rest[1] if len(rest) > 1 else None
        if action is None:
            return self.whole(id, method, body)
        if action == "cards":
            return self.card(id, rest[2], rest[3] if len(rest) > 3 else "decide", body or {})
        if action == "messages" and method == "DELETE":
            return self.cut(id, rest[2])
        if action == "pictures":
            return 200, PIXEL
        if action == "documents":
            return 200, self.world.documents[rest[2]]["text"].encode()
        return getattr(self, "do_" + action.replace("-", "_"))(id, body or {})

    def imported(self, raw):
        """A file with a list of titles."""
        from world import Refusal
        try:
            titles = json.loads(raw)
        except ValueError:
            raise Refusal(422, "import-unreadable", "the file cannot be imported: it is cut off", "Export it again.") from None
        new = [title for title in titles if title and title not in [chat["title"] for chat in self.all.values()]]
        for title in new:
            self.begin(title)
        bad = [index + 1 for index, title in enumerate(titles) if not title]
        return {"imported": len(new), "updated": 0, "skipped": len(titles) - len(new) - len(bad), "refused": len(bad),
                "refusals": [{"number": number, "code": "import-name", "message": "no title"} for number in bad]}

    def listed(self, values):
        """A page of the list. The place in it is the id of the last conversation before."""
        kept = [chat for chat in self.all.values() if chat.get("archived", False) == (values.get("archived") == "true")
                and values.get("folder") in (None, chat.get("folder"))]
        kept.sort(key=lambda chat: (chat.get("pinned", False), chat["changed"]), reverse=True)
        page, after = self.page(kept, values, lambda chat: chat["id"])
        reply = {"chats": page, "next": after, "event": self.world.event}
        if "before" not in values:
            names = sorted({chat["folder"] for chat in self.all.values() if chat.get("folder") and not chat.get("archived")})
            reply["folders"] = [{"name": name, "count": sum(chat.get("folder") == name and not chat.get("archived") for chat in self.all.values())} for name in names]
            reply["archivedCount"] = sum(bool(chat.get("archived")) for chat in self.all.values())
        return reply

    @staticmethod
    def page(rows, values, key):
        limit = int(values.get("limit", 50))
        start = next((index + 1 for index, row in enumerate(rows) if key(row) == values["before"]), len(rows)) if "before" in values else 0
        page = rows[start:start + limit]
        return page, key(page[-1]) if start + limit < len(rows) else None

    def found(self, values):
        query, hits = values["q"].lower(), []
        for id, messages in self.messages.items():
            found = [message for message in messages if query in message["content"].lower()
                     and values.get("from", "") <= message["date"] < values.get("until", "9")]
            if found:
                hits.append({"chat": self.all[id], "message": found[-1]["id"], "excerpt": found[-1]["content"][:80], "date": found[-1]["date"], "count": len(found)})
        hits.sort(key=lambda hit: hit["date"], reverse=True)
        page, after = self.page(hits, values, lambda hit: hit["chat"]["id"])
        return {"hits": page, "next": after}

    def whole(self, id, method, body):
        if method == "DELETE":
            del self.all[id]
            self.world.emit("chat-removed", {"id": id})
            return 200, {}
        if method == "PATCH":
            if "settings" in body:
                self.settings[id] = self.changed(self.settings.get(id, {}), body.pop("settings"))
                self.world.emit("chat-settings", {"chat": id})
            if body:
                self.all[id].update(body, **({"folder": body["folder"] or None} if "folder" in body else {}))
                self.world.emit("chat", {"chat": self.all[id]})
            return 200, {"chat": self.all[id]}
        used = sum(len(message["content"]) for message in self.messages[id]) // 4
        return 200, {"chat": self.all[id], "messages": self.messages[id], "phase": None, "context": {"usedTokens": used, "length": 8192},
                     "settings": self.settings.get(id, {}), "defaults": self.defaults(), "answering": self.answering(self.settings.get(id, {})), "event": self.world.event}

    def changed(self, settings, changes):
        from world import Refusal
        settings = {**settings}
        for name, value in (changes or {}).items():
            if value is None or value == "":
                settings.pop(name, None)
                continue
            if name == "temperature" and not 0 <= value <= 5:
                raise Refusal(400, "bad-request", "`settings.temperature` must be a number from 0 to 5", field="settings.temperature")
            settings[name] = value
        return settings

    def defaults(self):
        return {"model": self.model, "modelName": None, "temperature": 0.35, "maximumNewTokens": None, "thinks": False, "forceLocal": False,
                "cloud": "gemini-2.5-flash" if self.world.has_cloud else None}

    def answering(self, settings):
        id = settings.get("model", self.model)
        if self.world.has_cloud and settings.get("route") != "local" and (not settings.get("model") or settings.get("route") == "cloud"):
            return {"name": "gemini-2.5-flash", "source": "cloud", "canThink": True, "canSee": True}
        return {"id": id, "name": id, "source": "local", "canThink": True, "canSee": True}

    def require_model(self, id):
        from world import Refusal
        usable = [row for row in self.world.models.rows if row["isUsable"] and row["role"] == "text"]
        if not self.settings.get(id, {}).get("model") and not self.model and len(usable) > 1:
            raise Refusal(409, "model-not-chosen", "several models can answer, and none is chosen",
                          field="settings.model", models=[{"id": row["id"], "name": row["name"]} for row in usable])

    def begin(self, title, is_private=False):
        from world import now
        id = uuid.uuid4().hex[:12]
        self.all[id] = {"id": id, "title": title, "created": now(), "changed": now(), "messageCount": 0, "isAnswering": False, "isPrivate": is_private}
        self.messages[id] = []
        self.world.emit("chat", {"chat": self.all[id]})
        return self.all[id]

    def message(self, id, role, content, **rest):
        from world import now
        messages = self.messages[id]
        made = {"id": uuid.uuid4().hex[:12], "role": role, "content": content, "isThinking": False, "thinkingContent": "", "images": [], "pictures": [], "attachments": [], "cards": [], "notices": [],
                "date": now(), "facts": None, "parent": messages[-1]["id"] if messages else None, "branch": {"index": 0, "ids": []}, **rest}
        messages.append(made)
        return made

    FACTS = {"model": "Llama 3.2 3B", "source": "local", "reason": "tier", "finish": "stop",
             "usage": {"promptTokens": 312, "cachedTokens": 240, "generatedTokens": 96, "thinkingTokens": 0},
             "timings": {"firstTokenSeconds": 0.31, "prefillTokensPerSecond": 180.0, "decodeTokensPerSecond": 23.4}}

    def do_messages(self, id, body):
        from world import Refusal
        if self.all[id]["isAnswering"]:
            raise Refusal(409, "busy", "The conversation is answering.")
        self.require_model(id)
        files = [self.world.documents[file] for file in body.get("documents", [])]
        question = self.message(id, "user", body["text"], attachments=[
            {**{key: file[key] for key in ("name", "kind", "bytes", "characters", "pages", "pagesRead", "isCut", "isScanned")}, "url": f"/hearth/v1/chats/{id}/documents/{file['id']}/0"} for file in files], pictures=[
            {"width": 32, "height": 32, "type": "image/png", "url": f"/hearth/v1/chats/{id}/pictures/0/{index}"} for index, _ in enumerate(body.get("pictures", []))])
        if not self.all[id]["title"]:
            self.all[id]["title"] = body["text"][:40]
        self.world.emit("message", {"chat": id, "message": question})
        return 202, {"chat": self.all[id], "question": question["id"], "answer": self.answer(id, body["text"])}

    def answer(self, id, text, answer=None):
        think = self.settings.get(id, {}).get("thinks", False)
        answer = answer or self.message(id, "assistant", "")
        self.all[id].update(isAnswering=True, messageCount=len(self.messages[id]))
        stop = self.stops[id] = threading.Event()
        self.world.emit("message", {"chat": id, "message": answer})
        self.world.emit("chat", {"chat": self.all[id]})
        threading.Thread(target=self.write, args=(id, answer, text, think, stop), daemon=True).start()
        return answer["id"]

    def write(self, id, answer, text, think, stop):
        lower = text.lower()
        words = self.script[text] if text in self.script else HOSTILE if "hostile" in lower else CODE if "code" in lower else long_answer(int(lower.split()[-1])) if lower.startswith("long") else "x" * 1_000_000 if "megabyte" in lower else PLAIN
        if think:
            for piece in ["Two days. ", "Quiet places. ", "Paths near water ", "are shorter and cool."]:
                self.grow(id, answer, "thinkingContent", piece)
                stop.wait(8 / self.rate)
            self.world.emit("thinking-ended", {"chat": id, "message": answer["id"]})
        due = time.monotonic()
        step = 200_000 if len(words) > 500_000 else 4
        for start in range(len(answer["content"]), len(words), step):
            if stop.is_set():
                break
            if self.end and start > 60:
                break
            self.grow(id, answer, "content", words[start:start + step])
            due += 1 / self.rate
            stop.wait(max(0, due - time.monotonic()))
        if "note" in lower and not stop.is_set():
            self.propose(id, answer, stop)
        if "web" in lower:
            answer["cards"].append({
                "id": uuid.uuid4().hex[:8], "tag": "WEB_SEARCH", "title": "Web search", "state": "done", "fields": [], "payload": "{}", "canUndo": False, "isWaiting": False,
                "items": [{"id": "", "title": "Opening hours", "detail": "", "url": "https://library.example/hours"}]})
        with self.world.lock:
            answer["facts"] = {**self.FACTS, "finish": "interrupted" if stop.is_set() else "stop"}
            if self.end:
                answer["ending"], self.end = self.end, None
                answer["facts"] = {**self.FACTS, "finish": "length"} if answer["ending"]["code"] == "length" else None
            self.all[id]["isAnswering"] = False
            self.world.emit("message", {"chat": id, "message": answer})
            self.world.emit("chat", {"chat": self.all[id]})

    def grow(self, id, answer, name, piece):
        with self.world.lock:
            offset = len(answer[name].encode("utf-16-le")) // 2
            answer[name] += piece
            event = "thinking" if name == "thinkingContent" else "text"
            self.world.emit(event, {"event": event, "chat": id, "message": answer["id"], "offset": offset, "delta": piece})

    def propose(self, id, answer, stop):
        card = {"id": uuid.uuid4().hex[:8], "tag": "NOTE_ACTION", "title": "New note: Spare key", "state": "proposed", "isWaiting": True, "canUndo": False, "note": None, "items": [],
                "fields": [{"name": "title", "label": "Title", "value": "Spare key"}, {"name": "body", "label": "Text", "value": "The spare key is at Anna’s.", "source": None}],
                "payload": '{"action":"create","title":"Spare key","body":"The spare key is at Anna’s."}', "editable": ["title", "body"]}
        card.update(self.proposal)
        decided = self.decisions[card["id"]] = threading.Event()
        with self.world.lock:
            answer["cards"].append(card)
            self.world.emit("card", {"chat": id, "message": answer["id"], "card": card})
        while not decided.wait(0.1) and not stop.is_set():
            pass

    def card(self, id, card_id, action, body):
        message, card = next((message, card) for message in self.messages[id] for card in message["cards"] if card["id"] == card_id)
        if body and body.get("payload"):
            self.edited = json.loads(body["payload"])
            if self.edited.get("title") == "refused":
                from world import Refusal
                raise Refusal(422, "unusable-payload", "due is no time", field="due")
        if action == "undo":
            card.update(state="undone", canUndo=False)
            self.world.records.notes.pop(0)
        elif body.get("decision") == "decline":
            card.update(state="declined", isWaiting=False)
        else:
            card.update(state="done", isWaiting=False, canUndo=True)
            self.world.records.new_note("Spare key", "The spare key is at Anna’s.")
        self.world.records.note_action(card, id)
        self.world.emit("card", {"chat": id, "message": message["id"], "card": card})
        self.decisions[card_id].set()
        return 200, {"card": card} if action == "undo" else {}

    def do_stop(self, id, body):
        self.stops[id].set()
        return 202, {}

    def do_continue(self, id, body):
        answer = self.messages[id][-1]
        answer.update(ending=None, facts=None)
        return 202, {"answer": self.answer(id, self.messages[id][-2]["content"], answer)}

    def do_answer_now(self, id, body):
        return 202, {}

    def do_regenerate(self, id, body):
        self.require_model(id)
        self.messages[id].pop()
        self.world.emit("branch", {"chat": id})
        question = self.messages[id][-1]
        return 202, {"answer": self.answer(id, question["content"])}

    def do_edit(self, id, body):
        from world import Refusal
        if self.all[id]["isAnswering"]:
            raise Refusal(409, "busy", "The conversation is answering.")
        self.require_model(id)
        self.cut(id, body["message"])
        return self.do_messages(id, {"text": body["text"]})

    def cut(self, id, message):
        messages = self.messages[id]
        index = next(index for index, other in enumerate(messages) if other["id"] == message)
        del messages[index:]
        self.world.emit("message-removed", {"chat": id, "message": message})
        return 200, {}


PIXEL = bytes.fromhex("89504e470d0a1a0a0000000d4948445200000001000000010806000000"
                      "1f15c4890000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082")
