#!/usr/bin/env bash
# What the finished program says where a machine is full, closed, wrong or absent: one clear sentence, a stable code, the
# right exit status. Mounts are made in a namespace of their own and vanish with it.
set -euo pipefail
cd "$(dirname "$0")/../.."
. scripts/env.sh
if [ "${1:-}" != inside ]; then
    if unshare -m true 2>/dev/null; then exec unshare -m "$0" inside; fi
    if unshare -rm true 2>/dev/null; then exec unshare -rm "$0" inside; fi
    echo "limits: NOT RUN, because this user may not make namespaces to mount in" >&2
    exit "${LIMITS_REQUIRED:-0}"
fi

hearth="$PWD/.build/release/hearth"
family=smollm2-135m-instruct
work="$(mktemp -d)"
pids=()
finish() {
    for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
    wait
    mountpoint -q "$work/small" && umount "$work/small"
    mountpoint -q "$work/closed" && umount "$work/closed"
    rm -rf "$work"
}
trap finish EXIT
passed=0 failed=0

# expect NAME STATUS CODE -- COMMAND…: the first line on stderr is the sentence, and ends with the code.
expect() {
    local name=$1 status=$2 code=$3; shift 4
    local found=0
    "$@" >"$work/out" 2>"$work/err" </dev/null || found=$?
    local line; line="$(grep -m1 '^hearth: ' "$work/err" || true)"
    if [ "$found" = "$status" ] && [ "${line%"[$code]"}" != "$line" ]; then
        passed=$((passed + 1))
        printf 'ok    %-28s %s\n' "$name" "$line"
    else
        failed=$((failed + 1))
        printf 'WRONG %-28s wanted status %s and [%s], found status %s and:\n' "$name" "$status" "$code" "$found"
        head -5 "$work/err"
    fi
}
check() { # NAME COMMAND…
    local name=$1; shift
    if "$@"; then passed=$((passed + 1)); printf 'ok    %s\n' "$name"; else failed=$((failed + 1)); printf 'WRONG %s\n' "$name"; fi
}

"$hearth" publish "$default_model" --family "$family" --version 1.0.0 --variant q4_1 --to "$work/origin" --quiet >/dev/null
"$hearth" host "$work/origin" --port 0 --access-log >"$work/host.out" 2>"$work/log" &
pids+=($!)
for _ in $(seq 100); do
    address="$(sed -n '1s#/models.json##p' "$work/host.out")"
    [ -z "$address" ] || break
    sleep 0.02
done
export HEARTH_ORIGIN="$address/models.json" HEARTH_HOME="$work/home"

expect "port in use" 1 port-in-use -- "$hearth" host "$work/origin" --port "${address##*:}"
expect "no such folder to serve" 1 folder-missing -- "$hearth" host "$work/nowhere"

mkdir "$work/small" && mount -t tmpfs -o size=16m tmpfs "$work/small"
HEARTH_HOME="$work/small/home" expect "full disk (16 MiB)" 1 insufficient-storage -- "$hearth" pull "$family"

touch "$work/file"
HEARTH_HOME="$work/file/home" expect "home below a regular file" 1 not-a-folder -- "$hearth" pull "$family"
HEARTH_HOME="$work/file/home" expect "home below it, listing" 1 not-a-folder -- "$hearth" list

mkdir "$work/closed" && mount --bind "$work/closed" "$work/closed" && mount -o remount,ro,bind "$work/closed"
HEARTH_HOME="$work/closed/home" expect "read-only home" 1 read-only -- "$hearth" pull "$family"

HEARTH_ORIGIN=http://127.0.0.1:1/models.json expect "absent server" 75 origin-unreachable -- "$hearth" pull "$family"
HEARTH_ORIGIN="$address/nothing.json" expect "no manifest there" 1 origin-refused -- "$hearth" pull "$family"
expect "unknown family" 1 unknown-family -- "$hearth" pull smollm2-135m-instuct
check "  names the near one" grep -q "$family" "$work/err"
expect "unknown version" 1 unknown-version -- "$hearth" pull "$family@9.9.9"
expect "wrong usage" 64 wrong-usage -- "$hearth" pull --no-such-option
expect "no model to chat with" 1 no-model -- "$hearth" chat --prompt hello
head -c 4096 /dev/urandom > "$work/noise.gguf"
expect "noise instead of a model" 1 cannot-load-model -- "$hearth" chat "$work/noise.gguf" --prompt hello

# Killed in the middle, then again: what was recorded is not fetched twice.
recorded() { # the bytes that the journals name
    cat "$HEARTH_HOME"/transfers/*/journal 2>/dev/null | tr '{' '\n' \
        | sed -n 's/.*"end":\([0-9]*\),"start":\([0-9]*\).*/\1 \2/p' | awk '{ sum += $1 - $2 } END { print sum + 0 }'
}
"$hearth" pull "$family" --limit-rate 30000000 --quiet &
victim=$!
for _ in $(seq 200); do
    # The journal names the bytes on the disk; the part file has its full length from the start.
    [ "$(recorded)" -ge 10000000 ] && break
    sleep 0.05
done
kill -9 "$victim" 2>/dev/null || true
wait "$victim" 2>/dev/null || true
before="$(wc -l < "$work/log")"
check "a killed pull can be taken up" "$hearth" pull "$family" --quiet
# At least the ten megabytes that the journal named do not come again.
served="$(tail -n +$((before + 1)) "$work/log" | awk '/^GET .*\.gguf 20[06] / { sum += $4 } END { print sum + 0 }')"
whole="$(stat -c %s "$default_model")"
check "  from where it was" [ "$served" -gt 0 -a "$served" -le $((whole - 9000000)) ]
check "  and is whole" grep -q intact <("$hearth" verify "$family" --quiet)
check "runs in an empty environment" env -i HEARTH_HOME="$HEARTH_HOME" sh -c "cd / && '$hearth' list --quiet | grep -q $family"

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
