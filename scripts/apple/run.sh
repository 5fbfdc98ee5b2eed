#!/usr/bin/env bash
# Compiles for iOS and macOS on Linux, against interfaces that we wrote: scripts/apple/README.md.
set -euo pipefail
cd "$(dirname "$0")/../.."
. scripts/env.sh
export HEARTH_CACHE llama_prefix
status=0
[ "$#" != 0 ] || { scripts/apple/graph.py && scripts/apple/branches.py && scripts/apple/stubs.py; } || status=1
scripts/apple/check.py "$@" || status=1
exit "$status"
