#!/usr/bin/env bash
# Imported models have the weights of the originals and answer as mlx-lm does, also after pull and probe; a killed import goes on;
# a large one is as fast as a copy.
. "$(dirname "$0")/../stages.sh"
swift build -c release "${flags[@]}" --product HearthImportProbe
build_program
scripts/import/run.sh .build/release/HearthImportProbe "$program"
