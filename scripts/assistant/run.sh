#!/usr/bin/env bash
# The assistant as a new user meets it: "remind me tomorrow at nine to call Anna" ends in a card, a yes, a file that todoman
# lists, and `hearth undo` that removes it; on the default model `--act` gives cards to edit; scripts get no action unasked.
# HEARTH names the program.
set -euo pipefail
cd "$(dirname "$0")/../.."
. scripts/env.sh
program="$(realpath "${HEARTH:-.build/release/hearth}")"
command -v todoman >/dev/null || {
    echo "assistant: installing todoman" >&2
    sudo=""; [ "$(id -u)" = 0 ] || sudo=sudo
    $sudo apt-get update -qq
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends todoman >/dev/null
}
work="$(mktemp -d)"
cloud=""
finish() {
    if [ -n "$cloud" ]; then exec 3>&-; wait "$cloud" 2>/dev/null || true; fi
    rm -rf "$work"
}
trap finish EXIT
export HEARTH_HOME="$work/home" TERM=xterm-256color TZ=Europe/Berlin LC_ALL=C.UTF-8
export XDG_CONFIG_HOME="$work/config" XDG_CACHE_HOME="$work/cache" XDG_DATA_HOME="$work/data"
unset NO_COLOR VISUAL EDITOR OPENAI_API_KEY GEMINI_API_KEY ANTHROPIC_API_KEY HEARTH_CLOUD_KEY

mkfifo "$work/input"
PYTHONDONTWRITEBYTECODE=1 python3 scripts/cloud/scripted.py <"$work/input" >"$work/address" 2>/dev/null &
cloud=$!
exec 3>"$work/input"
for _ in $(seq 100); do [ -s "$work/address" ] && break; sleep 0.05; done
mkdir -p "$work/config/todoman"
printf 'path = "%s/reminders/*"\ndate_format = "%%Y-%%m-%%d"\ntime_format = "%%H:%%M"\ndefault_list = "personal"\n' "$HEARTH_HOME" > "$work/config/todoman/config.py"

failed=0
right() { printf 'ok    %s\n' "$1"; }
wrong() { failed=$((failed + 1)); printf 'WRONG %s\n' "$1"; shift; printf '%s\n' "$@"; }
check() { # NAME WANTED COMMAND…: the output has the wanted words
    local name=$1 wanted=$2 found; shift 2
    found="$("$@" 2>&1 || true)"
    case $found in *"$wanted"*) right "$name" ;; *) wrong "$name" "wanted: $wanted" "$found" ;; esac
}
hearth() { "$program" "$@"; }
files() { find "$HEARTH_HOME/reminders" -name '*.ics' 2>/dev/null | wc -l; }
talk() { printf '%s\t%s\n' "$@" | scripts/assistant/type.py "$program" chat; }

hearth config set cloud.kind openai
hearth config set cloud.url "$(cat "$work/address")"
hearth config set cloud.model stand-in
export OPENAI_API_KEY=stand-in-key

# 1. A conversation at a terminal.
check "a no changes nothing" "Declined." talk '> ' 'remind me tomorrow at nine to call Anna' 'Do it?' 'n' '> ' '/exit'
[ "$(files)" = 0 ] && right "and no file is there" || wrong "and no file is there"
check "a yes is carried out" "Done. /undo 1 takes it back." \
    talk '> ' 'remind me tomorrow at nine to call Anna' 'Do it?' 'y' '> ' '/exit'
[ "$(files)" = 1 ] && right "a file is there" || wrong "a file is there"
check "todoman lists it" "Call Anna" todoman list
check "tomorrow at nine" "$(date -d tomorrow +%Y-%m-%d) 09:00" todoman list
check "hearth undo takes it back" "Undone: New reminder" hearth undo
[ "$(files)" = 0 ] && right "the file is gone" || wrong "the file is gone"
check "an edited card is carried out as edited" "Done." \
    talk '> ' 'remind me' 'Do it?' 'e' 'title: ' '\x01\x0bWrite to Ben' 'due: ' '' 'alarmMinutes: ' '' 'more, as' '' 'Do it?' 'y' '> ' '/exit'
check "todoman lists the edited one" "Write to Ben" todoman list
check "an editor changes the card" "Done." bash -c "printf '%s\t%s\n' '> ' 'remind me' 'Do it?' 'o' 'Do it?' 'y' '> ' '/exit' |
    EDITOR=\"sed -i s/Anna/Carl/\" scripts/assistant/type.py '$program' chat"
