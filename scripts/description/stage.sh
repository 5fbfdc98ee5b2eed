#!/usr/bin/env bash
# Schemathesis holds a server to the description that it gives.
. "$(dirname "$0")/../stages.sh"
build_program
scripts/description/run.sh "$program"
