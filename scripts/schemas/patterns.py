"""Asks a server for tool calls whose argument has a pattern, in five dialects, and checks them with Python's expressions.

patterns.py URL KEY MODEL [FIRST LAST]    exits 1 if a request is refused, or a whole call breaks its pattern unmarked

Ollama's dialect cannot demand a call: there the form is the answer's `format`, and the tools are offered besides. An answer that
breaks its schema is no call that could be marked: it is an error that says so.
"""
import json
import pathlib
import re
import sys
import urllib.error
import urllib.request

address, key, model = sys.argv[1:4]
first, last = (int(number) for number in sys.argv[4:6]) if len(sys.argv) > 5 else (0, 60)
patterns = [json.loads(line) for line in (pathlib.Path(__file__).parent / "patterns.jsonl").read_text().splitlines()]
question = "Fill in the form with an example."
tokens = 300


def post(path, body):
    request = urllib.request.Request(
        address + path, json.dumps(body).encode(),
        {"Content-Type": "application/json", "Authorization": "Bearer " + key, "anthropic-version": "2023-06-01"})
    try:
        with urllib.request.urlopen(request, timeout=300) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        text = error.read().decode()
        if "the answer does not meet `pattern` of its schema" in text:
            return {"broken": text}
        raise SystemExit(f"{path}: {error.code} {text[:400]}") from None


def schema(pattern):
    return {"type": "object", "properties": {"value": {"type": "string", "pattern": pattern, "maxLength": 40}},
            "required": ["value"], "additionalProperties": False}


def chat(parameters):
    answer = post("/v1/chat/completions", {
        "model": model, "max_tokens": tokens, "seed": 1, "temperature": 0.7, "tool_choice": "required",
        "messages": [{"role": "user", "content": question}],
        "tools": [{"type": "function", "function": {"name": "form", "description": "A form.", "parameters": parameters}}]})
    for call in answer["choices"][0]["message"].get("tool_calls", []):
        yield json.loads(call["function"]["arguments"]), call["function"].get("invalid")


def responses(parameters):
    answer = post("/v1/responses", {
        "model": model, "max_output_tokens": tokens, "temperature": 0.7, "tool_choice": "required", "input": question,
        "tools": [{"type": "function", "name": "form", "description": "A form.", "parameters": parameters}]})
    for item in answer["output"]:
        if item["type"] == "function_call":
            yield json.loads(item["arguments"]), item.get("invalid")


def messages(parameters):
    answer = post("/v1/messages", {
        "model": model, "max_tokens": tokens, "temperature": 0.7, "tool_choice": {"type": "any"},
        "messages": [{"role": "user", "content": question}],
        "tools": [{"name": "form", "description": "A form.", "input_schema": parameters}]})
    for block in answer["content"]:
        if block["type"] == "tool_use":
            yield block["input"], block.get("invalid")


def ollama(parameters):
    request = {"model": model, "stream": False, "messages": [{"role": "user", "content": question}]}
    offered = [{"type": "function", "function": {"name": "form", "description": "A form.", "parameters": parameters}}]
    post("/api/chat", {**request, "options": {"num_predict": 1}, "tools": offered})
    answer = post("/api/chat", {
        **request, "options": {"num_predict": tokens, "temperature": 0.7, "seed": 1}, "format": parameters})
    if "broken" in answer:
        yield {}, answer["broken"]
    elif answer["done_reason"] == "stop":
        yield json.loads(answer["message"]["content"]), None


def native(parameters):
    answer = post("/completion", {
        "model": model, "n_predict": tokens, "temperature": 0.7, "seed": 1, "prompt": question + "\n", "json_schema": parameters})
    if "broken" in answer:
        yield {}, answer["broken"]
    elif answer.get("stop_type") == "eos":
        yield json.loads(answer["content"]), None


broken = 0
for dialect in (chat, responses, messages, ollama, native):
    count, fitting, marked = 0, 0, 0
    for number, pattern in enumerate(patterns[first:last]):
        # Unicode names of classes are ECMAScript's, not Python's.
        expression = re.compile(pattern.replace(r"(?<owner>", "(?P<owner>").replace(r"(?<repo>", "(?P<repo>")
                                .replace(r"\p{L}", r"[^\W\d_]").replace(r"[[^\W\d_] \u0027-]", r"(?:[^\W\d_]|[ '-])"))
        for arguments, invalid in dialect(schema(pattern)):
            count += 1
            value = arguments.get("value", "") if isinstance(arguments, dict) else ""
            fits = isinstance(value, str) and expression.search(value) is not None and len(value) <= 40
            fitting += fits
            marked += not fits and invalid is not None
            if not fits:
                print(f"  {dialect.__name__} {pattern}: {arguments} {invalid}")
                broken += invalid is None
    print(f"patterns {dialect.__name__}: {last - first} asked, {count} whole calls, {fitting} fit, {marked} marked", flush=True)
sys.exit(1 if broken else 0)
