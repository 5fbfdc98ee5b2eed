#!/usr/bin/env python3
"""Runs people's frameworks for agents, unchanged, against a server: each repairs a program with three tools of its own.

    PYTHONPATH=PACKAGES scripts/agents/frameworks.py URL FOLDER MODEL

openai-agents, pydantic-ai, langchain, litellm and llm, through Chat Completions, Responses and Messages.
"""
import asyncio
import json
import os
import subprocess
import sys
import time
import traceback

os.environ.update({"LITELLM_LOCAL_MODEL_COST_MAP": "True", "OPENAI_AGENTS_DISABLE_TRACING": "1", "LANGSMITH_TRACING": "false",
                   "ANONYMIZED_TELEMETRY": "false", "OPENAI_API_KEY": "none", "ANTHROPIC_API_KEY": "none"})
# A script of this folder has the name of a package.
del sys.path[0]
url, folder, model = sys.argv[1:]
base = url + "/v1"
FAULTY = "def total(first, second):\n    return first - second\n"
CHECK = "from total import total\nassert total(2, 3) == 5\nprint('passed')\n"

TOOLS = '''
import subprocess

def read_file(path: str) -> str:
    """Reads a file."""
    return open(path).read()

def edit_file(path: str, old: str, new: str) -> str:
    """Replaces a text in a file."""
    text = open(path).read()
    open(path, "w").write(text.replace(old, new))
    return "changed" if old in text else "not found"

def run_command(command: str) -> str:
    """Runs a command in the folder of the program."""
    ended = subprocess.run(command, shell=True, cwd=PLACE, capture_output=True, text=True)
    return ended.stdout + ended.stderr
'''


def tools_in(place):
    names = {"PLACE": place}
    exec(TOOLS, names)
    return [names["read_file"], names["edit_file"], names["run_command"]]


def openai_agents(form):
    def repair(place, question):
        from agents import Agent, OpenAIChatCompletionsModel, OpenAIResponsesModel, Runner, function_tool, set_tracing_disabled
        from openai import AsyncOpenAI
        set_tracing_disabled(True)
        kind = OpenAIResponsesModel if form == "Responses" else OpenAIChatCompletionsModel
        agent = Agent(name="repairer", instructions="Repair programs.", tools=[function_tool(tool) for tool in tools_in(place)],
                      model=kind(model, AsyncOpenAI(base_url=base, api_key="none")))

        async def run():
            stream = Runner.run_streamed(agent, question)
            async for _ in stream.stream_events():
                pass
            return stream.final_output
        return asyncio.run(run())
    return repair


def pydantic_ai(form):
    def repair(place, question):
        from pydantic_ai import Agent
        if form == "Messages":
            from pydantic_ai.models.anthropic import AnthropicModel
            from pydantic_ai.providers.anthropic import AnthropicProvider
            from anthropic import AsyncAnthropic
            chosen = AnthropicModel(model, provider=AnthropicProvider(
                anthropic_client=AsyncAnthropic(base_url=url, api_key="none")))
        else:
            from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
            from pydantic_ai.providers.openai import OpenAIProvider
            kind = OpenAIResponsesModel if form == "Responses" else OpenAIChatModel
            chosen = kind(model, provider=OpenAIProvider(base_url=base, api_key="none"))
        return Agent(chosen, tools=tools_in(place)).run_sync(question).output
    return repair


def langchain(form):
    def repair(place, question):
        from langchain.agents import create_agent
        if form == "Messages":
            from langchain_anthropic import ChatAnthropic
            chat = ChatAnthropic(model=model, base_url=url, api_key="none", max_retries=0)
        else:
            from langchain_openai import ChatOpenAI
            chat = ChatOpenAI(model=model, base_url=base, api_key="none", max_retries=0, use_responses_api=form == "Responses")
        answer = create_agent(chat, tools_in(place)).invoke({"messages": [{"role": "user", "content": question}]})
        return answer["messages"][-1].text
    return repair


def litellm(form):
    def repair(place, question):
        import litellm
        litellm.suppress_debug_info = True
        kind, address = ("anthropic/", url) if form == "Messages" else ("openai/", base)
        tools = {tool.__name__: tool for tool in tools_in(place)}
        described = [{"type": "function", "function": {
            "name": name, "description": tool.__doc__, "parameters": {
                "type": "object", "required": list(tool.__annotations__)[:-1],
                "properties": {key: {"type": "string"} for key in list(tool.__annotations__)[:-1]}}}}
            for name, tool in tools.items()]
        messages = [{"role": "user", "content": question}]
        for _ in range(8):
            message = litellm.completion(model=kind + model, messages=messages, tools=described, api_base=address, api_key="none",
                                         max_tokens=500).choices[0].message
            if not message.tool_calls:
                return message.content
            messages.append(message.model_dump())
            for call in message.tool_calls:
                messages.append({"role": "tool", "tool_call_id": call.id,
                                 "content": tools[call.function.name](**json.loads(call.function.arguments))})
        return "no end"
    return repair


def llm(_):
    def repair(place, question):
        home = os.path.join(place, "../llm")
        os.makedirs(home)
        with open(os.path.join(home, "extra-openai-models.yaml"), "w") as file:
            file.write(f"- model_id: served\n  model_name: {model}\n  api_base: {base}\n  supports_tools: true\n  can_stream: true\n")
        ended = subprocess.run(
            [sys.executable, "-m", "llm", "prompt", "-m", "served", "--functions", f"PLACE = {place!r}\n{TOOLS}", question], cwd=place,
            env=dict(os.environ, LLM_USER_PATH=home, HOME=home), capture_output=True, text=True, stdin=subprocess.DEVNULL)
        return ended.stdout.strip() or ended.stderr
    return repair


failed = 0
runs = [(openai_agents, ["Chat", "Responses"]), (pydantic_ai, ["Chat", "Responses", "Messages"]),
        (langchain, ["Chat", "Responses", "Messages"]), (litellm, ["Chat", "Messages"]), (llm, ["Chat"])]
for maker, forms in runs:
    for form in forms:
        place = os.path.join(folder, "frameworks", f"{maker.__name__}-{form}", "work")
        os.makedirs(place)
        for name, text in (("total.py", FAULTY), ("check.py", CHECK)):
            with open(os.path.join(place, name), "w") as file:
                file.write(text)
        begin, word = time.monotonic(), ""
        try:
            word = str(maker(form)(place, f"Repair total.py in {place} so that check.py passes.")).strip()
        except Exception:
            word = traceback.format_exc()[-1500:]
        well = word == "repaired" and subprocess.run([sys.executable, "check.py"], cwd=place, capture_output=True).returncode == 0
        failed += not well
        print(f"{'ok  ' if well else 'FAIL'}  {maker.__name__}, {form}, repair: {time.monotonic() - begin:.1f} s"
              + ("" if well else f"\n{word}"), flush=True)
sys.exit(1 if failed else 0)
