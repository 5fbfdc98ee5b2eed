#!/usr/bin/env bash
# What Hearth makes of NetworkManager, live: a stand-in for it on a bus of its own, in a namespace without any other network.
#   scripts/network/run.sh            with .build/debug/hearth and the built tests
set -euo pipefail
cd "$(dirname "$0")/../.."
. scripts/env.sh
if [ "${1:-}" != inside ]; then
    skip() { echo "network: NOT RUN, because $*" >&2; exit "${NETWORK_REQUIRED:-0}"; }
    for tool in dbus-run-session gdbus openssl unshare; do command -v $tool >/dev/null || skip "$tool is missing"; done
    # The system's own Python: it is the one that Debian's dbusmock is for.
    /usr/bin/python3 -c 'import dbusmock' 2>/dev/null || skip "python3-dbusmock is missing"
    namespace=""
    for options in -mn -rmn; do if unshare $options true 2>/dev/null; then namespace=$options; break; fi; done
    [ -n "$namespace" ] || skip "this user may not make namespaces"
    # shellcheck disable=SC2086
    # The bus complains that it may not have 65536 open files.
    exec unshare $namespace dbus-run-session -- "$0" inside
fi

hearth="$PWD/.build/debug/hearth"
work="$(mktemp -d)"
mock="" host="" cloud="" watch=""
finish() {
    exec 3>&-
    for pid in $mock $host $cloud $watch; do kill "$pid" 2>/dev/null || true; wait "$pid" 2>/dev/null || true; done
    rm -rf "$work"
}
trap finish EXIT
passed=0 failed=0
check() { # NAME WANTED COMMAND…: the output has the wanted words
    local name=$1 wanted=$2 found; shift 2
    found="$("$@" 2>&1 || true)"
    case $found in
        *"$wanted"*) passed=$((passed + 1)); printf 'ok    %s\n' "$name" ;;
        *) failed=$((failed + 1)); printf 'WRONG %-28s wanted "%s" in:\n%s\n' "$name" "$wanted" "$found" ;;
    esac
}
statuses() { # NAME STATUS COMMAND…
    local name=$1 wanted=$2 found=0; shift 2
    "$@" >/dev/null 2>&1 || found=$?
    if [ "$found" = "$wanted" ]; then passed=$((passed + 1)); printf 'ok    %s\n' "$name"
    else failed=$((failed + 1)); printf 'WRONG %s: status %s, not %s\n' "$name" "$found" "$wanted"; fi
}

# The namespace's own loopback is down to begin with: SIOCSIFFLAGS with IFF_UP.
/usr/bin/python3 -c 'import fcntl, socket, struct
fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sh22x", b"lo", 1))'

export HEARTH_HOME="$work/home"
unset HEARTH_ORIGIN HEARTH_NETWORK GIO_USE_NETWORK_MONITOR
network() { "$hearth" doctor | sed -n '/^Network/{n;p}'; }
# A catalog of this machine, for files that are elsewhere; the first address fails at once without a network.
cat >"$work/models.json" <<JSON
{ "schemaVersion": 1, "models": [ { "id": "far", "version": "1.0.0", "filename": "far-v1.0.0-q4_1.gguf", "sizeBytes": 1800000000,
  "sha256": "$(printf x | sha256sum | cut -d' ' -f1)", "downloadUrl": "https://models.invalid/far-v1.0.0-q4_1.gguf" } ] }
JSON
pull() { "$hearth" pull "$work/models.json#far" "$@" </dev/null; }

DBUS_SYSTEM_BUS_ADDRESS="unix:path=$work/no-bus" check "no bus: assumed to work" "online, not metered (assumed" network

# A bus that takes the call and never answers must not hold the program up.
/usr/bin/python3 - "$work/dead-bus" <<'PYTHON' &
import socket, sys, time
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen(8)
time.sleep(60)
PYTHON
mock=$!
for _ in $(seq 100); do [ ! -S "$work/dead-bus" ] || break; sleep 0.02; done
DBUS_SYSTEM_BUS_ADDRESS="unix:path=$work/dead-bus" check "dead bus: assumed to work" "online, not metered (assumed" timeout 10 bash -c \
    "'$hearth' doctor | sed -n '/^Network/{n;p}'"
kill "$mock" && wait "$mock" 2>/dev/null || true

export DBUS_SYSTEM_BUS_ADDRESS="$DBUS_SESSION_BUS_ADDRESS"
/usr/bin/python3 -m dbusmock --system --template networkmanager >"$work/mock.log" 2>&1 &
mock=$!
manager() {
    gdbus call --system --dest org.freedesktop.NetworkManager --object-path /org/freedesktop/NetworkManager \
        --method "org.freedesktop.DBus.Mock.$1" org.freedesktop.NetworkManager "${@:2}" >/dev/null
}
gdbus wait --system --timeout 10 org.freedesktop.NetworkManager
manager AddProperty Metered '<uint32 4>'
check "NetworkManager is asked" "online, not metered (NetworkManager)" network
for level in 1 3; do
    manager UpdateProperties "{'Metered': <uint32 $level>}"
    check "Metered $level" "online, metered (NetworkManager)" network
done
check "a pull on a metered network" "hearth: Wi-Fi required" pull
check "its code" "[metered-network]" pull
statuses "its status" 75 pull
check "--metered ask without a person" "[metered-network]" pull --metered ask
check "--metered allow goes on" "[host-not-found]" pull --metered allow
HEARTH_NETWORK=unmetered check "HEARTH_NETWORK corrects it" "online, not metered (HEARTH_NETWORK)" network
for level in 0 2 4; do
    manager UpdateProperties "{'Metered': <uint32 $level>}"
    check "Metered $level" "online, not metered (NetworkManager)" network
