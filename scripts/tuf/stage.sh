#!/usr/bin/env bash
# Signed origins: both ways with python-tuf, the attacks by name, and tuf-conformance, whose unpacked folder HEARTH_TUF_SUITE names.
. "$(dirname "$0")/../stages.sh"
build_program
scripts/tuf/run.sh "$program"
