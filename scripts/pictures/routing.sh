#!/usr/bin/env bash
# What `hearth route`, `hearth chat` and `hearth doctor --online` print, with a stand-in for Gemini, for docs/routing.md:
#   scripts/pictures/draw.py docs/images/routing.svg scripts/pictures/routing.sh 'local models and the cloud'
# HEARTH names the program.
set -euo pipefail
cd "$(dirname "$0")/../.."
. scripts/env.sh
program="${HEARTH:-.build/release/hearth}"
work="$(mktemp -d)"
cloud=""
stop() {
    if [ -n "$cloud" ]; then exec 3>&-; wait "$cloud" 2>/dev/null || true; cloud=""; fi
}
finish() { stop; rm -rf "$work"; }
trap finish EXIT
export HEARTH_HOME="$work/home"

"$program" -q publish "$default_model" --family smollm2-135m-instruct --version 1.0.0 --variant q4_1 --to "$work/origin" >/dev/null 2>&1
HEARTH_ORIGIN="$work/origin/models.json" "$program" -q pull smollm2-135m-instruct >/dev/null 2>&1
mkfifo "$work/input"
PYTHONDONTWRITEBYTECODE=1 python3 scripts/cloud/stand_in.py <"$work/input" >"$work/address" 2>/dev/null &
cloud=$!
exec 3>"$work/input"
for _ in $(seq 100); do [ -s "$work/address" ] && break; sleep 0.05; done
address="$(cat "$work/address")"

bold=$'\e[1m' plain=$'\e[0m'
hearth() { "$program" "$@"; }
# Shows a command as typed, with a remark, and runs it.
run() {
    printf '%s$ %s%s%s\n' "$bold" "$1" "$plain" "${2:+   # $2}"
    eval "$1" || true
    echo
}

export GEMINI_API_KEY=stand-in-key
run "hearth config set cloud.kind gemini; hearth config set cloud.url $address"
run "hearth doctor --online" "its last chapter" | sed -n '1p; /^Online/,/^$/p'
run 'hearth chat --prompt "Hello!"'
run 'hearth chat --private --seed 1 --prompt "Answer in one sentence: what is the capital of France?"'
run 'hearth chat --prompt "cut"' "the stand-in of the cloud breaks off"
stop
run 'hearth chat --seed 1 --prompt "What is the capital of France?"' "the stand-in has stopped"
run 'hearth route'
