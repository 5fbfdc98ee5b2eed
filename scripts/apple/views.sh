#!/usr/bin/env bash
# Builds the views against our SwiftUI on Linux, and checks what they show and what their buttons do: scripts/apple/README.md.
set -euo pipefail
cd "$(dirname "$0")/../.."
. scripts/env.sh
export HEARTH_CACHE llama_prefix
swift build --pkg-config-path "$llama_prefix/lib/pkgconfig" --target HearthUI >&2
exec scripts/apple/views.py "$@"
