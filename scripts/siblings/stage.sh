#!/usr/bin/env bash
# The files that stand for Linux's libraries on Apple platforms pass those libraries' tests, over stand-ins of ours.
. "$(dirname "$0")/../stages.sh"
scripts/siblings/run.sh
