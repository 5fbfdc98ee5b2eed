#!/usr/bin/env bash
# Other people's clients, and llama.cpp's own tests of its server.
. "$(dirname "$0")/../stages.sh"
build_program
scripts/clients/all.sh "$program"
