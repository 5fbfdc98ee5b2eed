"""Pages of other origins before the built program: they read nothing of it, show nothing of it and change nothing in it."""
import http.server
import json
import os
import re
import threading

READ = ["/", "/page/app.js", "/hearth/v1/state", "/hearth/v1/chats", "/hearth/v1/stores/notes", "/hearth/v1/settings",
        "/hearth/v1/status", "/metrics", "/health", "/v1/models", "/api/tags", "/props"]
NOTE = {"title": "planted", "body": "by a page of another origin"}
# Calls that would change something, with bodies that their routes take.
WRITE = [
    ["POST", "/hearth/v1/stores/notes", NOTE], ["POST", "/hearth/v1/chats", {}], ["POST", "/hearth/v1/stop", {}],
    ["POST", "/hearth/v1/reload", {}], ["POST", "/hearth/v1/open", {}], ["POST", "/hearth/v1/pull", {"model": "hf:org/model"}], ["POST", "/hearth/open", {"code": "0"}],
    ["POST", "/hearth/v1/keys", {"name": "planted", "scopes": ["admin"]}], ["POST", "/hearth/v1/models/refresh", {}],
    ["POST", "/api/pull", {"model": "hf:org/model"}], ["POST", "/api/generate", {"model": "any", "prompt": "Hello"}],
    ["POST", "/v1/chat/completions", {"messages": [{"role": "user", "content": "Hello"}]}],
    ["PUT", "/hearth/v1/route", {"forceLocal": True}], ["PATCH", "/hearth/v1/settings", {"threads": 1}],
    ["DELETE", "/hearth/v1/data/chats", None], ["DELETE", "/api/delete", {"model": "any"}],
]
# What the owner's page shows of the server's state.
SHOWN = ["/settings", "/keys", "/chats", "/actions", "/approvals", "/models", "/transfers", "/activation", "/route", "/stores/calendar",
         "/stores/reminders", "/stores/notes", "/stores/contacts", "/stores/habits"]

# Every way by which a page can reach another server; each outcome is "refused", or the type and status of a reply.
ATTACK = """async ({base, read, write}) => {
    const outcomes = {};
    const attempt = async (name, work) => {
        const late = new Promise((_, no) => setTimeout(() => no(new Error("late")), 8000));
        try { outcomes[name] = String(await Promise.race([work(), late])); }
        catch (error) { outcomes[name] = error.message === "late" ? "late" : "refused"; }
    };
    const call = async (path, options) => {
        const reply = await fetch(base + path, {credentials: "include", ...options});
        return `${reply.type} ${reply.status} ${(await reply.text()).length > 0 ? "text" : "empty"}`;
    };
    const element = (tag, values) => new Promise((yes, no) => {
        const made = Object.assign(document.createElement(tag), values);
        made.onload = () => yes("loaded");
        made.onerror = () => no(new Error("error"));
        document.body.append(made);
    });
    const work = [];
    for (const path of read) {
        work.push(attempt(`read ${path}`, () => call(path)));
        work.push(attempt(`read blindly ${path}`, () => call(path, {mode: "no-cors"})));
    }
    for (const [method, path, value] of write) {
        const body = value === null ? undefined : JSON.stringify(value);
        work.push(attempt(`${method} ${path}`, () => call(path, {method, body, headers: {"Content-Type": "application/json"}})));
        if (method !== "POST") continue;
        // Types that a browser sends without asking the server first.
        for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""]) {
            const blob = new Blob([body], {type});
            work.push(attempt(`POST as '${type}' ${path}`, () => call(path, {method, body: blob, mode: "no-cors"})));
        }
        navigator.sendBeacon(base + path, new Blob([body], {type: "text/plain"}));
        const form = Object.assign(document.createElement("form"), {action: base + path, method: "post", enctype: "text/plain", target: `form${work.length}`});
        // As text it is {"title": "planted", …, "": "="}.
        form.append(Object.assign(document.createElement("input"), {name: body.replace(/}$/, ', "x": "'), value: '"}'}));
        document.body.append(Object.assign(document.createElement("iframe"), {name: form.target}), form);
        form.submit();
    }
    work.push(attempt("script", () => element("script", {src: base + "/page/app.js", type: "module"})));
    work.push(attempt("old script", () => element("script", {src: base + "/hearth/v1/state"})));
    work.push(attempt("style", () => element("link", {href: base + "/page/style.css", rel: "stylesheet"})));
    work.push(attempt("picture", () => element("img", {src: base + "/page/icon.svg"})));
    work.push(attempt("import", () => import(base + "/page/app.js")));
    work.push(attempt("worker", () => new Promise((yes, no) => {
        const worker = new Worker(base + "/page/app.js", {type: "module"});
        worker.onmessage = () => yes("runs");
        worker.onerror = () => no(new Error("error"));
    })));
    work.push(attempt("event source", () => new Promise((yes, no) => {
        const source = new EventSource(base + "/hearth/v1/events", {withCredentials: true});
        source.onopen = source.onmessage = () => yes("open");
        source.onerror = () => { source.close(); no(new Error("error")); };
    })));
    for (const path of ["/hearth/v1/events", "/"]) {
        work.push(attempt(`socket ${path}`, () => new Promise((yes, no) => {
            const socket = new WebSocket(base.replace("http", "ws") + path);
            socket.onopen = () => yes("open");
            socket.onerror = () => no(new Error("error"));
        })));
    }
    // A frame whose origin is nobody's, for servers that trust "null".
    work.push(attempt("sandbox", () => new Promise((yes, no) => {
        addEventListener("message", ({data}) => data === "refused" ? no(new Error(data)) : yes(data));
        const frame = document.createElement("iframe");
        frame.sandbox = "allow-scripts";
        frame.srcdoc = `<script>fetch(${JSON.stringify(base + "/hearth/v1/state")}, {credentials: "include"})
            .then((reply) => parent.postMessage("read " + reply.status, "*"), () => parent.postMessage("refused", "*"))<` + "/script>";
        document.body.append(frame);
    })));
    for (const tag of ["iframe", "embed", "object"]) {
        for (const path of ["/", "/page/index.html", "/hearth/v1/state"]) {
            document.body.append(Object.assign(document.createElement(tag), {[tag === "object" ? "data" : "src"]: base + path}));
        }
    }
    await Promise.all(work);
    return outcomes;
}"""


