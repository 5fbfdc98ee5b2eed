#!/usr/bin/env bash
# make bench: one line per figure, ours beside the peer's, measured in turns in one run.
#   scripts/bench/run.sh [NAME…]      names and groups: see docs/benchmarks.md; without a name the group "basic"
# A missed bar is printed as such; with BENCH_STRICT=1 it also fails the run. BENCH_PAIRS (7) sets how often.
. "$(dirname "$0")/../stages.sh"
export HEARTH_BINARY="$PWD/.build/release/hearth" LLAMA_BIN="$llama_prefix/bin" BENCH_MODEL="$default_model"
export BENCH_CACHE="$HEARTH_CACHE/bench" BENCH_RESULTS="$PWD/bench-results"
export BENCH_TINY="$tiny_models" BENCH_HUB_CLIENT="$hub_client" no_proxy=127.0.0.1
mkdir -p "$BENCH_CACHE" "$BENCH_RESULTS"
exec python3 scripts/bench/bench.py "$@"
