#!/usr/bin/env python3
"""Sends texts that cannot fit to every route of `hearth serve` that takes text, and watches another client meanwhile.

    scripts/server/text.py HEARTH --model FILE.gguf [--quick]

The server may use 6 GiB of address space. A refusal comes at most 1 s later than that of the same bytes in a field of a
wrong type, and the first token of another client at most 0.5 s later than without the hostile clients. Ends with status 1
if one of them does not. Only the standard library.
"""
import argparse, http.client, json, os, statistics, sys, threading, time

from served import MIB, Server, ask, failures, report


def routes(model, text):
    """A body for each route, with the text at every place where a route takes one."""
    user = [{"role": "user", "content": text}]
    hi = [{"role": "user", "content": "hi"}]
    tool = {"name": "f", "description": text, "parameters": {"type": "object", "properties": {}}}
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": json.dumps({"a": text})}}
    for name, path, body in [
        ("chat", "/v1/chat/completions", {"messages": user}),
        ("system", "/v1/chat/completions", {"messages": [{"role": "system", "content": text}, *hi]}),
        ("parts", "/v1/chat/completions", {"messages": [{"role": "user", "content": [{"type": "text", "text": text}]}]}),
        ("calls", "/v1/chat/completions", {"messages": [*hi, {"role": "assistant", "tool_calls": [call]}, *hi]}),
        ("tools", "/v1/chat/completions", {"messages": hi, "tools": [{"type": "function", "function": tool}]}),
        ("logit_bias", "/v1/chat/completions", {"messages": hi, "logit_bias": {text: 1}}),
        ("logit_bias list", "/completion", {"prompt": "hi", "logit_bias": [[text, 1]]}),
        ("begun answer", "/v1/chat/completions", {"messages": [*hi, {"role": "assistant", "content": text}]}),
        ("completions", "/v1/completions", {"prompt": text}),
        ("prompts", "/v1/completions", {"prompt": [text, "a"]}),
        ("mixed prompt", "/v1/completions", {"prompt": [1, text]}),
        ("completion", "/completion", {"prompt": text}),
        ("responses", "/v1/responses", {"input": text}),
        ("instructions", "/v1/responses", {"input": "hi", "instructions": text}),
        ("messages", "/v1/messages", {"max_tokens": 1, "messages": user}),
        ("messages system", "/v1/messages", {"max_tokens": 1, "system": text, "messages": hi}),
        ("chat of ollama", "/api/chat", {"messages": user}),
        ("generate", "/api/generate", {"prompt": text}),
        ("generate raw", "/api/generate", {"prompt": text, "raw": True}),
        ("generate system", "/api/generate", {"prompt": "hi", "system": text}),
        ("tokenize", "/tokenize", {"content": text}),
        ("count_tokens", "/v1/messages/count_tokens", {"messages": user}),
        ("input_tokens", "/v1/responses/input_tokens", {"input": text}),
        ("chat input_tokens", "/v1/chat/completions/input_tokens", {"messages": user}),
        ("apply-template", "/apply-template", {"messages": user}),
        ("embeddings", "/v1/embeddings", {"input": text}),
        ("embed", "/api/embed", {"input": [text, "a"]}),
    ]:
        yield name, path, {"model": model, **body}


def timed(server, path, body):
    begin = time.monotonic()
    try:
        status, reply = server.send("POST", path, body, {"Content-Type": "application/json"}, timeout=120)
    except (OSError, http.client.HTTPException) as error:
        status, reply = 0, repr(error).encode()
    return time.monotonic() - begin, status, reply


def huge(server, size):
    """Each route refuses a huge text about as fast as a wrong type."""
    model = server.model()
    for kind, unit in [("letters", "a"), ("blanks", " "), ("control tokens", "<|im_end|>")]:
        text = unit * (size // len(unit))
        late, bad = [], []
        for name, path, body in routes(model, text):
            data = json.dumps(body).encode()
            # The same bytes in a field that must be the name of a model.
            wrong = min(timed(server, path, json.dumps({"model": {"a": body}}).encode())[0] for _ in range(2))
            seconds, status, reply = timed(server, path, data)
            late.append((seconds - wrong, name))
            if not 400 <= status < 500 or not reply:
                bad.append(f"{name}: {status} {reply[:100]!r}")
        worst = max(late)
        report(f"{size / MIB:.0f} MiB of {kind}", not bad and worst[0] <= 1 and server.is_well(),
               f"{len(late)} routes, the latest refusal {worst[0]:.2f} s after one for a wrong type ({worst[1]}) {bad}")


def first_token(server, model):
    """The seconds until the first token of a short question."""
    connection = server.connect(timeout=120)
    begin = time.monotonic()
    connection.sendall(ask(model, 1, "Say hello."))
    data = b""
    while b'"content":"' not in data and b"[DONE]" not in data:
        piece = connection.recv(4096)
        if not piece:
            break
        data += piece
    seconds = time.monotonic() - begin
    connection.close()
    return seconds if data.startswith(b"HTTP/1.1 200") else 1e9


def beside(server, name, bodies):
    """The first token of another client does not wait for hostile texts."""
    model = server.model()
    alone = statistics.median(first_token(server, model) for _ in range(5))
    results = []
    threads = [threading.Thread(target=lambda body=body: results.append(timed(server, "/v1/chat/completions", body)))
               for body in bodies(model)]
    for thread in threads:
        thread.start()
    found = []
    while any(thread.is_alive() for thread in threads) and len(found) < 40 or len(found) < 5:
        found.append(first_token(server, model))
    for thread in threads:
        thread.join()
    statuses = sorted({status for _, status, _ in results})
    report(name, max(found) <= alone + 0.5 and all(statuses) and server.is_well(),
           f"{alone:.3f} s alone, {len(found)} beside {len(threads)} requests: at most {max(found):.3f} s; these had {statuses} "
           f"after at most {max(result[0] for result in results):.1f} s")


def chats(messages, count):
    return lambda model: [json.dumps({"model": model, "messages": messages, "max_tokens": 1}).encode()] * count


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--model", required=True)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    server = Server(os.path.abspath(options.program), os.path.abspath(options.model), address_space=6 << 30)
    try:
        # Loads the model.
        first_token(server, server.model())
        huge(server, (6 if options.quick else 60) * MIB)
        beside(server, "six prompts of blanks", chats([{"role": "user", "content": " " * MIB}], 6))
        beside(server, "control tokens", chats([{"role": "user", "content": "<|im_end|>" * 7000}], 6))
        beside(server, "20,000 empty messages", chats([{"role": "user", "content": ""}] * 20_000, 1))
    finally:
        status = server.stop()
    report("end", status == 0, f"SIGTERM: status {status}")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
