"""The openai client against the server: every call and option that it serves."""
import json

import openai
from check import *
from pydantic import BaseModel

client = openai.OpenAI(base_url=url + "/v1", api_key=key, max_retries=0)
hello = [{"role": "user", "content": "Say hello."}]
tools = [{"type": "function", "function": {"name": "get_weather", "description": "The weather.", "parameters": weather}}]


@check
def models():
    assert model in [one.id for one in client.models.list()]
    assert client.models.retrieve(model).id == model
    assert raises(openai.NotFoundError, lambda: client.models.retrieve("nothing")).status_code == 404


@check
def chat():
    answer = client.chat.completions.create(model=model, messages=hello, max_tokens=16)
    assert answer.id.startswith("chatcmpl-") and answer.choices[0].message.content
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens
    assert answer.usage.prompt_tokens_details.cached_tokens >= 0
    assert answer.usage.completion_tokens_details.reasoning_tokens == 0


@check
def chat_stream():
    text, usage, reasons = "", None, []
    for chunk in client.chat.completions.create(
        model=model, messages=hello, max_tokens=16, stream=True, stream_options={"include_usage": True}
    ):
        for choice in chunk.choices:
            text += choice.delta.content or ""
            reasons += [choice.finish_reason] if choice.finish_reason else []
        usage = chunk.usage or usage
    assert text and usage.completion_tokens > 0 and len(reasons) == 1


@check
def seed_repeats():
    def ask(seed):
        return client.chat.completions.create(
            model=model, messages=hello, max_tokens=24, temperature=1, seed=seed).choices[0].message.content
    assert ask(7) == ask(7)
    assert len({ask(seed) for seed in range(4)}) > 1


@check
def stop_and_length():
    whole = client.chat.completions.create(model=model, messages=hello, max_tokens=24, temperature=0)
    text = whole.choices[0].message.content
    cut = client.chat.completions.create(model=model, messages=hello, max_tokens=24, temperature=0, stop=text[3:6])
    assert cut.choices[0].message.content == text[:text.index(text[3:6])] and cut.choices[0].finish_reason == "stop"
    short = client.chat.completions.create(model=model, messages=hello, max_completion_tokens=2)
    assert short.choices[0].finish_reason == "length" and short.usage.completion_tokens == 2


@check
def several_choices():
    answer = client.chat.completions.create(model=model, messages=hello, max_tokens=8, n=3, temperature=1, seed=1)
    assert [choice.index for choice in answer.choices] == [0, 1, 2]
    assert len({choice.message.content for choice in answer.choices}) > 1


@check
def probabilities():
    answer = client.chat.completions.create(
        model=model, messages=hello, max_tokens=6, temperature=0, logprobs=True, top_logprobs=5)
    tokens = answer.choices[0].logprobs.content
    assert "".join(token.token for token in tokens) == answer.choices[0].message.content
    assert all(len(token.top_logprobs) == 5 and token.logprob <= 0 for token in tokens)
    # Greedy: each token is the most likely one.
    assert all(token.logprob == token.top_logprobs[0].logprob for token in tokens)


@check
def bias():
    free = client.chat.completions.create(
        model=model, messages=hello, max_tokens=1, temperature=0, logprobs=True, top_logprobs=1,
        extra_body={"verbose": False})
    first = free.model_dump()["choices"][0]["logprobs"]["content"][0]
    other = client.chat.completions.create(
        model=model, messages=hello, max_tokens=1, temperature=0, logit_bias={str(first["id"]): -100})
    assert other.choices[0].message.content != free.choices[0].message.content


@check
def penalties_and_filters():
    client.chat.completions.create(
        model=model, messages=hello, max_tokens=8, top_p=0.5, frequency_penalty=1, presence_penalty=1,
        extra_body={"top_k": 5, "min_p": 0.1})


@check
def json_object():
    answer = client.chat.completions.create(
        model=model, messages=[{"role": "user", "content": "A JSON object with one key a."}], max_tokens=200,
        temperature=0, response_format={"type": "json_object"})
    if answer.choices[0].finish_reason == "stop":
        assert isinstance(json.loads(answer.choices[0].message.content), dict)


@check
def json_schema_and_parse():
    class Person(BaseModel):
        name: str
        age: int

    answer = client.chat.completions.parse(
        model=model, messages=[{"role": "user", "content": "Anna is 5 years old."}], max_tokens=200, temperature=0,
        response_format=Person)
    assert isinstance(answer.choices[0].message.parsed, Person)
    strict = client.chat.completions.create(
        model=model, messages=[{"role": "user", "content": "Anna is 5 years old."}], max_tokens=200, temperature=0,
        response_format={"type": "json_schema", "json_schema": {"name": "person", "strict": True, "schema": person}})
    assert set(json.loads(strict.choices[0].message.content)) == {"name", "age"}


