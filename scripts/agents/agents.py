#!/usr/bin/env python3
"""Runs coding agents once each against a server whose model says ok, and expects exit 0 and that word.

    scripts/agents/agents.py PACKAGES URL FOLDER

Codex chooses the form of its tools by the model's name: functions in a field, free text with a grammar, or all of them inside
the input.
"""
import os
import subprocess
import sys
import time

packages, url, folder = sys.argv[1:]
CLAUDE = os.path.join(packages, "claude_agent_sdk/_bundled/claude")
CODEX = os.path.join(packages, "codex_cli_bin/bin/codex")
QUESTION = "Say ok"
failed = 0


def run(name, home, command, **variables):
    """Runs an agent in a folder of its own, and reports how it ended."""
    global failed
    work = os.path.join(home, "work")
    os.makedirs(work, exist_ok=True)
    begin = time.monotonic()
    try:
        ended = subprocess.run(
            command, cwd=work, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=240,
            env={"HOME": home, "PATH": "/usr/bin:/bin", "NO_PROXY": "*", **variables})
        code, output, errors = ended.returncode, ended.stdout, ended.stderr
    except subprocess.TimeoutExpired as error:
        code, output, errors = "none", str(error.stdout or ""), str(error.stderr or "")
    last = (output.strip().splitlines() or [""])[-1]
    well = code == 0 and last == "ok"
    failed += not well
    print(f"{'ok  ' if well else 'FAIL'}  {name}: exit {code}, {time.monotonic() - begin:.1f} s", flush=True)
    if not well:
        print(output[-2000:], errors[-2000:], sep="\n", file=sys.stderr)


def claude(model):
    home = os.path.join(folder, "claude-" + model)
    run(f"Claude Code, {model}", home, [CLAUDE, "-p", QUESTION, "--model", model],
        ANTHROPIC_BASE_URL=url, ANTHROPIC_API_KEY="none", IS_SANDBOX="1", DISABLE_AUTOUPDATER="1")


def codex(model):
    home = os.path.join(folder, "codex-" + model)
    os.makedirs(home)
    with open(os.path.join(home, "config.toml"), "w") as file:
        file.write(
            f'model_provider = "hearth"\n[model_providers.hearth]\nname = "Hearth"\nbase_url = "{url}/v1"\n'
            'wire_api = "responses"\n')
    run(f"Codex, {model}", home, [CODEX, "exec", "--skip-git-repo-check", "-m", model, QUESTION], CODEX_HOME=home)


claude("says-ok")
for name in ("says-ok", "gpt-5.5", "gpt-6-sol"):
    codex(name)
sys.exit(1 if failed else 0)
