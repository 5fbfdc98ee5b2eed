#!/usr/bin/env bash
# Conversations with the assistant, with a stand-in for a model, for docs/assistant.md:
#   scripts/pictures/draw.py docs/images/assistant.svg 'scripts/pictures/assistant.sh markdown' 'a conversation'
#   scripts/pictures/draw.py docs/images/assistant-card.svg 'scripts/pictures/assistant.sh card' 'an action, its card and its undo'
# HEARTH names the program.
set -euo pipefail
cd "$(dirname "$0")/../.."
program="${HEARTH:-.build/release/hearth}"
work="$(mktemp -d)"
cloud=""
finish() {
    if [ -n "$cloud" ]; then exec 3>&-; wait "$cloud" 2>/dev/null || true; fi
    rm -rf "$work"
}
trap finish EXIT
export HEARTH_HOME="$work/home" TERM=xterm-256color TERM_PROGRAM=ghostty LC_ALL=C.UTF-8
unset NO_COLOR TMUX STY
mkfifo "$work/input"
PYTHONDONTWRITEBYTECODE=1 python3 scripts/cloud/scripted.py <"$work/input" >"$work/address" 2>/dev/null &
cloud=$!
exec 3>"$work/input"
for _ in $(seq 100); do [ -s "$work/address" ] && break; sleep 0.05; done
"$program" config set cloud.kind openai
"$program" config set cloud.url "$(cat "$work/address")"
"$program" config set cloud.model stand-in
export OPENAI_API_KEY=stand-in-key

bold=$'\e[1m' plain=$'\e[0m'
prompt() { printf '%s$ %s%s\n' "$bold" "$1" "$plain"; }
talk() { printf '%s\t%s\n' "$@" | scripts/assistant/type.py "$program" chat; }
prompt "hearth chat"
case ${1:-markdown} in
markdown) talk '> ' 'Plan a trip to Lisbon' '> ' '/exit' ;;
card)
    talk '> ' 'Remind me tomorrow at nine to call Anna' 'Do it?' 'y' '> ' '/exit'
    prompt "hearth reminders list"
    "$program" reminders list
    prompt "hearth undo"
    "$program" undo
    ;;
esac
