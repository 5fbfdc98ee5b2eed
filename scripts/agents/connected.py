#!/usr/bin/env python3
"""Connects agents to a running server by `hearth connect`, runs each without further settings, and takes the connection back.

    scripts/agents/connected.py HEARTH PACKAGES AIDER FRAMEWORKS FOLDER MODEL

Each has settings of its own before. Each has to answer "ok" with exit 0, and its files are equal to the byte afterwards.
HEARTH_HOME names the home of the server.
"""
import os
import subprocess
import sys

hearth, packages, aider_packages, llm_packages, folder, model = sys.argv[1:]
base = {"PATH": "/usr/bin:/bin", "NO_PROXY": "*", "PYTHONDONTWRITEBYTECODE": "1", "HEARTH_HOME": os.environ["HEARTH_HOME"]}
CLAUDE = os.path.join(packages, "claude_agent_sdk/_bundled/claude")
CODEX = os.path.join(packages, "codex_cli_bin/bin/codex")
AGENTS = {
    "claude": (
        {".claude/settings.json": '{\n    "theme":  "dark",\n  "env": {"EDITOR": "vi"}\n}\n'},
        [CLAUDE, "-p", "Say ok"], {"IS_SANDBOX": "1", "DISABLE_AUTOUPDATER": "1"}),
    "codex": (
        {".codex/config.toml": '# Mine.\nmodel = "gpt-5.5"  # for work\n\n[tui]\nnotifications = false\n'},
        [CODEX, "exec", "--skip-git-repo-check", "Say ok"], {}),
    "aider": (
        {".aider.conf.yml": "# Mine.\ndark-mode: true\n"},
        [sys.executable, "-m", "aider", "--yes-always", "--no-git", "--no-check-update", "--no-show-model-warnings",
         "--analytics-disable", "--no-pretty", "--message", "Say ok"],
        {"PYTHONPATH": aider_packages, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}),
    "llm": (
        {".config/io.datasette.llm/extra-openai-models.yaml": "- model_id: mine\n  model_name: mine\n"},
        [sys.executable, "-m", "llm", "prompt", "-m", "hearth/" + model, "Say ok"], {"PYTHONPATH": llm_packages}),
}
failed = 0
for name, (files, command, variables) in AGENTS.items():
    home = os.path.join(folder, "connected", name)
    work = os.path.join(home, "work")
    os.makedirs(work)
    for file, text in files.items():
        os.makedirs(os.path.dirname(os.path.join(home, file)), exist_ok=True)
        with open(os.path.join(home, file), "w") as target:
            target.write(text)

    def run(words, **more):
        return subprocess.run(words, cwd=work, env={"HOME": home, **base, **more}, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=240)

    steps = [run([hearth, "connect", name, "--model", model])]
    changed = {file: open(os.path.join(home, file)).read() != text for file, text in files.items()}
    steps.append(run(command, **variables))
    steps.append(run([hearth, "connect", name, "--undo"]))
    words = [line.strip() for line in steps[1].stdout.splitlines()]
    same = {file: open(os.path.join(home, file)).read() == text for file, text in files.items()}
    well = [step.returncode for step in steps] == [0, 0, 0] and "ok" in words and all(changed.values()) and all(same.values())
    failed += not well
    print(f"{'ok  ' if well else 'FAIL'}  hearth connect {name}: exits {[step.returncode for step in steps]}, files "
          f"{'equal' if all(same.values()) else 'changed'} after --undo", flush=True)
    if not well:
        for step in steps:
            print(step.stdout[-1000:], step.stderr[-1000:], sep="\n", file=sys.stderr)
sys.exit(1 if failed else 0)
