#!/usr/bin/env bash
# Compares MLX's answers with mlx-lm's, and its speed with llama.cpp's: scripts/mlx/run.sh PROBE.
# PROBE is the program HearthMLXProbe of a build with the trait MLX.
. "$(dirname "$0")/../stages.sh"
probe="$(realpath "${1:?the program HearthMLXProbe}")"
judge="$(python_packages import import-judge "-$(python_version)")"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
export PYTHONPATH="$judge" PYTHONDONTWRITEBYTECODE=1
python3 scripts/import/models.py "$work/models"
python3 scripts/mlx/folder.py "$default_model" "$work/smollm2"
python3 scripts/mlx/equal.py "$probe" "$work/models" "$work/smollm2"
python3 scripts/mlx/speed.py "$probe" "$work/smollm2" "$default_model"
