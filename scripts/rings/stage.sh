#!/usr/bin/env bash
# Reminders ring on the desktop, with a stand-in for it.
. "$(dirname "$0")/../stages.sh"
swift build "${flags[@]}" --product hearth
RINGS_REQUIRED=1 scripts/rings/run.sh
