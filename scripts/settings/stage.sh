#!/usr/bin/env bash
# Sixty processes change settings and keys at once, under a running server, and writers are killed.
. "$(dirname "$0")/../stages.sh"
build_program
scripts/settings/race.py "$program"
