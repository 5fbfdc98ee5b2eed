"""Models of the scripted server: the cards of every state, and downloads that a test moves on or that move by themselves."""
import threading


def row(id, name, summary, size, memory, **rest):
    values = {
        "id": id, "family": id, "name": name, "summary": summary, "version": "1.0.0", "variant": "q4_k_m", "role": "text", "format": "gguf",
        "state": "not-downloaded", "action": "download", "presence": "none", "badges": [],
        "sizeBytes": size, "memoryBytes": memory, "receivedBytes": None, "code": None, "detail": None,
        "progress": None, "download": None, "keptBytes": None, "reference": f"hf:models/{id}", "isVerified": True,
        "isUsable": False, "isSelected": False, "isDefault": False, "isDefaultVision": False, "isLoaded": False,
        "isBeingDeleted": False, "isListed": False, "installed": None, "installedVariant": None, "update": None, "rollback": None, "pinned": None, "heldBack": [],
    }
    values.update(rest)
    if values["state"] in ("downloaded", "update-available"):
        values.update(presence="downloaded", isUsable=True, action="select", installed=values["version"], installedVariant="q4_k_m")
    if values["state"] == "incompatible":
        values["action"] = None
    return values


def offered():
    """What a new device is offered: the three models of the fixed list, and others."""
    return [
        row("llama-3.2-3b", "Llama 3.2 3B", "Fast and balanced. A good first model.", 2_020_000_000, 4_000_000_000, badges=["recommended"]),
        row("llama-3.2-1b", "Llama 3.2 1B", "The smallest. For devices with little memory.", 808_000_000, 2_000_000_000),
        row("qwen3.5-4b", "Qwen 3.5 4B", "Thinks before it answers, and sees pictures.", 2_740_000_000, 6_000_000_000, badges=["vision"]),
        row("llama-3.2-11b-vision", "Llama 3.2 11B Vision", "Sees pictures. Runs on Apple devices.", 6_500_000_000, 12_000_000_000, format="mlx",
            state="incompatible", detail="This model needs MLX, which runs on Apple devices only.", code="engine-missing",
            badges=["vision"], isListed=True),
    ]


def many_states():
    """A library in use: one card of every state."""
    rows = offered()
    rows[0].update(row("llama-3.2-3b", "Llama 3.2 3B", rows[0]["summary"], 2_020_000_000, 4_000_000_000, state="downloaded", version="1.1.0", isSelected=True, isDefault=True,
                       isLoaded=True, badges=["recommended", "active"], rollback="1.0.0"))
    return [
        *rows,
        row("lupus-diary", "Lupus Diary", "Scores diary entries. Tuned for one task.", 1_800_000_000, 3_000_000_000, state="update-available",
            update="1.1.0", heldBack=[{"version": "1.0.5", "variant": "q4_k_m", "reason": "crashed three times while it was loaded"}]),
        row("gemma-4b", "Gemma 4B", "Wide knowledge, many languages.", 3_000_000_000, 6_000_000_000, state="failed",
            detail="Network error: the server closed the connection. What has arrived is kept.", code="network-error", keptBytes=1_200_000_000),
        row("falcon-180b", "Falcon 180B", "Needs a machine with very much memory.", 108_000_000_000, 130_000_000_000, state="incompatible", code="not-enough-memory",
            detail="This model requires 130 GB RAM. Your device may not support it."),
    ]


def found(id, **rest):
    """A row of the Hub, as `hearth search --format json` has it."""
    return {"id": id, "downloads": 1_250_000, "likes": 340, "license": "apache-2.0", "gated": False, "fits": True, "reference": f"hf:{id}",
            "quantizations": [{"name": "Q4_K_M", "sizeBytes": 2_500_000_000, "about": False, "fits": True}], "chosen": "Q4_K_M", **rest}


