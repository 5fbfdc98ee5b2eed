"""The anthropic client against the server."""
import anthropic
from check import *

client = anthropic.Anthropic(base_url=url, api_key=key, max_retries=0)
hello = [{"role": "user", "content": "Say hello."}]
tools = [{"name": "get_weather", "description": "The weather.", "input_schema": weather}]


@check
def message():
    answer = client.messages.create(model=model, max_tokens=16, messages=hello, system="Be brief.")
    assert answer.content[0].type == "text" and answer.content[0].text
    assert answer.stop_reason in ("end_turn", "max_tokens") and answer.usage.output_tokens > 0


@check
def stream():
    with client.messages.stream(model=model, max_tokens=16, messages=hello) as stream:
        text = "".join(stream.text_stream)
        final = stream.get_final_message()
    assert text == final.content[0].text and final.usage.input_tokens + final.usage.cache_read_input_tokens > 0


@check
def options():
    # The newest client has no arguments for these, and the API still takes them.
    sampling = {"temperature": 0, "top_p": 0.9, "top_k": 5}
    answer = client.messages.create(
        model=model, max_tokens=24, messages=hello, metadata={"user_id": "me"},
        extra_body=sampling)
    text = answer.content[0].text
    stopped = client.messages.create(
        model=model, max_tokens=24, messages=hello, stop_sequences=[text[3:6]], extra_body=sampling)
    assert stopped.stop_reason == "stop_sequence" and stopped.stop_sequence == text[3:6]


@check
def prefill():
    answer = client.messages.create(
        model=model, max_tokens=8, messages=hello + [{"role": "assistant", "content": "Hello, my"}])
    assert answer.content[0].text


@check
def tool_use():
    asked = [{"role": "user", "content": "What is the weather in Paris?"}]
    answer = client.messages.create(
        model=model, max_tokens=100, messages=asked, tools=tools, tool_choice={"type": "any"})
    call = next(block for block in answer.content if block.type == "tool_use")
    assert answer.stop_reason == "tool_use" and call.input["city"] in ("Paris", "Rome")
    result = {"type": "tool_result", "tool_use_id": call.id, "content": [{"type": "text", "text": "sunny"}]}
    told = client.messages.create(
        model=model, max_tokens=20, tools=tools,
        messages=asked + [{"role": "assistant", "content": answer.content}, {"role": "user", "content": [result]}])
    assert told.content
    with client.messages.stream(
        model=model, max_tokens=100, messages=asked, tools=tools, tool_choice={"type": "tool", "name": "get_weather"},
    ) as stream:
        assert any(block.type == "tool_use" for block in stream.get_final_message().content)


@check
def thinking():
    client.messages.create(
        model=model, max_tokens=2048, messages=hello, thinking={"type": "enabled", "budget_tokens": 1024},
        stop_sequences=["."])


@check
def structured():
    answer = client.messages.create(
        model=model, max_tokens=200, messages=[{"role": "user", "content": "Anna is 5."}], extra_body={"temperature": 0},
        output_config={"format": {"type": "json_schema", "schema": person}})
    import json
    assert set(json.loads(answer.content[0].text)) == {"name", "age"}


@check
def count_tokens():
    short = client.messages.count_tokens(model=model, messages=hello).input_tokens
    longer = client.messages.count_tokens(model=model, messages=hello, system="Be brief.", tools=tools).input_tokens
    assert longer > short > 0


@check
def models():
    assert model in [one.id for one in client.models.list()]


@check
def errors():
    raises(anthropic.NotFoundError, lambda: client.messages.create(model="nothing", max_tokens=5, messages=hello))
    error = raises(anthropic.BadRequestError, lambda: client.messages.create(
        model=model, max_tokens=5, messages=hello, extra_body={"top_p": 7}))
    assert error.body["error"]["type"] == "invalid_request_error"


finish()
