"""litellm, langchain-openai, instructor and llm against the server."""
import json
import os
import subprocess
import sys
import tempfile

from check import *
from pydantic import BaseModel

hello = [{"role": "user", "content": "Say hello."}]
tools = [{"type": "function", "function": {"name": "get_weather", "description": "The weather.", "parameters": weather}}]


class Person(BaseModel):
    name: str
    age: int


@check
def litellm_all_dialects():
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    import litellm
    litellm.suppress_debug_info = True
    for name, base in (("openai/", url + "/v1"), ("ollama_chat/", url), ("anthropic/", url)):
        extra = {"api_base": base, "api_key": key, "max_tokens": 12}
        answer = litellm.completion(model=name + model, messages=hello, **extra)
        assert answer.choices[0].message.content, name
        text = "".join(
            chunk.choices[0].delta.content or ""
            for chunk in litellm.completion(model=name + model, messages=hello, stream=True, **extra))
        assert text, name
    answer = litellm.completion(
        model="openai/" + model, messages=[{"role": "user", "content": "Weather in Paris?"}], tools=tools,
        tool_choice="required", api_base=url + "/v1", api_key=key, max_tokens=100)
    assert answer.choices[0].message.tool_calls[0].function.name == "get_weather"
    made = litellm.embedding(model="openai/" + model, input=["a"], api_base=url + "/v1", api_key=key)
    assert made.data[0]["embedding"]


@check
def langchain():
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
    from langchain_openai import ChatOpenAI, OpenAIEmbeddings
    chat = ChatOpenAI(model=model, base_url=url + "/v1", api_key=key, max_tokens=60, temperature=0, max_retries=0)
    answer = chat.invoke([SystemMessage("Be brief."), HumanMessage("Say hello.")])
    assert answer.content and answer.usage_metadata["total_tokens"] > 0
    assert "".join(chunk.content for chunk in chat.stream("Say hello."))
    assert len(chat.batch(["One", "Two"])) == 2
    called = chat.bind_tools(tools, tool_choice="get_weather").invoke("Weather in Paris?")
    assert called.tool_calls[0]["args"]["city"] in ("Paris", "Rome")
    told = chat.invoke(
        [HumanMessage("Weather in Paris?"), called, ToolMessage("sunny", tool_call_id=called.tool_calls[0]["id"])])
    assert isinstance(told, AIMessage)
    for method in ("json_schema", "function_calling"):
        person = chat.with_structured_output(Person, method=method).invoke("Anna is 5 years old.")
        assert isinstance(person, Person), method
    responses = ChatOpenAI(
        model=model, base_url=url + "/v1", api_key=key, max_tokens=20, use_responses_api=True, max_retries=0)
    assert responses.invoke("Say hello.").content
    vectors = OpenAIEmbeddings(
        model=model, base_url=url + "/v1", api_key=key, check_embedding_ctx_length=False).embed_documents(["a", "b"])
    assert len(vectors) == 2


@check
def instructor_modes():
    import instructor
    import openai
    for mode in (instructor.Mode.TOOLS, instructor.Mode.JSON, instructor.Mode.JSON_SCHEMA):
        client = instructor.from_openai(openai.OpenAI(base_url=url + "/v1", api_key=key, max_retries=0), mode=mode)
        person = client.chat.completions.create(
            model=model, messages=[{"role": "user", "content": "Anna is 5 years old."}], response_model=Person,
            max_tokens=200, temperature=0, max_retries=3)
        assert isinstance(person, Person), mode


@check
def llm_command():
    home = tempfile.mkdtemp()
    with open(os.path.join(home, "extra-openai-models.yaml"), "w") as file:
        file.write(
            f"- model_id: hearth\n  model_name: {model}\n  api_base: {url}/v1\n  api_key_name: hearth\n"
            f"  supports_schema: true\n  supports_tools: true\n")
    environment = dict(os.environ, LLM_USER_PATH=home, OPENAI_API_KEY=key)

    def run(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "llm", *arguments], env=environment, check=True, capture_output=True, text=True,
            timeout=300).stdout
    with open(os.path.join(home, "keys.json"), "w") as file:
        json.dump({"hearth": key}, file)
    assert run("-m", "hearth", "Say hello.", "-o", "max_tokens", "12").strip()
    assert run("-m", "hearth", "Say hello.", "--no-stream", "-o", "max_tokens", "12").strip()
    assert run("-c", "Again.", "-o", "max_tokens", "12").strip()
    schema = json.loads(run("-m", "hearth", "Anna is 5.", "--schema", "name, age int", "-o", "max_tokens", "200"))
    assert set(schema) == {"name", "age"}


finish()
