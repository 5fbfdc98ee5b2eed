#!/usr/bin/env bash
# Reminders ring on the desktop: the built server against a stand-in for org.freedesktop.Notifications on a bus of its own.
#   scripts/rings/run.sh            with .build/debug/hearth
set -euo pipefail
cd "$(dirname "$0")/../.."
. scripts/env.sh
if [ "${1:-}" != inside ]; then
    skip() { echo "rings: NOT RUN, because $*" >&2; exit "${RINGS_REQUIRED:-0}"; }
    for tool in dbus-run-session gdbus curl; do command -v $tool >/dev/null || skip "$tool is missing"; done
    # The system's own Python: it is the one that Debian's dbusmock is for.
    /usr/bin/python3 -c 'import dbusmock' 2>/dev/null || skip "python3-dbusmock is missing"
    # The bus complains that it may not have 65536 open files.
    exec dbus-run-session -- "$0" inside
fi

hearth="$PWD/.build/debug/hearth"
work="$(mktemp -d)"
mock="" server="" dead=""
finish() {
    for pid in $server $mock $dead; do kill "$pid" 2>/dev/null || true; wait "$pid" 2>/dev/null || true; done
    rm -rf "$work"
}
trap finish EXIT
passed=0 failed=0
check() { # NAME WANTED COMMAND…: the output has the wanted words within 45 s
    local name=$1 wanted=$2 found="" end=$((SECONDS + 45)); shift 2
    while :; do
        found="$("$@" 2>&1 || true)"
        case $found in
            *"$wanted"*) passed=$((passed + 1)); printf 'ok    %s\n' "$name"; return ;;
        esac
        [ "$SECONDS" -lt "$end" ] || break
        sleep 0.1
    done
    failed=$((failed + 1))
    printf 'WRONG %-28s wanted "%s" in:\n%s\n' "$name" "$wanted" "$found"
}
counts() { # NAME NUMBER WORDS: the log of the stand-in has so many lines with the words
    check "$1" "=$2=" bash -c "echo \"=\$(grep -c -- '$3' '$work/mock.log')=\""
}

export HEARTH_HOME="$work/home" LANG=C.UTF-8 LC_ALL=C.UTF-8
unset HEARTH_ORIGIN
start() {
    "$hearth" serve --port 0 >"$work/serve.log" 2>&1 &
    server=$!
    for _ in $(seq 300); do "$hearth" reminders list >/dev/null 2>&1 && [ -S "$HEARTH_HOME/server/socket" ] && break; sleep 0.05; done
}
end() { kill "$server"; wait "$server" 2>/dev/null || true; server=""; }
soon() { date -u -d "${1:-2} seconds" +%Y-%m-%dT%H:%M:%SZ; }
add() { "$hearth" reminders add "$1" --due "$(soon "${2:-2}")" --quiet >/dev/null; }
open_reminders() { "$hearth" reminders list --format json; }
notices() {
    /usr/bin/python3 -m dbusmock --template notification_daemon --parameters "{\"capabilities\": \"$1\"}" >"$work/mock.log" 2>&1 &
    mock=$!
    gdbus wait --session --timeout 10 org.freedesktop.Notifications
}
press() { # NUMBER BUTTON: what a person does on the desktop
    gdbus call --session --dest org.freedesktop.Notifications --object-path /org/freedesktop/Notifications \
        --method org.freedesktop.DBus.Mock.EmitSignal org.freedesktop.Notifications ActionInvoked us "[<uint32 $1>, <'$2'>]" >/dev/null
}

# Without a program that shows notifications, none is started, and the server works.
start
add "Unseen reminder"
check "no desktop: the server goes on" "Unseen reminder" open_reminders
sleep 25 # The next look at the files; it rings for pages alone.
end

notices "body body-markup actions"
start
counts "what rang before does not ring again" 0 "Unseen reminder"
add "Call <b>Anna</b>"
counts "it rings" 1 'Notify.*"Call <b>Anna</b>"'
check "with buttons" '"done", "Done"' grep Notify "$work/mock.log"
press 1 "10-minutes"
press 1 "unknown"
add "Pay & go"
counts "another rings" 1 'Notify.*"Pay & go"'
press 2 done
check "Done completes it" "=0=" bash -c "echo \"=\$('$hearth' reminders list --format json | grep -c 'Pay & go')=\""
counts "answers close their notifications" 2 'CloseNotification'
end
# Due while nothing ran.
add "While away" 1
sleep 1
start
sleep 1
end
counts "rings at the next start" 1 'Notify.*"While away"'
start
counts "once" 1 'Notify.*"While away"'
end
kill "$mock" && wait "$mock" 2>/dev/null || true

notices "body"
start
add "No buttons here"
counts "a desktop without buttons" 1 'Notify.*"No buttons here".* \[\] '
end

# A bus that takes the connection and never answers must not hold the server up.
/usr/bin/python3 - "$work/dead-bus" <<'PYTHON' &
import socket, sys, time
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen(8)
time.sleep(120)
PYTHON
dead=$!
for _ in $(seq 100); do [ ! -S "$work/dead-bus" ] || break; sleep 0.02; done
export DBUS_SESSION_BUS_ADDRESS="unix:path=$work/dead-bus"
start
add "On a dead bus"
check "dead bus: the server answers" "On a dead bus" open_reminders
before=$SECONDS
end
check "dead bus: the server ends" "yes" bash -c "[ $((SECONDS - before)) -lt 10 ] && echo yes"

echo "rings: $passed as expected, $failed not"
[ "$failed" = 0 ]
