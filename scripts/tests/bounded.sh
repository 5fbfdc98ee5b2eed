#!/usr/bin/env bash
# bounded.sh MINUTES [--events FILE] COMMAND…: runs a command. If it is not over in time, says on stderr what every process
# and thread below it is doing, and which tests of Swift Testing's event stream FILE began and did not end; then ends it.
# If it fails, says what failed once more, at the end, where it is found.
set -euo pipefail
minutes=$1; shift
events=""
if [ "$1" = --events ]; then events=$2; shift 2; rm -f "$events"; fi

descendants() { # PID BUT: the processes below, without the one that asks
    local child
    for child in $(pgrep -P "$1" || true); do
        [ "$child" != "$2" ] || continue
        echo "$child"
        descendants "$child" "$2"
    done
}

# Threads that do the same are told once: there are many, and most of them wait for work.
grouped() {
    awk '
        function close_thread() { if (frames != "") { if (!(frames in count)) order[++groups] = frames; count[frames]++ } frames = ""; depth = 0 }
        /^Thread |^ *\*? *thread #/ { close_thread(); next }
        /^#[0-9]|^ *\*? *frame #/ {
            if (++depth > 16) next
            sub(/^#[0-9]+ +(0x[0-9a-f]+ in )?/, ""); sub(/^.*`/, ""); sub(/ \(.*$/, ""); sub(/ \+ [0-9].*$/, "")
            frames = frames "    " $0 "\n"
        }
        END { close_thread(); for (group = 1; group <= groups; group++) printf "  %d thread(s):\n%s", count[order[group]], order[group] }
    ' | if command -v swift >/dev/null; then swift demangle --simplified; else cat; fi
}

debugger() { # PID
    if command -v gdb >/dev/null; then
        timeout 120 gdb -nx -batch -p "$1" -ex 'set pagination off' -ex 'thread apply all bt 24'
    elif command -v lldb >/dev/null; then
        timeout 120 lldb --batch -p "$1" -o 'thread backtrace all' -o detach
    fi </dev/null 2>/dev/null || true
}

stacks() { # PID
    local found; found="$(debugger "$1" | grouped)"
    if [ -n "$found" ]; then echo "$found"; return; fi
    # No debugger, or none that may look: what the system itself tells.
    local task
    for task in /proc/"$1"/task/*; do
        printf '  %s in %s\n' "$(cat "$task/comm" 2>/dev/null)" "$(cat "$task/wchan" 2>/dev/null)"
        sed 's/^/    /' "$task/stack" 2>/dev/null || true
    done
}

unfinished() {
    awk '
        match($0, /"testID":"[^"]*\(/) {
            name = substr($0, RSTART + 10, RLENGTH - 11); gsub(/\\/, "", name)
            if (/"kind":"testStarted"/) { if (!(name in begun)) order[++count] = name; begun[name] = 1 }
            if (/"kind":"testEnded"/) begun[name] = 0
        }
        END { for (test = 1; test <= count; test++) if (begun[order[test]]) print "  " order[test] }
    ' "$1"
}

failed() {
    python3 - "$1" <<'PYTHON'
import json, sys
for line in open(sys.argv[1], encoding="utf-8", errors="replace"):
    try:
        event = json.loads(line).get("payload", {})
    except ValueError:
        continue  # The last line of a process that was killed.
    if event.get("kind") != "issueRecorded" or event.get("issue", {}).get("isKnown"):
        continue
    print("  " + event.get("testID", "no test"))
    for message in event.get("messages", []):
        print("    " + message.get("text", "").replace("\n", "\n    "))
PYTHON
}

watch() {
    # The caller closes the other end of this pipe when the command is over. A sleep instead would outlive it.
    local ending=0 self=$BASHPID
    read -r -t $((minutes * 60)) || ending=$?
    [ "$ending" -gt 128 ] || exit 0
    local process
    echo "bounded: not over after $minutes minutes, so this is the end of: $*"
    for process in $(descendants $$ "$self"); do
        printf 'bounded: process %s: %s\n' "$process" "$(tr '\0' ' ' < "/proc/$process/cmdline" 2>/dev/null | cut -c1-160)"
        case "$(cat "/proc/$process/comm" 2>/dev/null)" in
            bash | sh | env | cat | make | swift*) ;;  # They wait for the others.
            *) stacks "$process" ;;
        esac
    done
    if [ -s "$events" ]; then
        echo "bounded: tests that began and did not end:"
        unfinished "$events"
    fi
    local signal
    for signal in TERM KILL; do
        # shellcheck disable=SC2046
        kill -s "$signal" $(descendants $$ "$self") 2>/dev/null || true
        read -r -t 5 || true
    done
}

exec 3> >(watch "$@" >&2)
watcher=$!
status=0
"$@" 3>&- || status=$?
exec 3>&-
wait "$watcher" 2>/dev/null || true
if [ "$status" != 0 ] && [ -s "$events" ]; then
    {
        echo "bounded: what failed:"
        failed "$events"
    } >&2
fi
exit "$status"
