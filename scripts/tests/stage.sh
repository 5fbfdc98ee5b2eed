#!/usr/bin/env bash
# The style, `make test`, the program as it is released, and the reference.
. "$(dirname "$0")/../stages.sh"
make --no-print-directory lint
make --no-print-directory test
# What make test leaves out of these files for its time; the engine's stage runs its own in full.
HEARTH_TESTS=full selected "/($(grep -rl 'TestExtent\.isFull' Tests --include='*.swift' | grep -v '^Tests/HearthLlamaTests/' \
    | xargs -n 1 basename | sed 's/\./\\./' | paste -sd'|')):"
swift build -c release "${flags[@]}" --static-swift-stdlib --no-color-diagnostics
make --no-print-directory docs
