#!/usr/bin/env bash
# make fuzz: libFuzzer on every parser of bytes from outside, FUZZ_SECONDS (default 30) each.
#   scripts/fuzz/run.sh [TARGET…]
# A crash leaves its input under .build/fuzz/crashes and fails the run. Seeds are in Fuzz/Seeds/TARGET.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds="${FUZZ_SECONDS:-30}"
scratch="$PWD/.build/fuzz"
if [ $# = 0 ]; then
    mapfile -t targets < <(sed -n 's/^    "\([a-z-]*\)": fuzz.*/\1/p' Fuzz/Sources/Fuzz/Fuzz.swift)
else
    targets=("$@")
fi

swift build --package-path Fuzz --scratch-path "$scratch" --sanitize=fuzzer --product Fuzz -q
binary="$(swift build --package-path Fuzz --scratch-path "$scratch" --show-bin-path)/Fuzz"
failed=0
export TMPDIR="$scratch/tmp"
rm -rf "$TMPDIR" && mkdir -p "$TMPDIR"
trap 'rm -rf "$TMPDIR"' EXIT
for target in "${targets[@]}"; do
    corpus="$scratch/corpus/$target"
    mkdir -p "$corpus" "$scratch/crashes"
    seeds=(); [ -d "Fuzz/Seeds/$target" ] && seeds=("Fuzz/Seeds/$target")
    # Without its own backtrace handler out of the way, Swift ends the process before libFuzzer can write the input.
    if HEARTH_FUZZ="$target" SWIFT_BACKTRACE=enable=no "$binary" -max_total_time="$seconds" -timeout=10 \
        -rss_limit_mb=1024 -max_len=65536 -print_final_stats=1 \
        -artifact_prefix="$scratch/crashes/$target-" "$corpus" "${seeds[@]}" >"$scratch/$target.log" 2>&1
    then
        echo "fuzz $target: $(sed -n 's/^stat::number_of_executed_units: *//p' "$scratch/$target.log") inputs in $seconds s, no finding"
    else
        failed=1
        echo "fuzz $target: FOUND SOMETHING, see $scratch/$target.log" >&2
        tail -15 "$scratch/$target.log" >&2
    fi
done
exit $failed
