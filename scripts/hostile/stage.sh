#!/usr/bin/env bash
# Hostile models of every kind to one server, beside a client whose answers go on; broken forms of the default model after a
# good one; and workers that are killed in mid-answer.
. "$(dirname "$0")/../stages.sh"
[ -n "${HEARTH_BINARY:-}" ] || build_program
packages="$(python_packages onnxruntime bench/onnxruntime)"
export HEARTH_TINY="$tiny_models"
status=0
PYTHONPATH="$packages" python3 scripts/hostile/run.py "${HEARTH_BINARY:-$program}" "$@" || status=$?
python3 scripts/hostile/broken.py "${HEARTH_BINARY:-$program}" "$default_model" || status=$?
python3 scripts/hostile/kills.py "${HEARTH_BINARY:-$program}" || status=$?
exit "$status"
