#!/usr/bin/env bash
# make run: the whole system once. Publishes the default model into a local origin, serves it, brings it into the home,
# asks it something. The second time the model is there already, and the server's own log shows that none of it moved.
set -euo pipefail
cd "$(dirname "$0")/../.."
. scripts/env.sh
hearth=.build/release/hearth
family=smollm2-135m-instruct
origin=.build/origin
question="Answer in one sentence: what is the capital of France?"
mkdir -p "$origin"

if [ -t 2 ] && [ -z "${NO_COLOR:-}" ]; then bold=$'\e[1m' plain=$'\e[0m'; else bold="" plain=""; fi
seconds() { local now; now=$(date +%s%N); awk "BEGIN { printf \"%.1f s\", ($now - $1) / 1e9 }"; }
begun=$(date +%s%N) last=0
ended() { [ "$last" = 0 ] || printf '  (%s)\n' "$(seconds "$last")" >&2; }
step() { ended; last=$(date +%s%N); printf '\n%s%s%s\n' "$bold" "$*" "$plain" >&2; }

step "publish: the default model into a local origin"
"$hearth" publish "$default_model" --family "$family" --version 1.0.0 --variant q4_1 --to "$origin"

work="$(mktemp -d)"
host=""
finish() {
    if [ -n "$host" ]; then kill "$host" 2>/dev/null || true; wait "$host" 2>/dev/null || true; fi
    rm -rf "$work"
}
trap finish EXIT

step "host: that folder, on a free port of this machine"
: >"$work/host.out"   # the loop below may look before the host's shell has made it
"$hearth" host "$origin" --port 0 --access-log >"$work/host.out" 2>"$work/host.log" &
host=$!
address=""
for _ in $(seq 100); do
    address="$(head -1 "$work/host.out")"
    [ -z "$address" ] || break
    kill -0 "$host" 2>/dev/null || { cat "$work/host.log" >&2; exit 1; }
    sleep 0.02
done
[ -n "$address" ] || { echo "the host did not say where it listens" >&2; exit 1; }
export HEARTH_ORIGIN="$address"
echo "$address" >&2

step "pull: $family into ${HEARTH_HOME:-the home folder}"
"$hearth" pull "$family"

step "chat: $question"
"$hearth" chat "$family" --system "You are a helpful assistant." --seed 1 --prompt "$question"

# The host writes a line for every reply: method, target, status, bytes.
kill "$host" && { wait "$host" || true; } && host=""
step "the host's log: $(awk '$2 ~ "^/models/" {bytes += $4} END {printf "%d", bytes}' "$work/host.log") model bytes were fetched in $(grep -cE '^(GET|HEAD) ' "$work/host.log") requests"
last=0

home="${HEARTH_HOME:-${XDG_DATA_HOME:-$HOME/.local/share}/hearth}"
size() { du -sh "$@" 2>/dev/null | cut -f1; }
step "done in $(seconds "$begun"); what lies where"
last=0
cat >&2 <<NEXT
  .build                     $(size .build)  the program, what it was compiled of, and the origin
  $home  $(size "$home")  the installed model
  $HEARTH_CACHE  $(size "$HEARTH_CACHE")  llama.cpp, OpenVINO and the model as it was fetched; all checkouts share them

try next
  make chat                                      a conversation with the model
  .build/release/hearth                          the commands of a first day
  make install PREFIX=~/.local                   the program for every folder
NEXT