class Blank(http.server.BaseHTTPRequestHandler):
    """A site that allows itself everything."""

    def log_message(self, *_):
        pass

    def do_GET(self):
        body = b"<!doctype html><title>Elsewhere</title><body>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def served(program, position):
    """The method, path and status of each request since a place in the log, and the place now."""
    with open(os.path.join(program.folder, "serve.log"), encoding="utf-8") as log:
        log.seek(position)
        text = log.read()
        position = log.tell()
    return re.findall(r"^[0-9a-f]{16} \S+ \S+ (\S+) (\S+) (\d{3}) ", text, re.M), position


def quiet(page, program):
    """Waits until no request runs, and returns the place in the log. A stream of the own page is logged when it ends, and must
    not count among the requests of another origin."""
    for _ in range(100):
        if json.loads(program.run("ps", "--format", "json"))["server"]["requests"] == 0:
            # The line of a request is written a moment after its end.
            page.wait_for_timeout(300)
            return served(program, 0)[1]
        page.wait_for_timeout(100)
    raise AssertionError("a request of the own page does not end")


def state(page, program):
    """What the owner sees, and the process that answers."""
    page.goto(f"http://127.0.0.1:{program.port}/")
    return page.evaluate("""async (paths) => {
        const own = (path) => fetch("/hearth/v1" + path, {headers: {"X-Hearth-Page": localStorage.getItem("hearth-page")}});
        const text = async (path) => { const reply = await own(path); return `${reply.status} ${await reply.text()}`; };
        const shown = {process: JSON.parse((await (await own("/status")).text())).process};
        for (const path of paths) shown[path] = (await text(path)).replace(/"event":"[^"]*"/, "");
        return shown;
    }""", SHOWN)


