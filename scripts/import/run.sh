#!/usr/bin/env bash
# Imports small models of eight families, takes them the whole way, kills imports, and measures: scripts/import/run.sh PROBE HEARTH.
# PROBE is the program HearthImportProbe.
. "$(dirname "$0")/../stages.sh"
probe="$(realpath "${1:?the program HearthImportProbe}")"
hearth="$(realpath "${2:?the hearth program}")"
judge="$(python_packages import import-judge "-$(python_version)")"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
export PYTHONPATH="$judge" PYTHONDONTWRITEBYTECODE=1
c++ -std=c++17 -O2 scripts/import/engine.cpp -o "$work/engine" -I"$llama_prefix/include" -L"$llama_prefix/lib" \
    -lhearth-llama -lpthread -ldl -lm
c++ -std=c++17 -O2 scripts/import/decode.cpp -o "$work/decode" -I"$llama_prefix/include" -L"$llama_prefix/lib" \
    -lhearth-llama -lpthread -ldl -lm
mkdir "$work/models" "$work/work"
python3 scripts/import/models.py "$work/models"
python3 scripts/import/compare.py "$work/models" "$probe" "$work/engine"
python3 scripts/import/whole.py "$hearth" "$work/models"
python3 scripts/import/seeing.py "$hearth" "$work/models"
python3 scripts/mlx/folder.py "$default_model" "$work/smollm2"
python3 scripts/import/decode.py "$work/smollm2" "$default_model" "$probe" "$work/decode" "$work"
python3 scripts/import/large.py "$work/large" 2
python3 scripts/import/kill.py "$work/large" "$probe" "$work/work" 50
python3 scripts/import/speed.py "$work/large" "$probe" "$work/work"
