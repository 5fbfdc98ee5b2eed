#!/usr/bin/env python3
"""A stand-in for the servers of Google (Gemini), OpenAI and Anthropic, and for a relay to Gemini, on a port of this machine.

    scripts/cloud/stand_in.py [PORT [CERTIFICATE]]      prints its address on the first line of output, and ends with its input

The key is `stand-in-key`; another one is refused as the vendor refuses it. It answers the last message:
- with tools offered and no result yet: a call of the first tool with {"city": "Köln"};
- after a tool's result: "Result: " and the result;
- with pictures: the media type and the number of bytes of each;
- `error STATUS`: that status in the vendor's form;
- `cut`: half an answer, then the end of the connection;
- anything else: thinking, if it is asked for, then "Grüße 🌍!".
Names of fields that a vendor does not know are refused, as Google and OpenAI do.
"""
import base64
import json
import re
import ssl
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEY = "stand-in-key"
TEXT = ["Grüße ", "🌍", "!"]
THOUGHT = "They greet."
CALL = {"city": "Köln"}

GEMINI = {"contents", "systemInstruction", "tools", "toolConfig", "generationConfig", "safetySettings", "cachedContent", "model"}
GEMINI_CONFIG = {
    "temperature", "topP", "topK", "maxOutputTokens", "stopSequences", "seed", "frequencyPenalty", "presencePenalty",
    "responseMimeType", "responseJsonSchema", "responseSchema", "thinkingConfig", "candidateCount",
}
OPENAI = {
    "model", "messages", "stream", "stream_options", "max_tokens", "max_completion_tokens", "temperature", "top_p", "stop",
    "seed", "tools", "tool_choice", "response_format", "frequency_penalty", "presence_penalty", "n",
    # Not OpenAI's, but of other servers with this API.
    "top_k", "min_p", "chat_template_kwargs",
}
ANTHROPIC = {
    "model", "messages", "system", "max_tokens", "stream", "temperature", "top_p", "top_k", "stop_sequences", "tools",
    "tool_choice", "thinking", "metadata",
}


class Refusal(Exception):
    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


def know(what, names, where):
    for name in what:
        if name not in names:
            raise Refusal(400, f'Invalid JSON payload received. Unknown name "{name}" at \'{where}\'')


def camel(value, key=""):
    """A request with Google's usual spelling of names: it reads `mime_type` too. What apps name themselves stays."""
    if key in ("args", "response", "parametersJsonSchema", "responseJsonSchema"):
        return value
    if isinstance(value, list):
        return [camel(item) for item in value]
    if not isinstance(value, dict):
        return value
    names = {name: re.sub(r"_(\w)", lambda match: match[1].upper(), name) for name in value}
    return {names[name]: camel(item, names[name]) for name, item in value.items()}


class Conversation:
    """What a request says, in no vendor's form."""

    def __init__(self):
        self.text, self.pictures, self.result, self.tool, self.thinks = "", [], None, None, False

    def picture(self, media, data):
        # Google reads both alphabets.
        self.pictures.append((media, len(base64.b64decode(data.replace("-", "+").replace("_", "/"), validate=True))))

    @property
    def answer(self):
        if self.result is not None:
            return ["Result: ", str(self.result)]
        if self.pictures:
            return [f"{media} {size}; " for media, size in self.pictures]
        return TEXT


