#!/usr/bin/env bash
# Compiles for iOS and macOS on Linux, against interfaces that we wrote: scripts/apple/README.md.
set -euo pipefail
cd "$(dirname "$0")/../.."
. scripts/env.sh
export HEARTH_CACHE llama_prefix
exec scripts/apple/check.py "$@"
