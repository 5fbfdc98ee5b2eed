#!/usr/bin/env bash
# The resident process: idle, slow, hostile and vanishing clients, restarts, SIGKILL under load, a closed terminal, and
# texts that cannot fit.
. "$(dirname "$0")/../stages.sh"
build_program
scripts/server/load.py "$program" --model "$default_model"
scripts/server/text.py "$program" --model "$default_model"
