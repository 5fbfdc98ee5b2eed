#!/usr/bin/env bash
# What Hearth makes of NetworkManager, with a stand-in for it.
. "$(dirname "$0")/../stages.sh"
build_tests
NETWORK_REQUIRED=1 scripts/network/run.sh
