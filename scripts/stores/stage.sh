#!/usr/bin/env bash
# Calendars, reminders and contacts together with the programs that share their files.
. "$(dirname "$0")/../stages.sh"
build_tests
scripts/stores/run.sh
EVOLUTION=1 scripts/stores/imported.sh
