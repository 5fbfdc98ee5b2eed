#!/usr/bin/env bash
# Half an hour of mixed load: no answer is lost, and the memory stays.
. "$(dirname "$0")/../stages.sh"
build_program
scripts/server-soak/soak.py "$program" --model "$default_model" --minutes "${SOAK_MINUTES:-28}"
