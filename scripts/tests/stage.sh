#!/usr/bin/env bash
# The style, `make test`, the program as it is released, and the reference.
. "$(dirname "$0")/../stages.sh"
make --no-print-directory lint
make --no-print-directory test
swift build -c release "${flags[@]}" --static-swift-stdlib --no-color-diagnostics
make --no-print-directory docs
