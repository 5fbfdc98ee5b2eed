#!/usr/bin/env bash
# The same load on llama-server of the same build, in turns.
. "$(dirname "$0")/../stages.sh"
scripts/setup.sh bench
build_program
scripts/server-peers/peers.py "$program" --model "$default_model" --peer "$llama_prefix/bin/llama-server"
