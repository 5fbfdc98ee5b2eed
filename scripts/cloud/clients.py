#!/usr/bin/env python3
"""The vendors' own Python clients speak with scripts/cloud/stand_in.py: streams, pictures, tools and errors.

    scripts/cloud/clients.py ADDRESS      with google-genai, openai and anthropic on Python's path

Prints one line for each check; exit status 1 if one fails.
"""
import base64
import sys

import anthropic
import openai
from google import genai
from google.genai import errors, types

address = sys.argv[1]
KEY = "stand-in-key"
TEXT = "Grüße 🌍!"
PNG = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
PICTURE = f"image/png {len(PNG)}; "
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
failed = 0


def check(name, found, wanted):
    global failed
    isGood = found == wanted
    failed += not isGood
    print(f"{'ok  ' if isGood else 'FAIL'} {name}" + ("" if isGood else f": {found!r}, not {wanted!r}"))


def raises(name, kind, call, **facts):
    try:
        call()
        check(name, "no error", kind.__name__)
    except kind as error:
        check(name, {fact: getattr(error, fact, None) for fact in facts}, facts)


def google():
    def client(key=KEY):
        return genai.Client(api_key=key, http_options=types.HttpOptions(base_url=address, retry_options=types.HttpRetryOptions(attempts=1)))

    def stream(contents, key=KEY, **config):
        # Held until the stream has ended: a client that is released closes its connections.
        api = client(key)
        return list(api.models.generate_content_stream(
            model="gemini-2.5-flash", contents=contents, config=types.GenerateContentConfig(**config)))

    pieces = stream("Hi", system_instruction="Be brief.", max_output_tokens=768, temperature=0.35,
                    thinking_config=types.ThinkingConfig(include_thoughts=True, thinking_budget=512))
    parts = [part for piece in pieces for part in piece.candidates[0].content.parts]
    check("google: text", "".join(part.text for part in parts if not part.thought), TEXT)
    check("google: thinking", "".join(part.text for part in parts if part.thought), "They greet.")
    check("google: reason", pieces[-1].candidates[0].finish_reason, types.FinishReason.STOP)
    usage = pieces[-1].usage_metadata
    check("google: usage", (usage.prompt_token_count, usage.cached_content_token_count, usage.candidates_token_count, usage.thoughts_token_count), (7, 3, 3, 2))
    pieces = stream([types.Part.from_bytes(data=PNG, mime_type="image/png"), "What?"])
    check("google: picture", "".join(piece.text for piece in pieces), PICTURE)
    tool = types.Tool(function_declarations=[types.FunctionDeclaration(name="weather", description="Tells it.", parameters_json_schema=SCHEMA)])
    off = types.AutomaticFunctionCallingConfig(disable=True)
    pieces = stream("Weather?", tools=[tool], automatic_function_calling=off)
    call = pieces[-1].function_calls[0]
    check("google: call", (call.name, call.args), ("weather", {"city": "Köln"}))
    turns = [
        types.Content(role="user", parts=[types.Part(text="Weather?")]), pieces[-1].candidates[0].content,
        types.Content(role="user", parts=[types.Part.from_function_response(name="weather", response={"result": "sunny"})]),
    ]
    check("google: result", "".join(piece.text for piece in stream(turns, tools=[tool], automatic_function_calling=off)), "Result: sunny")
    raises("google: key", errors.ClientError, lambda: stream("Hi", key="wrong"), code=400, status="INVALID_ARGUMENT")
    raises("google: rate", errors.ClientError, lambda: stream("error 429"), code=429, status="RESOURCE_EXHAUSTED")
    raises("google: server", errors.ServerError, lambda: stream("error 503"), code=503, status="UNAVAILABLE")
    api = client()
    check("google: model", api.models.get(model="gemini-2.5-flash").name, "models/gemini-2.5-flash")