class Stream(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "stand-in"
    # Each piece is sent at once, as the vendors do.
    wbufsize = 0

    def log_message(self, *_):
        pass

    def send_json(self, status, document, headers=()):
        data = json.dumps(document, ensure_ascii=False).encode()
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json; charset=UTF-8")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def begin(self, kind="text/event-stream", headers=()):
        self.send_response(200)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Type", kind)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def piece(self, text):
        data = text.encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def cut(self):
        self.close_connection = True
        self.connection.shutdown(2)

    def end(self):
        self.wfile.write(b"0\r\n\r\n")

    # Which vendor

    def do_GET(self):
        path = self.path.split("?")[0]
        try:
            if path == "/agent/health":
                return self.send_json(200, {"status": "ok"})
            if match := re.fullmatch(r"/v1(?:beta)?/models/([\w.-]+)", path):
                self.check(self.headers.get("x-goog-api-key"))
                return self.send_json(200, {"name": "models/" + match[1], "displayName": "Stand-in"})
            if path == "/v1/models" and self.headers.get("anthropic-version"):
                self.check(self.headers.get("x-api-key") or self.bearer)
                return self.send_json(200, {"data": [{"type": "model", "id": "stand-in"}], "has_more": False})
            if path == "/v1/models":
                self.check(self.bearer)
                return self.send_json(200, {"object": "list", "data": [{"id": "stand-in", "object": "model"}]})
            raise Refusal(404, "no such page")
        except Refusal as refusal:
            self.refuse(refusal, path)

    @property
    def bearer(self):
        return (self.headers.get("Authorization") or "").removeprefix("Bearer ")

    def check(self, key):
        if key != KEY:
            raise Refusal(401, "API key not valid. Please pass a valid API key.")

    def refuse(self, refusal, path):
        status, message = refusal.status, str(refusal)
        headers = [("Retry-After", "7")] if status == 429 else []
        if re.match(r"/v1(beta)?/models/", path):
            # Google refuses a wrong key with 400.
            words = {400: "INVALID_ARGUMENT", 401: "INVALID_ARGUMENT", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED", 503: "UNAVAILABLE"}
            details = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}] if status == 401 else []
            sent = 400 if status == 401 else status
            error = {"code": sent, "message": message, "status": words.get(status, "INTERNAL"), "details": details}
            return self.send_json(sent, {"error": error}, headers)
        if path == "/v1/messages" or self.headers.get("anthropic-version"):
            kinds = {400: "invalid_request_error", 401: "authentication_error", 404: "not_found_error", 429: "rate_limit_error", 529: "overloaded_error"}
            return self.send_json(status, {"type": "error", "error": {"type": kinds.get(status, "api_error"), "message": message}}, headers)
        if path.startswith("/v1"):
            code = "invalid_api_key" if status == 401 else None
            return self.send_json(status, {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": code}}, headers)
        return self.send_json(status, {"error": message if status == 401 else {"message": message}}, headers)

    def do_POST(self):
        path, _, query = self.path.partition("?")
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            request = json.loads(body)
            if path == "/ai/chat" or re.fullmatch(r"/v1(?:beta)?/models/[\w.-]+:streamGenerateContent", path):
                isRelay = path == "/ai/chat"
                self.check(self.bearer if isRelay else self.headers.get("x-goog-api-key"))
                return self.gemini(request, "lines" if isRelay else "events" if "alt=sse" in query else "list")
            if path == "/v1/chat/completions":
                self.check(self.bearer)
                return self.openai(request)
            if path == "/v1/messages":
                self.check(self.headers.get("x-api-key") or self.bearer)
                version = self.headers.get("anthropic-version")
                if version not in ("2023-06-01", "2026-10-21"):
                    raise Refusal(400, "anthropic-version: header is required")
                if version != "2023-06-01" and {"temperature", "top_p", "top_k"} & set(request):
                    raise Refusal(400, "temperature, top_p and top_k are no parameters of this version")
                return self.anthropic(request)
            raise Refusal(404, "no such page")
        except Refusal as refusal:
            self.refuse(refusal, path)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            self.refuse(Refusal(400, f"the request cannot be read: {error!r}"), path)

    def prepare(self, conversation):
        if match := re.fullmatch(r"error (\d+)", conversation.text):
            raise Refusal(int(match[1]), "asked for")

    # Gemini

    def gemini(self, request, form):
        request = camel(request)
        know(request, GEMINI, "")
        config = request.get("generationConfig", {})
        know(config, GEMINI_CONFIG, "generation_config")
        found = Conversation()
        bounds = config.get("thinkingConfig", {})
        know(bounds, {"includeThoughts", "thinkingBudget", "thinkingLevel"}, "thinking_config")
        found.thinks = bounds.get("includeThoughts", False)
        for tool in request.get("tools", []):
            for declaration in tool["functionDeclarations"]:
                know(declaration, {"name", "description", "parameters", "parametersJsonSchema"}, "tools")
                if not any("parameters" in name for name in declaration):
                    raise Refusal(400, "a function without parameters")
                found.tool = found.tool or declaration["name"]
        called = []
        for content in request["contents"]:
            if content["role"] not in ("user", "model") or not content["parts"]:
                raise Refusal(400, "Please use a valid role: user, model.")
            for part in content["parts"]:
                know(part, {"text", "inlineData", "functionCall", "functionResponse", "thought", "thoughtSignature"}, "contents.parts")
                if "functionCall" in part:
                    called.append(part["functionCall"]["name"])
                    found.result = None
                if "functionResponse" in part:
                    if part["functionResponse"]["name"] not in called:
                        raise Refusal(400, "a response to a function that was not called")
                    found.result = next(iter(part["functionResponse"]["response"].values()))
        if content["role"] != "user":
            raise Refusal(400, "the last turn has to be the user's")
        for part in content["parts"]:
            found.text = part.get("text", found.text)
            if "inlineData" in part:
                found.picture(part["inlineData"]["mimeType"], part["inlineData"]["data"])
        self.prepare(found)
        usage = {"promptTokenCount": 7, "cachedContentTokenCount": 3, "totalTokenCount": 12}
        pieces = []
        if found.thinks:
            pieces.append({"parts": [{"text": THOUGHT, "thought": True}], "role": "model"})
        if found.tool and found.result is None:
            pieces.append({"parts": [{"functionCall": {"name": found.tool, "args": CALL}}], "role": "model"})
        else:
            pieces += [{"parts": [{"text": text}], "role": "model"} for text in found.answer]
        documents = [{"candidates": [{"content": piece, "index": 0}], "usageMetadata": usage, "modelVersion": "stand-in"} for piece in pieces]
        documents[-1]["candidates"][0]["finishReason"] = "STOP"
        documents[-1]["usageMetadata"] = usage | {"candidatesTokenCount": 3, "thoughtsTokenCount": 2}
        headers = [("X-Hearth-Credits", "41")] if form == "lines" else []
        self.begin("application/json" if form == "list" else "text/event-stream", headers)
        for index, document in enumerate(documents):
            if found.text == "cut" and index == len(documents) - 1:
                return self.cut()
            text = json.dumps(document, ensure_ascii=False)
            if form == "list":
                self.piece(("[" if index == 0 else ",\r\n") + text)
            else:
                self.piece("data: " + text + ("\n" if form == "lines" else "\r\n\r\n"))
        if form == "list":
            self.piece("]")
        self.end()

    # OpenAI

    def openai(self, request):
        know(request, OPENAI, "")
        found = Conversation()
        if request.get("tools"):
            found.tool = request["tools"][0]["function"]["name"]
        called = []
        for message in request["messages"]:
            if message["role"] == "assistant":
                called += [call["id"] for call in message.get("tool_calls") or []]
                for call in message.get("tool_calls") or []:
                    json.loads(call["function"]["arguments"])
            if message["role"] == "tool":
                if message["tool_call_id"] not in called:
                    raise Refusal(400, "a result of a call that was not made")
                found.result = message["content"]
            else:
                found.result = None
        content = message["content"]
        for part in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            if part["type"] == "text":
                found.text = part["text"]
            else:
                media, data = re.fullmatch(r"data:([\w/]+);base64,(.*)", part["image_url"]["url"]).groups()
                found.picture(media, data)
        self.prepare(found)
        if not request.get("stream"):
            raise Refusal(400, "only streams are offered")
        base = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": int(time.time()), "model": request["model"]}
        self.begin()

        def send(delta, reason=None):
            choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
            self.piece("data: " + json.dumps(base | {"choices": [choice], "usage": None}) + "\n\n")

        send({"role": "assistant", "content": "", "refusal": None})
        if found.tool and found.result is None:
            start = {"index": 0, "id": "call_1", "type": "function", "function": {"name": found.tool, "arguments": ""}}
            send({"tool_calls": [start]})
            for part in ['{"city"', ': "K', 'öln"}']:
                send({"tool_calls": [{"index": 0, "function": {"arguments": part}}]})
            send({}, "tool_calls")
        else:
            send({"reasoning_content": THOUGHT})
            for text in found.answer:
                send({"content": text})
                if found.text == "cut":
                    return self.cut()
            send({}, "stop")
        if request.get("stream_options", {}).get("include_usage"):
            usage = {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12, "prompt_tokens_details": {"cached_tokens": 3}}
            self.piece("data: " + json.dumps(base | {"choices": [], "usage": usage}) + "\n\n")
        self.piece("data: [DONE]\n\n")
        self.end()

    # Anthropic

    def anthropic(self, request):
        know(request, ANTHROPIC, "")
        found = Conversation()
        thinking = request.get("thinking", {})
        found.thinks = thinking.get("type") in ("enabled", "adaptive")
        if thinking.get("type") == "enabled" and not 1024 <= thinking["budget_tokens"] < request["max_tokens"]:
            raise Refusal(400, "thinking.budget_tokens: has to be at least 1024 and less than max_tokens")
        if found.thinks and request.get("temperature", 1) != 1:
            raise Refusal(400, "`temperature` may only be set to 1 when thinking is enabled")
        for tool in request.get("tools", []):
            if tool["input_schema"]["type"] != "object":
                raise Refusal(400, "tools: input_schema has to be an object")
            found.tool = found.tool or tool["name"]
        called = []
        for message in request["messages"]:
            blocks = message["content"]
            blocks = [{"type": "text", "text": blocks}] if isinstance(blocks, str) else blocks
            if not blocks:
                raise Refusal(400, "messages: content has to have a block")
            found.result = None
            for block in blocks:
                if block["type"] == "text" and not block["text"]:
                    raise Refusal(400, "messages: text content blocks must be non-empty")
                if block["type"] == "tool_use":
                    if not isinstance(block["input"], dict):
                        raise Refusal(400, "tool_use.input: has to be an object")
                    called.append(block["id"])
                if block["type"] == "tool_result":
                    if block["tool_use_id"] not in called:
                        raise Refusal(400, "tool_result: unexpected tool_use_id")
                    found.result = block["content"] if isinstance(block["content"], str) else block["content"][0]["text"]
        for block in blocks:
            found.text = block.get("text", found.text)
            if block["type"] == "image":
                found.picture(block["source"]["media_type"], block["source"]["data"])
        self.prepare(found)
        if not request.get("stream"):
            raise Refusal(400, "only streams are offered")
        self.begin()

        def send(kind, **members):
            self.piece(f"event: {kind}\ndata: " + json.dumps({"type": kind} | members, ensure_ascii=False) + "\n\n")

        usage = {"input_tokens": 4, "cache_read_input_tokens": 3, "cache_creation_input_tokens": 0, "output_tokens": 1}
        send("message_start", message={
            "id": "msg_1", "type": "message", "role": "assistant", "model": request["model"], "content": [],
            "stop_reason": None, "stop_sequence": None, "usage": usage})
        index = 0
        if found.thinks:
            send("content_block_start", index=0, content_block={"type": "thinking", "thinking": "", "signature": ""})
            send("ping")
            send("content_block_delta", index=0, delta={"type": "thinking_delta", "thinking": THOUGHT})
            send("content_block_delta", index=0, delta={"type": "signature_delta", "signature": "c2lnbg=="})
            send("content_block_stop", index=0)
            index = 1
        reason = "end_turn"
        if found.tool and found.result is None:
            reason = "tool_use"
            send("content_block_start", index=index, content_block={"type": "tool_use", "id": "toolu_1", "name": found.tool, "input": {}})
            for part in ["", '{"city"', ': "K', 'öln"}']:
                send("content_block_delta", index=index, delta={"type": "input_json_delta", "partial_json": part})
        else:
            send("content_block_start", index=index, content_block={"type": "text", "text": ""})
            for text in found.answer:
                send("content_block_delta", index=index, delta={"type": "text_delta", "text": text})
                if found.text == "cut":
                    return self.cut()
        send("content_block_stop", index=index)
        send("message_delta", delta={"stop_reason": reason, "stop_sequence": None}, usage={"output_tokens": 5})
        send("message_stop")
        self.end()


def main():
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 0), Stream)
    server.daemon_threads = True
    scheme = "http"
    if len(sys.argv) > 2:
        scheme, context = "https", ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[2])
        server.socket = context.wrap_socket(server.socket, server_side=True)
    print(f"{scheme}://127.0.0.1:{server.server_address[1]}", flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()


if __name__ == "__main__":
    main()