@check
def tools_are_called():
    asked = [{"role": "user", "content": "What is the weather in Paris?"}]
    for choice in ("required", {"type": "function", "function": {"name": "get_weather"}}):
        answer = client.chat.completions.create(
            model=model, messages=asked, tools=tools, tool_choice=choice, parallel_tool_calls=False, max_tokens=100)
        message = answer.choices[0].message
        assert answer.choices[0].finish_reason == "tool_calls"
        assert json.loads(message.tool_calls[0].function.arguments)["city"] in ("Paris", "Rome")
    result = {"role": "tool", "tool_call_id": message.tool_calls[0].id, "content": "sunny"}
    told = client.chat.completions.create(model=model, messages=asked + [message, result], tools=tools, max_tokens=30)
    assert told.choices[0].message.content or told.choices[0].message.tool_calls
    none = client.chat.completions.create(
        model=model, messages=asked, tools=tools, tool_choice="none", max_tokens=10)
    assert none.choices[0].message.tool_calls is None


@check
def tools_in_a_stream():
    with client.chat.completions.stream(
        model=model, messages=[{"role": "user", "content": "Weather in Rome?"}], tools=tools, tool_choice="required",
        max_tokens=100,
    ) as stream:
        kinds = {event.type for event in stream}
        call = stream.get_final_completion().choices[0].message.tool_calls[0]
    assert call.function.name == "get_weather" and "tool_calls.function.arguments.done" in kinds


@check
def completions():
    answer = client.completions.create(model=model, prompt="The sky is", max_tokens=8, logprobs=2, echo=True)
    assert answer.choices[0].text.startswith("The sky is")
    assert len(answer.choices[0].logprobs.tokens) == len(answer.choices[0].logprobs.token_logprobs)
    several = client.completions.create(model=model, prompt=["One", "Two"], max_tokens=4, n=2)
    assert [choice.index for choice in several.choices] == [0, 1, 2, 3]
    text = "".join(
        chunk.choices[0].text for chunk in client.completions.create(
            model=model, prompt="The sky is", max_tokens=8, stream=True) if chunk.choices)
    assert text


@check
def responses():
    first = client.responses.create(model=model, input="My name is Anna.", max_output_tokens=16)
    assert first.id.startswith("resp_") and first.output_text
    second = client.responses.create(
        model=model, input="What is my name?", previous_response_id=first.id, max_output_tokens=16,
        instructions="Answer with one word.")
    assert second.previous_response_id == first.id and second.usage.input_tokens > first.usage.input_tokens
    assert client.responses.retrieve(second.id).output_text == second.output_text
    client.responses.delete(first.id)
    raises(openai.NotFoundError, lambda: client.responses.retrieve(first.id))


@check
def responses_stream():
    with client.responses.stream(model=model, input="Say hello.", max_output_tokens=600, temperature=0) as stream:
        deltas = "".join(event.delta for event in stream if event.type == "response.output_text.delta")
        assert stream.get_final_response().output_text == deltas


@check
def responses_tools_and_format():
    flat = [{"type": "function", "strict": True, **tools[0]["function"]}]
    answer = client.responses.create(
        model=model, input="Weather in Paris?", tools=flat, tool_choice="required", max_output_tokens=100)
    call = next(item for item in answer.output if item.type == "function_call")
    assert call.name == "get_weather"
    told = client.responses.create(
        model=model, previous_response_id=answer.id, tools=flat, max_output_tokens=20,
        input=[{"type": "function_call_output", "call_id": call.call_id, "output": "sunny"}])
    assert told.status in ("completed", "incomplete")

    class Person(BaseModel):
        name: str
        age: int

    parsed = client.responses.parse(
        model=model, input="Anna is 5 years old.", text_format=Person, max_output_tokens=200, temperature=0)
    assert isinstance(parsed.output_parsed, Person)


@check
def embeddings():
    made = client.embeddings.create(model=model, input=["a cat", "a kitten", "a stock exchange"])
    near, far = (sum(a * b for a, b in zip(made.data[0].embedding, made.data[i].embedding)) for i in (1, 2))
    assert near > far and made.usage.total_tokens > 0
    plain = client.embeddings.create(model=model, input="a cat", encoding_format="float")
    assert all(abs(a - b) < 1e-5 for a, b in zip(plain.data[0].embedding, made.data[0].embedding))


@check
def errors():
    assert raises(openai.NotFoundError, lambda: client.chat.completions.create(
        model="nothing", messages=hello)).code == "model_not_found"
    error = raises(openai.BadRequestError, lambda: client.chat.completions.create(
        model=model, messages=hello, temperature=-1))
    assert error.param == "temperature"
    raises(openai.BadRequestError, lambda: client.chat.completions.create(
        model=model, messages=[{"role": "user", "content": "word " * 200_000}]))
    image = [{"type": "image_url", "image_url": {"url": "data:image/png;base64," + picture}}]
    try:
        client.chat.completions.create(model=model, messages=[{"role": "user", "content": image}], max_tokens=4)
    except openai.BadRequestError as refused:
        assert "image input is not supported" in refused.message


@check
def many_at_once():
    from concurrent.futures import ThreadPoolExecutor

    def ask(number):
        return client.chat.completions.create(
            model=model, messages=[{"role": "user", "content": f"Say {number}."}], max_tokens=16, temperature=0)
    with ThreadPoolExecutor(16) as pool:
        assert all(answer.choices[0].message.content for answer in pool.map(ask, range(16)))


finish()