def chat_completions():
    def client(key=KEY):
        return openai.OpenAI(base_url=address + "/v1", api_key=key, max_retries=0)

    def stream(messages, key=KEY, **options):
        messages = [{"role": "user", "content": messages}] if isinstance(messages, str) else messages
        return list(client(key).chat.completions.create(
            model="stand-in", messages=messages, stream=True, stream_options={"include_usage": True}, **options))

    def text(pieces):
        return "".join(piece.choices[0].delta.content or "" for piece in pieces if piece.choices)

    pieces = stream("Hi", max_tokens=768, temperature=0.35)
    check("openai: text", text(pieces), TEXT)
    check("openai: reason", pieces[-2].choices[0].finish_reason, "stop")
    usage = pieces[-1].usage
    check("openai: usage", (usage.prompt_tokens, usage.completion_tokens, usage.prompt_tokens_details.cached_tokens), (7, 5, 3))
    url = "data:image/png;base64," + base64.b64encode(PNG).decode()
    content = [{"type": "image_url", "image_url": {"url": url}}, {"type": "text", "text": "What?"}]
    check("openai: picture", text(stream([{"role": "user", "content": content}])), PICTURE)
    tools = [{"type": "function", "function": {"name": "weather", "description": "Tells it.", "parameters": SCHEMA}}]
    with client().chat.completions.stream(model="stand-in", messages=[{"role": "user", "content": "Weather?"}], tools=tools) as answer:
        message = answer.get_final_completion().choices[0].message
    call = message.tool_calls[0]
    check("openai: call", (call.id, call.function.name, call.function.arguments), ("call_1", "weather", '{"city": "Köln"}'))
    calls = [{"id": call.id, "type": "function", "function": {"name": call.function.name, "arguments": call.function.arguments}}]
    turns = [
        {"role": "user", "content": "Weather?"}, {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": call.id, "content": "sunny"},
    ]
    check("openai: result", text(stream(turns, tools=tools)), "Result: sunny")
    raises("openai: key", openai.AuthenticationError, lambda: stream("Hi", key="wrong"), status_code=401, code="invalid_api_key")
    raises("openai: rate", openai.RateLimitError, lambda: stream("error 429"), status_code=429)
    raises("openai: server", openai.InternalServerError, lambda: stream("error 503"), status_code=503)
    raises("openai: cut", Exception, lambda: stream("cut"))
    check("openai: models", [model.id for model in client().models.list()], ["stand-in"])


def messages():
    def client(key=KEY):
        return anthropic.Anthropic(base_url=address, api_key=key, max_retries=0)

    def final(turns, key=KEY, **options):
        turns = [{"role": "user", "content": turns}] if isinstance(turns, str) else turns
        with client(key).messages.stream(model="stand-in", messages=turns, **({"max_tokens": 768} | options)) as answer:
            return answer.get_final_message()

    message = final("Hi", max_tokens=4096, system="Be brief.", thinking={"type": "enabled", "budget_tokens": 2048})
    check("anthropic: text", message.content[-1].text, TEXT)
    check("anthropic: thinking", message.content[0].thinking, "They greet.")
    check("anthropic: reason", message.stop_reason, "end_turn")
    usage = message.usage
    check("anthropic: usage", (usage.input_tokens, usage.cache_read_input_tokens, usage.output_tokens), (4, 3, 5))
    source = {"type": "base64", "media_type": "image/png", "data": base64.b64encode(PNG).decode()}
    content = [{"type": "image", "source": source}, {"type": "text", "text": "What?"}]
    check("anthropic: picture", final([{"role": "user", "content": content}]).content[0].text, PICTURE)
    tools = [{"name": "weather", "description": "Tells it.", "input_schema": SCHEMA}]
    message = final("Weather?", tools=tools)
    call = message.content[0]
    check("anthropic: call", (call.id, call.name, call.input), ("toolu_1", "weather", {"city": "Köln"}))
    check("anthropic: call's reason", message.stop_reason, "tool_use")
    use = {"type": "tool_use", "id": call.id, "name": call.name, "input": call.input}
    turns = [
        {"role": "user", "content": "Weather?"}, {"role": "assistant", "content": [use]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call.id, "content": "sunny"}]},
    ]
    check("anthropic: result", final(turns, tools=tools).content[0].text, "Result: sunny")
    raises("anthropic: key", anthropic.AuthenticationError, lambda: final("Hi", key="wrong"), status_code=401)
    raises("anthropic: rate", anthropic.RateLimitError, lambda: final("error 429"), status_code=429)
    raises("anthropic: overload", anthropic.APIStatusError, lambda: final("error 529"), status_code=529)
    check("anthropic: models", [model.id for model in client().models.list()], ["stand-in"])


for vendor in (google, chat_completions, messages):
    vendor()
sys.exit(1 if failed else 0)
