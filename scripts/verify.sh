#!/usr/bin/env bash
# make verify: everything in full, in stages of at most thirty minutes. The stage X is scripts/X/stage.sh.
#   scripts/verify.sh              every stage
#   scripts/verify.sh STAGE…       these
#   scripts/verify.sh --stages     their names
# A stage that passes leaves docs/evidence/DATE-STAGE.md, of at most 3 KB, in place of its older record: the commit, the machine,
# what was run, what came out. The log of one that fails stays in .build/verify.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/env.sh
stages="tests apple siblings documents engine thread-sanitizer address-sanitizer swap soak schemas fuzz tokenizers import mlx crash background disk limits network rings cloud records stores assistant classify settings server hostile server-soak server-peers upstreams replicas gateway clients agents description publish registries page walks tuf train-classifier consumer first-run bare bench bench-engine bench-peers bench-extremes"
if [ "${1:-}" = --stages ]; then echo "$stages"; exit; fi

machine() {
    printf -- '- processor: %s, %s cores\n' "$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -1)" "$(nproc)"
    printf -- '- memory: %s\n' "$(awk '/MemTotal/ {printf "%.1f GB", $2 * 1024 / 1e9}' /proc/meminfo)"
    printf -- '- system: %s, Linux %s\n' "$(. /etc/os-release && echo "$PRETTY_NAME")" "$(uname -r)"
    printf -- '- Swift: %s\n' "$(swift --version 2>/dev/null | head -1)"
    printf -- '- llama.cpp: as packed in %s\n' "$llama_package"
    printf -- '- load at the start: %s\n' "$(cut -d' ' -f1 /proc/loadavg)"
}

# What came out, in so many bytes: a benchmark's figures, else the end of the log, without the names of tests that passed.
essence() { # the stage, the log, the bytes
    local lines; lines="$(mktemp)"
    case $1 in
    bench*) grep -a '^bench ' "$2" > "$lines" || true ;;
    *) # Compiler progress is no evidence; what tests, checks and programs said is.
        tr '\r' '\n' < "$2" | sed 's/\x1b\[[0-9;]*[A-Za-z]//g' | grep -avE \
            '^\[[0-9]+/[0-9]+\]|^(Building|Planning|Compiling|Write|Linking|Build (complete|of)|Test Suite) ?|warning: prohibited flag|Executed 0 tests|^[◇➜↳] |^✔ (Test [^r]|Test r[^u]|Suite )|^/.*: |^ *$' \
            > "$lines" || true ;;
    esac
    # The folders of a user do not belong in a record.
    sed -i -e "s#$PWD#.#g" -e "s#$HEARTH_CACHE#CACHE#g" -e "s#$HOME#~#g" -e 's#/tmp/[^ ]*tmp\.[A-Za-z0-9]*#TEMPORARY#g' "$lines"
    # Medians and bars first; the spreads are in bench-results.
    [ "$(wc -c < "$lines")" -le "$3" ] || sed -i -E 's/ (\w+_)?(spread|pairs|runs|rounds|limit|cpu_s_per_gib)=[^ ]+//g; s/ verdict=met//' "$lines"
    if [ "$(wc -c < "$lines")" -le "$3" ]; then cat "$lines"; else tail -c "$3" "$lines" | sed 1d; fi
    rm -f "$lines"
}

run_stage() {
    local stage=$1 status=0 begin=$SECONDS log=".build/verify/$1.log" facts commit head
    mkdir -p docs/evidence .build/verify
    facts="$(machine)"
    commit="$(git rev-parse HEAD)$(git diff --quiet HEAD -- . ':!docs/evidence' || echo ' with changes')"
    echo "== verify $stage" >&2
    "scripts/$stage/stage.sh" 2>&1 | tee "$log" || status=$?
    if [ "$status" != 0 ]; then
        echo "== $stage: FAILED ($status), see $log" >&2
        return 1
    fi
    head="$(printf '# %s: passed\n\n- date: %s\n- commit: %s\n%s\n- command: `make verify STAGE=%s`, %d s' \
        "$stage" "$(date -u +%FT%TZ)" "$commit" "$facts" "$stage" "$((SECONDS - begin))")"
    rm -f docs/evidence/????-??-??-"$stage".md
    {
        printf '%s\n\n```\n' "$head"
        essence "$stage" "$log" $((2950 - $(printf %s "$head" | wc -c)))
        printf '```\n'
    } > "docs/evidence/$(date -u +%F)-$stage.md"
    rm -f "$log"
    echo "== $stage: passed, recorded in docs/evidence/$(date -u +%F)-$stage.md" >&2
}

failed=""
# shellcheck disable=SC2086
for stage in ${*:-$stages}; do
    case " $stages " in *" $stage "*) ;; *) echo "verify: no stage is named $stage; there are: $stages" >&2; exit 64 ;; esac
    run_stage "$stage" || failed="$failed $stage"
done
[ -z "$failed" ] || { echo "verify: failed:$failed" >&2; exit 1; }