done
manager UpdateProperties "{'State': <uint32 20>}"
check "no connection" "offline (NetworkManager)" network
check "a pull without a network" "[offline]" pull
statuses "its status" 75 pull

# Bytes of this machine use no network, whatever state that is in.
"$hearth" publish "$default_model" --family near --version 1.0.0 --variant q4_1 --to "$work/origin" --quiet >/dev/null
: >"$work/host.out"
"$hearth" host "$work/origin" --port 0 >"$work/host.out" 2>/dev/null &
host=$!
for _ in $(seq 250); do [ ! -s "$work/host.out" ] || break; sleep 0.02; done
address="$(head -1 "$work/host.out")"
check "loopback without a network" "is installed and active" "$hearth" pull "$address#near"
"$hearth" remove near --quiet >/dev/null
manager UpdateProperties "{'State': <uint32 70>, 'Metered': <uint32 1>}"
check "a file on a metered network" "is installed and active" "$hearth" pull "$work/origin/models.json#near"
manager UpdateProperties "{'Metered': <uint32 4>}"

# A cloud on another machine, as far as its name says: the route follows the network.
echo "127.0.0.1 localhost cloud.test" >"$work/hosts"
mount --bind "$work/hosts" /etc/hosts
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=cloud.test -addext subjectAltName=DNS:cloud.test \
    -keyout "$work/key.pem" -out "$work/certificate.pem" 2>/dev/null
mount --bind "$work/certificate.pem" "$(curl-config --ca)"
cat "$work/key.pem" "$work/certificate.pem" >"$work/server.pem"
mkfifo "$work/cloud.in"
python3 scripts/cloud/stand_in.py 0 "$work/server.pem" <"$work/cloud.in" >"$work/cloud.out" &
cloud=$!
exec 3>"$work/cloud.in"
for _ in $(seq 250); do [ ! -s "$work/cloud.out" ] || break; sleep 0.02; done
export HEARTH_CLOUD_KEY=stand-in-key
"$hearth" config set cloud.kind openai
"$hearth" config set cloud.url "https://cloud.test:$(sed 's/.*://' "$work/cloud.out")/v1"
shown() { python3 -c 'import json, sys
for line in sys.stdin: print(*(json.loads(line)[name] for name in ("source", "reason", "network")), sep="; ")'; }
route() { "$hearth" route --format json | tr -d '\n' | shown; }
chat() { "$hearth" chat --format json --prompt Hi </dev/null; }
check "the route online" "cloud; cloud; online" route
check "an answer from the cloud" '"source":"cloud"' chat
manager UpdateProperties "{'State': <uint32 20>}"
check "the route offline" "local; offline; offline" route
check "an answer offline" '"reason":"offline","source":"local"' chat
# A metered network is a network: what a conversation takes of it is little.
manager UpdateProperties "{'State': <uint32 70>, 'Metered': <uint32 1>}"
check "the route on a metered network" "cloud; cloud; online, metered" route
manager UpdateProperties "{'Metered': <uint32 4>}"
"$hearth" route --watch --format json >"$work/watch.out" </dev/null &
watch=$!
follows() { # LINES…: the watch has printed these
    local wanted; wanted="$(printf '%s\n' "$@")"
    local end=$((SECONDS + 45))
    until [ "$(shown <"$work/watch.out")" = "$wanted" ] || [ "$SECONDS" -gt "$end" ]; do sleep 0.2; done
    shown <"$work/watch.out"
}
lines=("cloud; cloud; online")
check "the watch begins" "${lines[*]}" follows "${lines[@]}"
manager UpdateProperties "{'State': <uint32 20>}"
lines+=("local; offline; offline")
check "the network is lost" "${lines[-1]}" follows "${lines[@]}"
manager UpdateProperties "{'State': <uint32 70>}"
lines+=("local; settling; online")
check "it returns and has to be stable" "${lines[-1]}" follows "${lines[@]}"
# make verify waits for the connection to be stable.
if [ "${NETWORK_REQUIRED:-0}" = 1 ]; then
    lines+=("cloud; cloud; online")
    check "30 s later" "$(printf '%s\n' "${lines[@]}")" follows "${lines[@]}"
    manager UpdateProperties "{'Metered': <uint32 1>}"
    lines+=("cloud; cloud; online, metered")
    check "it is metered" "$(printf '%s\n' "${lines[@]}")" follows "${lines[@]}"
fi
manager UpdateProperties "{'Metered': <uint32 4>}"
kill "$watch" && wait "$watch" 2>/dev/null || true
unset HEARTH_CLOUD_KEY

# Inside one process: the tests that are for here only change the stand-in themselves and watch.
found=0
HEARTH_MOCKED_NETWORK=1 env -u SWIFT_DETERMINISTIC_HASHING swift test --pkg-config-path "$llama_prefix/lib/pkgconfig" \
    --skip-build --filter MockedNetworkTests >"$work/tests.log" 2>&1 || found=$?
grep -E '^[✔✘]' "$work/tests.log" || true
if [ "$found" != 0 ] || ! grep -q 'Test run with [1-9].* passed' "$work/tests.log"; then
    failed=$((failed + 1))
    tail -30 "$work/tests.log"
fi
echo "network: $passed as expected, $failed not"
[ "$failed" = 0 ]
