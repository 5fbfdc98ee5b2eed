#!/usr/bin/env bash
# Coding agents of other makers, unchanged, against a server with a model that says ok.
. "$(dirname "$0")/../stages.sh"
build_program
scripts/agents/run.sh "$program"
scripts/agents/kept.sh "$program"
