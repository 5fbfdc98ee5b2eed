#!/usr/bin/env bash
# Models of MLX's form, computed by MLX's own library, answer as mlx-lm does, stop in time, and leave no memory behind.
. "$(dirname "$0")/../stages.sh"
scripts/setup.sh mlx
# With another set of traits everything is compiled again.
scratch=(--scratch-path .build-mlx --traits default,MLX)
swift build "${flags[@]}" "${scratch[@]}" --build-tests
HEARTH_TESTS=full env -u SWIFT_DETERMINISTIC_HASHING swift test "${flags[@]}" "${scratch[@]}" --skip-build \
    --filter 'HearthMLXTests|ComputedAnswers'
swift build -c release "${flags[@]}" "${scratch[@]}" --product HearthMLXProbe
scripts/mlx/run.sh .build-mlx/release/HearthMLXProbe