check "todoman lists the changed one" "Call Carl" todoman list
check "undo in the conversation" "Undone: New reminder." talk '> ' 'remind me' 'Do it?' 'y' '> ' '/undo' '> ' '/exit'
check "Markdown is painted" "☐ hotel" talk '> ' 'plan a trip' '> ' '/exit'
check "a pasted text is one message" "I answer." talk '> ' '\x1b[200~line one\nline two\x1b[201~' '> ' '/exit'
check "the conversation is kept" "line one" hearth chats list
check "--continue goes on" "line one" bash -c "printf '> \t/exit\n' | scripts/assistant/type.py '$program' chat --continue"
check "Ctrl-D ends" "Say something" bash -c "printf '> \t\\\\x04\n' | scripts/assistant/type.py '$program' chat"

# 2. Scripts.
count=$(files)
check "without a terminal nothing runs unasked" "--approve REMINDER_ACTION gives it" \
    hearth chat --assistant --prompt "remind me" </dev/null
[ "$(files)" = "$count" ] && right "no file is added" || wrong "no file is added"
check "an approved tag runs" "New reminder (done)" hearth chat --approve REMINDER_ACTION --prompt "remind me" </dev/null
[ "$(files)" = $((count + 1)) ] && right "a file is added" || wrong "a file is added"
check "cards are events" '"event":"card"' hearth chat --assistant --prompt "remind me" --format json </dev/null
check "what is piped in follows --prompt" "prepare the reminder" bash -c "echo remind me | '$program' chat --assistant --prompt 'Please:'"
count=$(files)
check "what is piped in asks, though the tag is approved" "New reminder (declined)" \
    bash -c "echo remind me | '$program' chat --approve REMINDER_ACTION --prompt 'Please:'"
check "a block in a plain answer is a card" "New reminder (not carried out)" hearth chat --prompt "remind me" </dev/null
hearth chat --prompt "remind me" </dev/null 2>/dev/null | grep -q 'ACTION' && wrong "its text has no block" || right "its text has no block"
check "and an event" '"state":"not-carried-out"' hearth chat --prompt "remind me" --format json </dev/null
[ "$(files)" = "$count" ] && right "and no file is added" || wrong "and no file is added"
check "at a terminal it is asked about" "takes it back" \
    bash -c "printf 'Do it?\ty\n' | scripts/assistant/type.py '$program' chat --prompt 'remind me'"
[ "$(files)" = $((count + 1)) ] && right "and a file is added" || wrong "and a file is added"

# The web: a search, and what it leads to.
check "without a search the block is text" "[WEB_SEARCH:" hearth chat --assistant --prompt "When is high tide?" </dev/null
hearth config set search.kind searxng
hearth config set search.url "$(cat "$work/address")"
check "a search is answered from its results" "High tide is at" hearth chat --assistant --prompt "When is high tide?" </dev/null
check "its sources are a card" "<https://tides.example/today>" hearth chat --assistant --prompt "When is high tide?" </dev/null
check "after a search all actions ask" "web search 127.0.0.1" \
    talk '> ' 'When is high tide?' '> ' 'remind me' 'Do it?' 'n' '> ' '/exit'
hearth config unset search.kind

# A database that cannot be opened does not end the conversation.
mv "$HEARTH_HOME/hearth.db" "$work/hearth.db"
rm -f "$HEARTH_HOME"/hearth.db-*
head -c 4096 /dev/zero | tr '\0' 'x' >"$HEARTH_HOME/hearth.db"
check "without a database one sentence" "This conversation is not kept" talk '> ' 'Hello' '> ' '/exit'
check "and the conversation goes on" "I answer." talk '> ' 'Hello' '> ' '/exit'
mv "$work/hearth.db" "$HEARTH_HOME/hearth.db"

# 3. The default model: cards to edit.
unset OPENAI_API_KEY
hearth config unset cloud.kind
hearth -q publish "$default_model" --family smollm2-135m-instruct --version 1.0.0 --variant q4_1 --to "$work/origin" >/dev/null 2>&1
HEARTH_ORIGIN="$work/origin/models.json" hearth -q pull smollm2-135m-instruct >/dev/null 2>&1
for tag in REMINDER_ACTION CALENDAR_ACTION NOTE_ACTION HABIT_ACTION CONTACTS_SEARCH; do
    hearth chat --act "$tag" --format json --prompt "Remind me to call Anna tomorrow at nine." </dev/null >"$work/events" 2>/dev/null || true
    check "the default model gives a card of $tag" "ok" python3 -c "
import json, sys
events = [json.loads(line) for line in open(sys.argv[1])]
cards = [event['card'] for event in events if event['event'] == 'card']
assert cards and all(card['tag'] == sys.argv[2] for card in cards), events[-3:]
json.loads(cards[-1]['payload'])
assert not any('ACTION:' in event.get('delta', '') for event in events if event['event'] == 'text')
print('ok')" "$work/events" "$tag"
done
printf '%s failed\n' "$failed"
[ "$failed" = 0 ]
