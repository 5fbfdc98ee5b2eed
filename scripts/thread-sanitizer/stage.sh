#!/usr/bin/env bash
# The tests under the thread sanitizer.
. "$(dirname "$0")/../stages.sh"
. scripts/thread-sanitizer/sanitized.sh
sanitized thread
