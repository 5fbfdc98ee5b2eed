#!/usr/bin/env bash
# Full, closed and missing places, and the licenses of what the program contains.
. "$(dirname "$0")/../stages.sh"
build_program
HEARTH_LLAMA_SOURCE="$llama_source" HEARTH_WEB_LICENSES="$llama_prefix/include/hearth-web/licenses" scripts/tests/licenses.py --check "$program"
LIMITS_REQUIRED=1 scripts/limits/run.sh
