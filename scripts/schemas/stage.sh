#!/usr/bin/env bash
# The default model answers a hundred schemas: each answer is valid, cut, or told with the keyword it misses.
. "$(dirname "$0")/../stages.sh"
build_tests
HEARTH_SCHEMAS=full swift test "${flags[@]}" --skip-build --filter RealModel/SchemaAnswers
