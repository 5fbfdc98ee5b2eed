#!/usr/bin/env bash
# The default model answers all schemas, and calls tools with sixty patterns in five dialects: each answer is valid, or cut.
. "$(dirname "$0")/../stages.sh"
build_tests
HEARTH_SCHEMAS=full swift test "${flags[@]}" --skip-build --filter RealModel/SchemaAnswers
build_program
scripts/schemas/patterns.sh "$program"
