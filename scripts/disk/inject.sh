#!/usr/bin/env bash
# What the finished program does where a call of the system fails: strace makes the Nth one of each thread fail. One clear
# sentence with a stable code, or none where the program can go on; then, without failures, the same command ends with the
# right bytes. A call that a signal interrupts (EINTR) is not to be noticed at all.
#   scripts/disk/inject.sh            wants strace: scripts/setup.sh disk
# With LIMITS_REQUIRED=1 it fails where strace may not be used.
set -euo pipefail
cd "$(dirname "$0")/../.."
hearth="${HEARTH_PROGRAM:-$PWD/.build/release/hearth}"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
if ! strace -f -qq --seccomp-bpf -o /dev/null -e inject=fsync:error=EIO true 2>/dev/null; then
    echo "inject: NOT RUN, because there is no strace, or this user may not use it" >&2
    exit "${LIMITS_REQUIRED:-0}"
fi

head -c 24000000 /dev/urandom > "$work/big-v1.0.0.onnx"
digest="$(sha256sum < "$work/big-v1.0.0.onnx" | cut -d' ' -f1)"
"$hearth" publish "$work/big-v1.0.0.onnx" --to "$work/origin" --quiet >/dev/null
export HEARTH_ORIGIN="$work/origin/models.json" HEARTH_HOME="$work/home" HEARTH_NETWORK=unmetered
part="$HEARTH_HOME/transfers/$digest/data.part"
runs=0 failed=0 went_on=0 wrong=0

wrong() {
    wrong=$((wrong + 1))
    printf 'WRONG %s: %s\n' "$name" "$1"
    head -5 "$work/err"
}

# Pulls while calls fail, and then without; the second time everything has to be right.
inject() { # CALLS WHAT WHEN EXPECTED-STATUS CODES [STRACE-OPTION…]
    local calls=$1 what=$2 when=$3 expected=$4 codes=$5 status=0; shift 5
    name="$calls $what at $when"
    rm -rf "$HEARTH_HOME"
    timeout 60 strace -f -qq --seccomp-bpf -o /dev/null "$@" -e trace="$calls" -e inject="$calls:$what:when=$when" \
        "$hearth" pull big --quiet >"$work/out" 2>"$work/err" </dev/null || status=$?
    judge "$expected" "$codes" "$status"
}

judge() { # EXPECTED-STATUS CODES STATUS
    local expected=$1 codes=$2 status=$3 lines line
    runs=$((runs + 1))
    lines="$(grep -c '^hearth: ' "$work/err" || true)"
    line="$(grep -m1 '^hearth: ' "$work/err" || true)"
    case "$status" in
        0)
            went_on=$((went_on + 1))
            [ "$lines" = 0 ] || wrong "it complains and succeeds"
            ;;
        "$expected")
            failed=$((failed + 1))
            [ "$lines" = 1 ] || wrong "it says $lines sentences"
            case " $codes " in
                *" $(sed 's/.*\[\(.*\)\]$/\1/' <<<"$line") "*) ;;
                *) wrong "another code than: $codes" ;;
            esac
            ;;
        *) wrong "status $status" ;;
    esac
    if ! "$hearth" pull big --quiet 2>"$work/err"; then wrong "the next pull fails"; return; fi
    [ "$(sha256sum < "$HEARTH_HOME/models/big/active/big-v1.0.0.onnx" | cut -d' ' -f1)" = "$digest" ] \
        || wrong "the active model has other bytes"
    "$hearth" verify --quiet >/dev/null 2>"$work/err" || wrong "verify finds damage"
    [ -z "$(ls "$HEARTH_HOME/transfers")" ] || wrong "something is left in transfers"
}

# A descriptor that is closed twice closes a file that another thread has opened meanwhile.
name="closing"
runs=$((runs + 1))
rm -rf "$HEARTH_HOME"
strace -f -qq --seccomp-bpf -e trace=close -e signal=none -e status=failed -o "$work/closes" "$hearth" pull big --quiet >"$work/out" 2>"$work/err" </dev/null \
    || wrong "the pull fails"
[ ! -s "$work/closes" ] || wrong "$(wc -l < "$work/closes") descriptors are closed that are not open"

renames=rename,renameat,renameat2
for when in 1 2 3 4 6 9 14 1+; do
    inject pwrite64 error=ENOSPC "$when" 1 disk-full
    inject pwrite64 error=EIO "$when" 1 io-failure
done
inject pwrite64 error=EDQUOT 3 1 disk-full
inject fallocate error=ENOSPC 1 1 disk-full
inject fallocate error=EOPNOTSUPP 1 1 none
for when in 1 2 3 1+; do
    inject fdatasync error=EIO "$when" 1 io-failure
    inject fdatasync error=ENOSPC "$when" 1 disk-full
    inject "$renames" error=EIO "$when" 1 io-failure
    inject "$renames" error=ENOSPC "$when" 1 disk-full
    inject fsync error=EIO "$when" 1 io-failure
    inject link,linkat error=EIO "$when" 1 io-failure
done
# A signal in every second call; no code would do, so only success is right.
for calls in pwrite64 fdatasync fsync fallocate ftruncate; do inject "$calls" error=EINTR 1+2 1 none; done
inject pread64 error=EINTR 1+2 1 none -P "$part"
# A system that cuts a write short and says it has written what it has not: a write that was cut short is read back.
for when in 2 9; do inject pwrite64 retval=65536 "$when" 1 io-failure -P "$part"; done

# Writes that write only the first half: strace cannot do that, a library before the system's own can.
cat > "$work/half.c" <<'C'
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>
ssize_t pwrite64(int file, const void *bytes, size_t count, off_t offset) {
    return syscall(SYS_pwrite64, file, bytes, count > 1 ? count / 2 : count, offset);
}
ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset) { return pwrite64(file, bytes, count, offset); }
C
cc -shared -fPIC -o "$work/half.so" "$work/half.c"
name="every pwrite in half" status=0
rm -rf "$HEARTH_HOME"
LD_PRELOAD="$work/half.so" "$hearth" pull big --quiet >"$work/out" 2>"$work/err" </dev/null || status=$?
judge 1 none "$status"

echo "inject: $runs runs, in $went_on of them the program went on, in $failed it ended with one sentence; $wrong wrong"
[ "$wrong" = 0 ]
