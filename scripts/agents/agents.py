#!/usr/bin/env python3
"""Runs coding agents, unchanged, against a server, and expects that each ends with exit 0 and with a word.

    scripts/agents/agents.py PACKAGES AIDER URL FOLDER ok MODEL NAME…
    scripts/agents/agents.py PACKAGES AIDER URL FOLDER repair MODEL NAME…

`ok` asks each for one word. `repair` gives each a program with a fault: the file has to be repaired afterwards, by the agent's own
tools. Claude Code and aider run with MODEL; Codex with MODEL and each NAME, since it chooses the form of its tools by the model's name:
functions in a field, free text with a grammar, or all of them inside the input.
"""
import os
import subprocess
import sys
import time

packages, aider_packages, url, folder, work, model, *names = sys.argv[1:]
CLAUDE = os.path.join(packages, "claude_agent_sdk/_bundled/claude")
CODEX = os.path.join(packages, "codex_cli_bin/bin/codex")
FAULTY = "def total(first, second):\n    return first - second\n"
CHECK = "from total import total\nassert total(2, 3) == 5\nprint('passed')\n"
failed = 0


def run(name, home, command, last=None, **variables):
    """Runs an agent in a folder of its own, and reports how it ended. One line of its output has to be the word."""
    global failed
    place = os.path.join(home, "work")
    os.makedirs(place)
    question = "Say ok"
    if work == "repair":
        for file, text in (("total.py", FAULTY), ("check.py", CHECK)):
            with open(os.path.join(place, file), "w") as target:
                target.write(text)
        question = f"Repair total.py in {place} so that check.py passes."
    begin = time.monotonic()
    try:
        ended = subprocess.run(
            [question if word is None else word for word in command], cwd=place, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=240,
            env={"HOME": home, "PATH": "/usr/bin:/bin", "NO_PROXY": "*", "PYTHONDONTWRITEBYTECODE": "1", **variables})
        code, output, errors = ended.returncode, ended.stdout, ended.stderr
    except subprocess.TimeoutExpired as error:
        code, output, errors = "none", str(error.stdout or ""), str(error.stderr or "")
    lines = [line.strip() for line in output.splitlines()]
    well = code == 0 and (last or {"ok": "ok", "repair": "repaired"}[work]) in lines
    if work == "repair":
        well = well and subprocess.run([sys.executable, "check.py"], cwd=place, capture_output=True).returncode == 0
    failed += not well
    print(f"{'ok  ' if well else 'FAIL'}  {name}, {work}: exit {code}, {time.monotonic() - begin:.1f} s", flush=True)
    if not well:
        print(output[-2000:], errors[-2000:], sep="\n", file=sys.stderr)


def home_of(agent, model):
    home = os.path.join(folder, work, agent + "-" + model.replace("/", "-"))
    os.makedirs(home)
    return home


def claude(model):
    run(f"Claude Code, {model}", home_of("claude", model),
        [CLAUDE, "-p", None, "--model", model, "--permission-mode", "bypassPermissions"],
        ANTHROPIC_BASE_URL=url, ANTHROPIC_API_KEY="none", IS_SANDBOX="1", DISABLE_AUTOUPDATER="1")


def codex(model):
    home = home_of("codex", model)
    with open(os.path.join(home, "config.toml"), "w") as file:
        file.write(
            f'model_provider = "hearth"\n[model_providers.hearth]\nname = "Hearth"\nbase_url = "{url}/v1"\n'
            'wire_api = "responses"\n')
    run(f"Codex, {model}", home,
        [CODEX, "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "-m", model, None],
        CODEX_HOME=home)


def aider(model):
    home = home_of("aider", model)
    run(f"aider, {model}", home,
        [sys.executable, "-m", "aider", "--model", "openai/" + model, "--edit-format", "diff", "--yes-always", "--no-git", "--no-check-update",
         "--no-show-model-warnings", "--analytics-disable", "--no-pretty", "--map-tokens", "0", "--message", None,
         *(["--auto-test", "--test-cmd", f"{sys.executable} check.py", "total.py"] if work == "repair" else [])],
        last="Applied edit to total.py" if work == "repair" else "ok",
        PYTHONPATH=aider_packages, OPENAI_API_BASE=url + "/v1", OPENAI_API_KEY="none", LITELLM_LOCAL_MODEL_COST_MAP="True")


claude(model)
aider(model)
for name in [model, *names]:
    codex(name)
sys.exit(1 if failed else 0)
