#!/usr/bin/env bash
# Claude Code and Codex against `hearth serve` with a local model of 32,768 tokens: scripts/agents/run.sh HEARTH
# The agents go into a folder of the cache; each gets a home and a work folder of its own. Nothing is set but that any name of
# a model is answered. Then the tokens are counted that Claude Code's conversations read anew.
. "$(dirname "$0")/../stages.sh"
hearth="$(realpath "${1:?the hearth program}")"

agents="$(python_packages agents agents)"
writer="$(python_packages tiny gguf-writer "-$(python_version)")"
work="$(mktemp -d)"
server=""
finish() {
    if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; fi
    rm -rf "$work"
}
trap finish EXIT

export HEARTH_HOME="$work/home" PYTHONDONTWRITEBYTECODE=1 NO_PROXY='*'
PYTHONPATH="$writer" python3 scripts/agents/model.py "$default_model" "$work/says-ok-v1.0.0-f16.gguf"
"$hearth" pull "$work/says-ok-v1.0.0-f16.gguf" --no-probe --quiet
# Codex sends other tools for names that it knows.
"$hearth" config set serve.anyModel true
"$hearth" serve --port 0 > "$work/address" 2> "$work/log" &
server=$!
for _ in $(seq 200); do
    if [ -s "$work/address" ]; then break; fi
    sleep 0.1
done
[ -s "$work/address" ] || { cat "$work/log" >&2; exit 1; }
python3 scripts/agents/agents.py "$agents" "$(head -1 "$work/address")" "$work" || { tail -20 "$work/log" >&2; exit 1; }
python3 scripts/agents/reuse.py "$agents" "$(head -1 "$work/address")" "$work" says-ok || { tail -20 "$work/log" >&2; exit 1; }
