#!/usr/bin/env bash
# libFuzzer on every parser of bytes from outside, two minutes each.
. "$(dirname "$0")/../stages.sh"
FUZZ_SECONDS="${FUZZ_SECONDS:-120}" scripts/fuzz/run.sh
