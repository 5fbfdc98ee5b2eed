#!/usr/bin/env bash
# make test: the Swift tests, the package without its heavy traits, and an app that uses the delivery half alone.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/env.sh
flags=(--pkg-config-path "$llama_prefix/lib/pkgconfig")
step() { printf '\n== %s (%d s so far)\n' "$*" "$SECONDS" >&2; }

# Debug builds of one package share their scratch folder; each configuration of traits has one of its own, or they
# would rebuild each other for ever.
step "an app that uses HearthDelivery alone"
scripts/test-consumer.sh
step "the package without its default traits"
swift build --disable-default-traits --scratch-path .build/no-traits
step "the tests"
swift build "${flags[@]}" --build-tests
# The builds want a fixed order of hashed things (scripts/env.sh); the tests do not.
# Whatever SwiftPM holds back of the output is missing if the run is cut off: it is told to pass on every line.
line_by_line=(); if command -v stdbuf >/dev/null; then line_by_line=(stdbuf -oL); fi
events=.build/test-events.jsonl
scripts/bounded.sh 20 --events "$events" env -u SWIFT_DETERMINISTIC_HASHING "${line_by_line[@]}" \
    swift test "${flags[@]}" --skip-build --event-stream-output-path "$events" --skip HotSwapTests "$@"
# Alone: it measures what the process has in memory.
step "two versions of a model that change places under load"
scripts/bounded.sh 5 --events "$events" env -u SWIFT_DETERMINISTIC_HASHING "${line_by_line[@]}" \
    swift test "${flags[@]}" --skip-build --event-stream-output-path "$events" --filter HotSwapTests
step "the network monitor and a stand-in for NetworkManager"
scripts/network.sh
step "the finished program on a full, closed, wrong or absent machine"
swift build "${flags[@]}" -c release --static-swift-stdlib --no-color-diagnostics --product hearth
scripts/limits.sh
step "done"
