#!/usr/bin/env bash
# The page in a browser: against a scripted server, then with the built program and pages of other origins.
. "$(dirname "$0")/../stages.sh"
scripts/page/run.sh
build_program
scripts/page/run.sh live
scripts/page/run.sh many
