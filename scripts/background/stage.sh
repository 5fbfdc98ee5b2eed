#!/usr/bin/env bash
# Kills of an app and of the service that downloads for it, at 200 moments, and each misbehavior of that service.
. "$(dirname "$0")/../stages.sh"
build_tests
probe="$PWD/.build/debug/HearthBackgroundProbe"
scripts/background/kill.py "$probe" 200
for faults in "twice order" lose "broken" "broken foreign" vanish "twice order lose broken vanish"; do
    HEARTH_BACKGROUND_BYTES=$((96 << 20)) scripts/background/kill.py "$probe" 30 $faults
done
selected 'HearthBackgroundTests'
