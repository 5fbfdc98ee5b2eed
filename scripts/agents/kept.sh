#!/usr/bin/env bash
# Claude Code's conversations against a model whose memory holds few of them: scripts/agents/kept.sh HEARTH
# Each token takes 23,040 bytes, as with the default model, and the states of conversations may have 1 GiB together: eight whole
# ones of 12,400 tokens would have more than twice as much.
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
PYTHONPATH="$writer" python3 scripts/agents/model.py "$default_model" "$work/says-ok-v1.0.0-f16.gguf" 23040
"$hearth" pull "$work/says-ok-v1.0.0-f16.gguf" --no-probe --quiet
"$hearth" config set stateFolder "$work/states"
"$hearth" serve --port 0 > "$work/address" 2> "$work/log" &
server=$!
for _ in $(seq 200); do
    if [ -s "$work/address" ]; then break; fi
    sleep 0.1
done
[ -s "$work/address" ] || { cat "$work/log" >&2; exit 1; }
python3 scripts/agents/reuse.py "$agents" "$(head -1 "$work/address")" "$work" says-ok || { tail -20 "$work/log" >&2; exit 1; }
used="$(du -sb "$work/states" | cut -f1)"
echo "states: $used bytes"
[ "$used" -le $((1 << 30)) ]
