"""Records of the scripted server: calendar, reminders, notes, contacts, habits, and the journal of changes."""
import datetime
import uuid


def at(days, hour=9, minute=0):
    date = datetime.datetime.now().replace(hour=hour, minute=minute, second=0, microsecond=0) + datetime.timedelta(days=days)
    return date.astimezone(datetime.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def day(days):
    return (datetime.date.today() + datetime.timedelta(days=days)).isoformat()


class Records:
    def __init__(self, world):
        self.world = world
        self.journal = []
        self.undos = {}
        self.notes = []
        for title, body in [("Book list", "The Summer Book\nPiranesi\nThe Wall"), ("Wi-Fi of the hut", "The router is behind the stove."), ("Ideas for the garden", "Herbs near the door, tomatoes against the wall.")]:
            self.new_note(title, body)
        self.events = [
            self.event("Lunch with Anna", at(0, 13), at(0, 14), location="Café am See"), self.event("Dentist", at(1, 8, 30), at(1, 9)),
            self.event("Choir", at(2, 19), at(2, 21), recurrence="FREQ=WEEKLY"), self.event("Hike on the ridge", at(4, 7), at(4, 15), notes="Bring water"),
        ]
        self.reminders = [
            {"id": "r1", "list": "Home", "title": "Call the bank", "due": at(-1, 10), "priority": 1},
            {"id": "r2", "list": "Home", "title": "Return the book", "due": at(2, 17), "priority": 0},
            {"id": "r3", "list": "Home", "title": "Water the plants", "priority": 0},
        ]
        self.contacts = [
            {"id": "c1", "book": "personal", "name": "Anna Berg", "nicknames": ["Anni"], "numbers": [{"label": "home", "value": "+49 30 1234"}], "mails": [{"label": "", "value": "anna@example.org"}], "organization": "", "note": "Has the spare key"},
            {"id": "c2", "book": "personal", "name": "يوسف حداد", "nicknames": [], "numbers": [{"label": "", "value": "+49 40 998"}], "mails": [], "organization": "Library", "note": ""},
        ]
        self.problems = [{"code": "empty-contact", "id": "n", "title": "", "reason": "it has no name, number or mail address", "file": "contacts/.unreadable/1f0c.vcf"}]
        self.habits = [{"id": "h1", "name": "Running", "frequency": "daily", "created": day(-30), "log": {day(-3): 1, day(-2): 1, day(-1): 1}, "currentStreak": 3, "longestStreak": 9, "isDone": False}]

    def event(self, title, start, end, **rest):
        return {"event": {"id": uuid.uuid4().hex[:8], "calendar": "Personal", "title": title, "start": start, "end": end, "timeZone": "Europe/Berlin", "allDay": False, "isInvitation": False, "repeatsUnexpanded": False, **rest},
                "start": start, "end": end}

    def new_note(self, title, body):
        self.notes.insert(0, {"id": uuid.uuid4().hex[:8], "title": title, "body": body, "created": at(0), "changed": at(0)})
        self.world.emit("records", {"store": "notes"}) if hasattr(self.world, "records") else None
        return self.notes[0]

    def note_action(self, card, chat):
        from world import now
        self.journal = [entry for entry in self.journal if entry["card"]["id"] != card["id"]] + [{"card": card, "chat": chat, "date": now()}]
        self.world.emit("actions", {})

    def changed(self, store, title, undo):
        card = {"id": uuid.uuid4().hex[:8], "tag": "NOTE_ACTION", "title": title, "state": "done", "canUndo": True, "isWaiting": False, "fields": [], "items": [], "editable": [], "payload": "{}"}
        self.undos[card["id"]] = (store, undo)
        self.note_action(card, "")
        self.world.emit("records", {"store": store})
        return card["id"]

    def undo(self, id):
        entry = next(entry["card"] for entry in self.journal if entry["card"]["id"] == id)
        store, undo = self.undos.pop(id)
        undo()
        entry.update(state="undone", canUndo=False)
        self.world.emit("records", {"store": store})
        return entry

    def call(self, method, rest, body, values):
        store, query = rest[0], values.get("q", "").lower()
        if store == "import":
            return self.import_file(body)
        if rest[-1] == "export":
            return 200, b"BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n"
        if store == "drafts":
            # The words were understood, or are the title as a whole.
            self.asked = body
            return 200, self.world.drafts.get(body["text"], {"kind": body["kind"], "title": body["text"]})
        if method == "GET" and rest[-1] == "problems":
            return 200, {"problems": self.problems}
        if method == "GET":
            return 200, getattr(self, f"list_{store}")(query, values)
        records = getattr(self, "events" if store == "calendar" else store)
        if len(rest) == 1:
            record = {"id": uuid.uuid4().hex[:8], **body}
            if store == "notes":
                record = self.new_note(body["title"], body.get("body", ""))
            elif store == "calendar":
                record = self.event(body["title"], body["start"], body.get("end", body["start"]))
                records.append(record)
            else:
                record = {"log": {}, "currentStreak": 0, "numbers": [], "mails": [], "nicknames": [], "organization": "", "note": "", "list": "Home", "priority": 0, **record}
                records.append(record)
            action = self.changed(store, f"New: {body.get('title') or body.get('name')}", lambda: records.remove(record))
            return 201, {"id": rest[0], "action": action}
        record = next(record for record in records if (record.get("event") or record)["id"] == rest[1])
        target = record.get("event") or record
        before = dict(target)
        if method == "PATCH" and body.get("title") == "refused":
            from world import Refusal
            raise Refusal(422, "unusable-payload", "the end is before the start", field="end")
        if method == "DELETE":
            records.remove(record)
            return 200, {"id": rest[1], "action": self.changed(store, "Deleted", lambda: records.insert(0, record))}
        if rest[-1] == "complete":
            body = {"completed": at(0)}
        if rest[-1] == "log":
            target["log"] = {**target["log"], body["day"]: body["amount"]}
        else:
            target.update(body)
        return 200, {"id": rest[1], "action": self.changed(store, f"Changed: {target.get('title') or target.get('name')}", lambda: target.update(before))}

    def import_file(self, body):
        from world import Refusal
        if not body.startswith(b"BEGIN:VC"):
            raise Refusal(422, "unusable-record", "the file is neither iCalendar nor vCard")
        titles = [line[8:].strip() for line in body.decode().splitlines() if line.startswith("SUMMARY:")]
        known = {record["event"]["title"] for record in self.events}
        new = [self.event(title, at(3), at(3, 10)) for title in titles if title not in known]
        self.events += new
        count = {"added": len(new), "changed": 0, "skipped": len(titles) - len(new), "unreadable": 0, "other": [], "problems": []}
        if new:
            def undo():
                self.events = [event for event in self.events if event not in new]
            count["action"] = self.changed("calendar", "Import events", undo)
        return 200, {"events": count}

    def list_calendar(self, query, values):
        return {"occurrences": [event for event in self.events if query in event["event"]["title"].lower()], "unreadable": 0}

    def list_reminders(self, query, values):
        return {"reminders": [reminder for reminder in self.reminders if query in reminder["title"].lower() and (values.get("completed") == "true" or not reminder.get("completed"))], "unreadable": 0}

    def list_notes(self, query, values):
        return {"notes": [note for note in self.notes if query in (note["title"] + note["body"]).lower()]}

    def list_contacts(self, query, values):
        return {"contacts": [contact for contact in self.contacts if query in contact["name"].lower()], "unreadable": 1}

    def list_habits(self, query, values):
        return {"habits": self.habits}
