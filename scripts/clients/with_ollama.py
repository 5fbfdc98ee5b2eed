"""The ollama client against the server."""
import ollama
from check import *

client = ollama.Client(host=url, headers={"Authorization": "Bearer " + key})
hello = [{"role": "user", "content": "Say hello."}]


def get_weather(city: str) -> str:
    """
    The weather of a city.

    Args:
        city: The city
    """
    return "sunny"


@check
def listed():
    assert model in [one.model for one in client.list().models]


@check
def shown():
    details = client.show(model)
    assert details.details.format == "gguf" and "completion" in details.capabilities
    assert details.modelinfo["general.architecture"]


@check
def chat():
    answer = client.chat(model, hello, options={"num_predict": 16, "temperature": 0, "seed": 1})
    assert answer.message.content and answer.done and answer.eval_count > 0 and answer.total_duration > 0


@check
def chat_stream():
    parts = list(client.chat(model, hello, stream=True, options={"num_predict": 16}))
    assert "".join(part.message.content for part in parts) and parts[-1].done
    assert parts[-1].done_reason in ("stop", "length")


@check
def tools():
    answer = client.chat(
        model, [{"role": "user", "content": "What is the weather in Paris?"}], tools=[get_weather],
        options={"num_predict": 60})
    assert answer.message.content is not None or answer.message.tool_calls
    call = {"function": {"name": "get_weather", "arguments": {"city": "Paris"}}}
    told = client.chat(
        model, hello + [{"role": "assistant", "tool_calls": [call]},
                        {"role": "tool", "tool_name": "get_weather", "content": "sunny"}],
        options={"num_predict": 10})
    assert told.done


@check
def formats():
    import json
    answer = client.chat(
        model, [{"role": "user", "content": "Anna is 5."}], format=person, options={"num_predict": 200, "temperature": 0})
    assert set(json.loads(answer.message.content)) == {"name", "age"}
    client.chat(model, hello, format="json", options={"num_predict": 20})


@check
def generate():
    answer = client.generate(model, "The sky is", system="Be brief.", options={"num_predict": 8})
    assert answer.response and answer.eval_duration >= 0
    raw = client.generate(model, "The sky is", raw=True, options={"num_predict": 8})
    assert raw.response
    assert "".join(p.response for p in client.generate(model, "Hi", stream=True, options={"num_predict": 8}))


@check
def thinking():
    client.chat(model, hello, think=False, options={"num_predict": 8})


@check
def embed():
    assert len(client.embed(model, ["a", "b"]).embeddings) == 2
    assert client.embeddings(model, "a").embedding


@check
def warm_and_loaded():
    client.generate(model, "Hi", keep_alive="5m", options={"num_predict": 1})
    assert model in [one.model for one in client.ps().models]
    assert client.generate(model, keep_alive=0).done_reason == "unload"


@check
def errors():
    assert raises(ollama.ResponseError, lambda: client.chat("nothing", hello)).status_code == 404
    assert raises(ollama.ResponseError, lambda: client.show("../x")).status_code == 404
    raises(ollama.ResponseError, lambda: client.pull("/etc/passwd"))
    raises(ollama.ResponseError, lambda: client.delete("nothing"))


finish()