HUB = [
    found("unsloth/Qwen3-4B-GGUF"),
    found("org/Qwen3-400B-GGUF", fits=False, chosen=None, quantizations=[{"name": "Q4_K_M", "sizeBytes": 250_000_000_000, "about": True, "fits": False}]),
    found("closed/Qwen3-Secret-GGUF", gated=True, license=None),
]


class Models:
    def __init__(self, world):
        self.world = world
        self.rows = offered()
        self.recommended = "llama-3.2-3b"
        self.is_loading = False
        self.speed = 0.25
        # Seconds between two steps of a download; None: the test moves it with `step`.
        self.interval = 0.1
        self.refusal = None
        self.license, self.notes = "apache-2.0", "Fixes long answers."
        # The rows of the Hub, or the failure to reach it.
        self.hub, self.hub_problem = HUB, None

    def row(self, id):
        from world import Refusal
        found = next((row for row in self.rows if row["id"] == id), None)
        if found is None:
            raise Refusal(404, "model-not-found", f"Model not found: {id}")
        return found

    def library(self):
        chosen = next((row["id"] for row in self.rows if row["isDefault"]), None)
        return {"isRefreshing": False, "offerProblem": None, "homeProblem": None, "notices": [], "selected": chosen, "defaultModel": chosen, "visionModel": None,
                "metered": "ask", "canAnswer": any(row["isLoaded"] for row in self.rows), "canSee": False}

    def activation(self):
        loaded = next((row for row in self.rows if row["isLoaded"]), None)
        return {"text": {"id": loaded["id"], "name": loaded["name"], "isLoaded": True} if loaded else None, "vision": None, "isLoading": self.is_loading}

    def changed(self, row):
        self.world.emit("row", {"row": row})

    def restarted(self):
        for row in self.rows:
            if row["state"] in ("downloading", "waiting"):
                row.update(state="not-downloaded", action="download", keptBytes=row["download"]["completedBytes"], download=None)

    def call(self, method, rest, body, values):
        if not rest:
            return 200, {"rows": self.rows, "library": self.library(), "event": self.world.event}
        if rest[0] == "refresh":
            return 202, {}
        if rest[0] == "add":
            return 200, {"rows": [self.add(body)]}
        if rest[0] == "search":
            return 200, self.search(values.get("q", ""))
        if rest[0] == "upload":
            return 201, {"row": self.upload(values["name"], body)}
        if rest[0] == "listed":
            self.rows.remove(self.row(rest[1]))
            self.world.emit("row-removed", {"id": rest[1]})
            return 200, {}
        row = self.row(rest[0])
        if method == "DELETE":
            row.update(state="not-downloaded", action="download", presence="none", isUsable=False, isLoaded=False, isDefault=False, installed=None)
            self.changed(row)
            return 200, {}
        if len(rest) == 1:
            return 200, {"row": row, "event": self.world.event, "license": self.license, "notes": self.notes,
                         "freedBytes": row["sizeBytes"] + 700_000_000 if row["presence"] == "downloaded" else None, "releases": [
                {"version": "1.1.0", "variant": "q4_k_m", "active": True, "sizeBytes": row["sizeBytes"], "installed": "2026-11-20T10:00:00.000Z"},
                {"version": "1.0.0", "variant": "q4_k_m", "active": False, "sizeBytes": row["sizeBytes"], "installed": "2026-10-01T10:00:00.000Z"}]}
        return getattr(self, f"do_{rest[1]}")(row, body or {})

    def search(self, words):
        if self.hub_problem:
            return {"catalog": [{"family": row["id"]} for row in self.rows], "hub": [], "problem": self.hub_problem}
        return {"catalog": [], "hub": [row for row in self.hub if words.lower() in row["id"].lower()], "problem": None, "estimates": None}

    def upload(self, name, data):
        from world import Refusal
        if not data.startswith(b"GGUF"):
            raise Refusal(422, "not-gguf", "the file is not a GGUF file", "Choose a file that ends with .gguf, as models have it.")
        new = row(name.removesuffix(".gguf"), name.removesuffix(".gguf"), "", len(data), 2_000_000_000, state="downloaded")
        self.rows.append(new)
        self.changed(new)
        return new

    def add(self, body):
        from world import Refusal
        if "/" not in body["reference"]:
            raise Refusal(422, "invalid-reference", f"\"{body['reference']}\" names no repository and no address.", "Write hf:org/model or an https address.")
        new = row(body["reference"].replace("/", "-"), body.get("name") or body["reference"].split("/")[-1], "", 1_000_000_000, 2_000_000_000, isListed=True, isVerified="sha256" in body)
        self.rows.append(new)
        self.changed(new)
        return new

    def do_download(self, row, body):
        from world import Refusal
        if self.world.metered and body.get("metered") != "allow":
            row.update(state="failed", code="metered-network", detail="Wi-Fi required: this network is metered.")
            self.changed(row)
            return 202, {"row": row}
        if self.refusal:
            raise Refusal(*self.refusal)
        done = row["keptBytes"] or (row["download"] or {}).get("completedBytes") or 0
        row.update(state="downloading", action=None, keptBytes=None, code=None, detail=None)
        self.place(row, done)
        if self.interval:
            threading.Thread(target=self.run, args=(row,), daemon=True).start()
        return 202, {"row": row}

    do_resume = do_download

    def place(self, row, done):
        total = row["sizeBytes"]
        row["progress"] = done / total
        row["download"] = {"phase": "downloading", "completedBytes": int(done), "totalBytes": total, "connections": 4, "bytesPerSecond": 48_200_000, "secondsLeft": (total - done) / 48_200_000}
        self.changed(row)

    def step(self, row, part):
        with self.world.lock:
            if row["state"] != "downloading":
                return False
            done = row["download"]["completedBytes"] + part * row["sizeBytes"]
            if done < row["sizeBytes"]:
                self.place(row, done)
                return True
            row["download"]["phase"] = "verifying"
            self.changed(row)
            row.update(state="downloaded", action="select", presence="downloaded", progress=None, download=None, isUsable=True, installed=row["version"], installedVariant="q4_k_m")
            if not any(other["isDefault"] for other in self.rows):
                self.do_select(row, {})
            self.changed(row)
            return False

    def run(self, row):
        event = threading.Event()
        while self.step(row, self.speed * self.interval):
            event.wait(self.interval)

    def do_pause(self, row, body):
        # The process of the server holds the transfer; after a restart it is unfinished.
        row.update(state="waiting", action=None)
        row["download"].update(phase="paused", bytesPerSecond=None, secondsLeft=None, waitingFor="paused")
        self.changed(row)
        return 200, {"row": row}

    def do_cancel(self, row, body):
        row.update(state="not-downloaded", action="download", keptBytes=None, download=None, progress=None)
        self.changed(row)
        return 200, {"row": row}

    do_reset = do_cancel

    def do_select(self, row, body):
        for other in self.rows:
            other.update(isDefault=False, isSelected=False, isLoaded=False)
        row.update(isDefault=True, isSelected=True, isLoaded=True)
        for other in self.rows:
            self.changed(other)
        self.world.emit("library", self.library())
        self.world.emit("engine", self.activation())
        return 200, {"row": row}

    def do_rollback(self, row, body):
        row.update(version="1.0.0", installed="1.0.0", installedVariant="q4_k_m", rollback=None, heldBack=[{"version": "1.1.0", "variant": "q4_k_m", "reason": "rolled back"}])
        self.changed(row)
        return 200, {"row": row}

    def do_pin(self, row, body):
        row["pinned"] = row["installed"]
        self.changed(row)
        return 200, {"row": row}

    def do_unpin(self, row, body):
        row["pinned"] = None
        self.changed(row)
        return 200, {"row": row}

    def do_verify(self, row, body):
        return 200, {"isIntact": True, "damaged": []}
