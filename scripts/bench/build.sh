#!/usr/bin/env bash
# Builds a program of Benchmarks as a release is built, and prints its path:
#   scripts/bench/build.sh HearthManyBench
. "$(dirname "$0")/../stages.sh"
options=(--package-path Benchmarks --scratch-path .build/benchmarks -c release "${flags[@]}" --static-swift-stdlib --no-color-diagnostics)
swift build "${options[@]}" --product "$1" >&2
echo "$(swift build "${options[@]}" --show-bin-path)/$1"
