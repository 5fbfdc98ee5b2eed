#!/usr/bin/env bash
# Apple platforms: every target compiles for iOS and macOS, 30 planted errors are found, the views run as trees on Linux, and
# names are those of the frameworks.
. "$(dirname "$0")/../stages.sh"
export HEARTH_CACHE llama_prefix
scripts/apple/run.sh
scripts/apple/planted.py
build_tests
scripts/apple/views.py
scripts/apple/names.sh
