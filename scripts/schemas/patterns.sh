#!/usr/bin/env bash
# Tools with sixty patterns in five dialects against `hearth serve` with the default model: scripts/schemas/patterns.sh HEARTH [FIRST LAST]
set -euo pipefail
cd "$(dirname "$0")/../.."
. scripts/env.sh
hearth="$(realpath "${1:?the hearth program}")"
shift

work="$(mktemp -d)"
server=""
trap 'if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; fi; rm -rf "$work"' EXIT
export HEARTH_HOME="$work/home"
cp "$default_model" "$work/small-v1.0.0-q4_1.gguf"
"$hearth" pull "$work/small-v1.0.0-q4_1.gguf" --no-probe --quiet
"$hearth" serve --port 0 > "$work/address" 2> "$work/log" &
server=$!
for _ in $(seq 200); do
    if [ -s "$work/address" ]; then break; fi
    sleep 0.1
done
address="$(head -1 "$work/address")"
[ -n "$address" ] || { cat "$work/log" >&2; exit 1; }
python3 scripts/schemas/patterns.py "$address" none small "$@"
