#!/usr/bin/env bash
# Runs the tests of HearthBase, HearthHTTP, HearthStore and HearthTransfer on Linux over the files that stand for Linux's
# libraries on Apple platforms: scripts/siblings/README.md. run.sh [FILTER]
set -euo pipefail
cd "$(dirname "$0")/../.."
place=.build-siblings
scripts/siblings/prepare.py "$place"
swift build --package-path "$place" --build-tests
scripts/siblings/report.py "$place" "$@"
