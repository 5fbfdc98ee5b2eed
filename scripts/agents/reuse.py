#!/usr/bin/env python3
"""Counts the tokens that a server reads anew for Claude Code: conversations in one folder, and the next request of each.

    scripts/agents/reuse.py PACKAGES URL FOLDER MODEL

The first conversation is read whole. Each other one, and each next request, may read at most 300 tokens anew.
"""
import json
import os
import subprocess
import sys

packages, url, folder, model = sys.argv[1:]
CLAUDE = os.path.join(packages, "claude_agent_sdk/_bundled/claude")
COUNT, BOUND = 8, 300
home = os.path.join(folder, "reuse")
work = os.path.join(home, "work")
os.makedirs(work)


def ask(question, *options):
    """The id of the conversation, and the tokens of its prompt: read anew, and kept."""
    ended = subprocess.run(
        [CLAUDE, "-p", question, "--model", model, "--output-format", "json", *options],
        cwd=work, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=240,
        env={"HOME": home, "PATH": "/usr/bin:/bin", "NO_PROXY": "*", "ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "none",
             "IS_SANDBOX": "1", "DISABLE_AUTOUPDATER": "1"})
    if ended.returncode:
        sys.exit(f"Claude Code ended with {ended.returncode}: {ended.stdout[-1000:]} {ended.stderr[-1000:]}")
    result = json.loads(ended.stdout)
    usage = result["usage"]
    return result["session_id"], usage["input_tokens"], usage.get("cache_read_input_tokens", 0)


failed = 0
conversations = []
for number in range(COUNT):
    session, fresh, kept = ask(f"Say ok, and think of the number {number * 7919} while you do.")
    conversations.append(session)
    failed += number > 0 and fresh > BOUND
    print(f"conversation {number + 1}: {fresh} tokens read, {kept} kept", flush=True)
for number, session in enumerate(conversations):
    _, fresh, kept = ask("Say ok once more.", "--resume", session)
    failed += fresh > BOUND
    print(f"next request of conversation {number + 1}: {fresh} tokens read, {kept} kept", flush=True)
sys.exit(1 if failed else 0)
