#!/usr/bin/env bash
# Imports small models of eight families, kills imports, and measures a large one: scripts/import/run.sh PROBE.
# PROBE is the program HearthImportProbe.
. "$(dirname "$0")/../stages.sh"
probe="$(realpath "${1:?the program HearthImportProbe}")"
judge="$(python_packages import import-judge "-$(python_version)")"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
export PYTHONPATH="$judge" PYTHONDONTWRITEBYTECODE=1
c++ -std=c++17 -O2 scripts/import/engine.cpp -o "$work/engine" -I"$llama_prefix/include" -L"$llama_prefix/lib" \
    -lhearth-llama -lpthread -ldl -lm
mkdir "$work/models" "$work/work"
python3 scripts/import/models.py "$work/models"
python3 scripts/import/compare.py "$work/models" "$probe" "$work/engine"
python3 scripts/import/large.py "$work/large" 2
python3 scripts/import/kill.py "$work/large" "$probe" "$work/work" 50
python3 scripts/import/speed.py "$work/large" "$probe" "$work/work"
