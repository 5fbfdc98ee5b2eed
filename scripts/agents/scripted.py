#!/usr/bin/env python3
"""A server of OpenAI's Chat Completions whose model repairs a program with the tools that an agent offers.

    scripts/agents/scripted.py

It reads the file, changes it, runs the check, and says "repaired" if the check has passed. Each step follows from what came out
of the step before: a call that did not reach its tool, or a result that did not come back, ends the work with another word.
Prints its address, and ends with its input. Only the standard library.
"""
import http.server
import json
import re
import sys
import threading

FAULT, CURE = "return first - second", "return first + second"
PATCH = f"*** Begin Patch\n*** Update File: total.py\n@@\n-    {FAULT}\n+    {CURE}\n*** End Patch\n"
BLOCK = f"total.py\n```python\n<<<<<<< SEARCH\n    {FAULT}\n=======\n    {CURE}\n>>>>>>> REPLACE\n```\n"
CHECK = "python3 check.py"


def plan(tools, folder):
    """The three calls of an agent, which is known by the names of its tools."""
    place = f"{folder}/total.py"
    if {"Read", "Edit", "Bash"} <= tools:
        return [("Read", {"file_path": place}),
                ("Edit", {"file_path": place, "old_string": FAULT, "new_string": CURE}),
                ("Bash", {"command": CHECK, "description": "Runs the check"})]
    if "exec" in tools:
        def shell(command):
            return {"input": f"text(await tools.exec_command({{cmd: {json.dumps(command)}}}))"}
        return [("exec", shell("cat total.py")), ("exec", {"input": f"text(await tools.apply_patch({json.dumps(PATCH)}))"}),
                ("exec", shell(CHECK))]
    if "exec_command" in tools:
        edit = ("apply_patch", {"input": PATCH}) if "apply_patch" in tools else (
            "exec_command", {"cmd": f"apply_patch <<'EOF'\n{PATCH}EOF"})
        return [("exec_command", {"cmd": "cat total.py"}), edit, ("exec_command", {"cmd": CHECK})]
    if {"read_file", "edit_file", "run_command"} <= tools:
        return [("read_file", {"path": place}), ("edit_file", {"path": place, "old": FAULT, "new": CURE}),
                ("run_command", {"command": CHECK})]
    return None


def text(content):
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content or [])


def answer(request):
    """The next message: a call, or the last word."""
    messages = request["messages"]
    last = max(number for number, message in enumerate(messages) if message["role"] == "user")
    questions = "\n".join(text(message["content"]) for message in messages if message["role"] == "user")
    tools = {tool["function"]["name"] for tool in request.get("tools") or []}
    folder = re.search(r"Repair total\.py in (\S+)", questions)
    if folder is None:
        return "ok", None
    calls = plan(tools, folder.group(1))
    if calls is None:
        # An agent without tools takes changes out of the text.
        return f"The difference is a sum.\n\n{BLOCK}", None
    results = [text(message["content"]) for message in messages[last:] if message["role"] == "tool"]
    if results and len(results) == 1 and FAULT not in results[0]:
        return f"not read: {results[0][:200]}", None
    if len(results) < len(calls):
        return "", calls[len(results)]
    return ("repaired" if "passed" in results[-1] else f"not repaired: {results[-1][:200]}"), None


def events(words, call):
    """The pieces of an answer's stream: a call's arguments come in three."""
    yield {"role": "assistant", "content": ""}
    for word in re.findall(r"\S*\s*", words):
        if word:
            yield {"content": word}
    if call:
        arguments = json.dumps(call[1])
        third = len(arguments) // 3
        yield {"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": {"name": call[0], "arguments": ""}}]}
        for piece in (arguments[:third], arguments[third:2 * third], arguments[2 * third:]):
            yield {"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def send(self, body):
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.send(json.dumps({"object": "list", "data": [
            {"id": "scripted", "object": "model", "created": 1, "max_model_len": 200_000}]}).encode())

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        words, call = answer(request)
        reason = "tool_calls" if call else "stop"
        usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
        if not request.get("stream"):
            message = {"role": "assistant", "content": words or None}
            if call:
                message["tool_calls"] = [{"id": "call_1", "type": "function",
                                          "function": {"name": call[0], "arguments": json.dumps(call[1])}}]
            self.send(json.dumps({"id": "c", "object": "chat.completion", "created": 1, "model": "scripted", "usage": usage,
                                  "choices": [{"index": 0, "message": message, "finish_reason": reason}]}).encode())
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        base = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}
        for delta in events(words, call):
            self.event({**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
        self.event({**base, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
        self.event({**base, "choices": [], "usage": usage})
        self.wfile.write(b"data: [DONE]\n\n")

    def event(self, body):
        self.wfile.write(b"data: " + json.dumps(body).encode() + b"\n\n")


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
sys.stdin.read()
