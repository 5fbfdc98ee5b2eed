#!/usr/bin/env bash
# The tests under the address sanitizer.
# Leaks are left out: what it reports are the one-time allocations of the Swift runtime and Foundation; the soak counts handles.
. "$(dirname "$0")/../stages.sh"
. scripts/thread-sanitizer/sanitized.sh
export ASAN_OPTIONS="detect_leaks=0:suppressions=$PWD/scripts/address-sanitizer/suppressions.txt"
# Vectors that llama.cpp fills and the shim reads are marked by one side only.
sanitized address "$ASAN_OPTIONS:detect_container_overflow=0"
