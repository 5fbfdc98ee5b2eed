#!/usr/bin/env bash
# Downloads beside other downloaders. A missed bar fails the stage, and its record names the figure.
. "$(dirname "$0")/../stages.sh"
build_program
scripts/setup.sh bench
BENCH_STRICT=1 scripts/bench/run.sh peers
