#!/usr/bin/env bash
# Every command of the documents is run with the built program, and what it prints compared with what the document shows.
#   scripts/documents/stage.sh [FILE…]       HEARTH names another program than the built one
. "$(dirname "$0")/../stages.sh"
[ -n "${HEARTH:-}" ] || build_program
export HEARTH_DEFAULT_MODEL="$default_model" HEARTH_TINY_MODELS="$tiny_models" HEARTH_CACHE
run() { python3 scripts/documents/shell.py "${HEARTH:-$program}" "$@"; }
for options in -n -rn; do
    if unshare $options true 2>/dev/null; then
        exec unshare $options bash -c 'ip link set lo up && exec "$@"' _ python3 scripts/documents/shell.py "${HEARTH:-$program}" "$@"
    fi
done
run "$@"
