#!/usr/bin/env bash
# Five hundred requests of all kinds to two models, in a process of their own, whose memory and handles are counted.
. "$(dirname "$0")/../stages.sh"
build_tests
HEARTH_SOAK="${HEARTH_SOAK:-500}" swift test "${flags[@]}" --skip-build --filter RealModel/Soak
