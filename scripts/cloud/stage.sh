#!/usr/bin/env bash
# The vendors' own clients against the stand-in, then the cloud engines against it and against llama-server.
. "$(dirname "$0")/../stages.sh"
scripts/setup.sh bench
build_tests
# The program that people run: an optimised build can fail where a debug build answers.
build_program
HEARTH_BINARY="$program" scripts/cloud/run.sh
HEARTH_TESTS=full selected 'ManyConversationsTests|RouteTests'