def own_page_can(page, program):
    """The same calls work for the page itself: what is refused to others is refused because they are others."""
    page.goto(f"http://127.0.0.1:{program.port}/")
    found = page.evaluate("""async (note) => {
        const own = {"X-Hearth-Page": localStorage.getItem("hearth-page")};
        const read = await fetch("/hearth/v1/state", {headers: own});
        const write = await fetch("/hearth/v1/stores/notes", {method: "POST", headers: {...own, "Content-Type": "application/json"}, body: JSON.stringify(note)});
        const ending = new AbortController();
        const stream = await fetch("/hearth/v1/events", {headers: own, signal: ending.signal});
        ending.abort();
        // The cookie, which other ports of this host get as well, is worth nothing alone, nor beside a wrong secret.
        const alone = await fetch("/hearth/v1/state");
        const wrong = await fetch("/hearth/v1/state", {headers: {"X-Hearth-Page": "0".repeat(64)}});
        return [read.status, write.status, stream.status, alone.status, wrong.status];
    }""", {"title": "Own", "body": "of the page"})
    assert found == [200, 201, 200, 403, 403], found


def expect_nothing_shown(page):
    """No frame holds the page or an answer of its API."""
    page.wait_for_timeout(1000)
    assert len(page.frames) > 12, len(page.frames)
    for frame in page.frames[1:]:
        try:
            text = frame.content()
        except Exception:
            continue  # An error page of the browser, in place of a frame that is not allowed.
        assert "app.js" not in text and "firstRun" not in text, (frame.url, text[:200])


def from_another_origin(page, program, origin):
    position = quiet(page, program)
    foreign = page.context.new_page()
    foreign.goto(f"{origin}/")
    base = f"http://127.0.0.1:{program.port}"
    outcomes = foreign.evaluate(ATTACK, {"base": base, "read": READ, "write": WRITE})
    expect_nothing_shown(foreign)
    for name, outcome in outcomes.items():
        assert outcome in ("refused", "opaque 0 empty"), f"{origin} {name}: {outcome}"
    requests, position = served(program, position)
    assert len(requests) > 60, f"{origin}: only {len(requests)} requests reached the server"
    wrong = [one for one in requests if one[2] != "403"]
    assert not wrong, f"{origin}: {wrong}"
    # A link may lead to the page, but the window of it cannot be looked into.
    window = foreign.evaluate("""async (base) => {
        const opened = window.open(base + "/", "_blank");
        await new Promise((go) => setTimeout(go, 1500));
        let text = "nothing";
        try { text = opened.document.body.innerText; } catch { }
        return [text, opened.length];
    }""", base)
    assert window == ["nothing", 0] or window == ["", 0], f"{origin}: {window}"
    foreign.close()
    for other in page.context.pages:
        if other != page:
            other.close()
    return len(outcomes), len(requests)


def from_a_rebound_name(page, program):
    """The name of a page leads to this machine after the page was loaded: its origin is that of the server."""
    context = page.context.browser.new_context()
    rebound = context.new_page()
    origin = f"http://rebound.test:{program.port}"
    # The browser takes even the refusal for a document of that origin.
    assert rebound.goto(f"{origin}/").status == 421
    position = quiet(page, program)
    outcomes = rebound.evaluate(ATTACK, {"base": origin, "read": READ, "write": WRITE})
    expect_nothing_shown(rebound)
    for name, outcome in outcomes.items():
        assert outcome in ("refused", "basic 421 text"), f"{origin} {name}: {outcome}"
    requests, _ = served(program, position)
    assert len(requests) > 60, f"only {len(requests)} requests reached the server"
    wrong = [one for one in requests if one[2] not in ("421", "403")]
    assert not wrong, wrong
    context.close()
    return len(outcomes), len(requests)


def foreign_pages(page, program):
    site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Blank)
    site.daemon_threads = True
    threading.Thread(target=site.serve_forever, daemon=True).start()
    port = site.server_address[1]
    own_page_can(page, program)
    before = state(page, program)
    page.goto("about:blank")
    # Another port of this host, which gets its cookies; another name of this machine; another site.
    counts = [from_another_origin(page, program, f"http://{host}:{port}") for host in ("127.0.0.1", "localhost", "evil.test")]
    counts.append(from_a_rebound_name(page, program))
    after = state(page, program)
    site.shutdown()
    changed = {key: (before[key][:300], after[key][:300]) for key in before if before[key] != after[key]} if before["process"] == after["process"] else "the process"
    assert not changed, json.dumps(changed, indent=1)
    tried, refused = sum(one for one, _ in counts), sum(two for _, two in counts)
    return f"{tried} ways, {refused} requests that reached the server, all refused"
