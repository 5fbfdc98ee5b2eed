#!/usr/bin/env bash
# Imported vocabularies in llama.cpp against the tokenizers package and sentencepiece: scripts/tokenizers/run.sh PROBE.
# PROBE is the program HearthTokenizerProbe of the tests' build.
. "$(dirname "$0")/../stages.sh"
probe="$(realpath "${1:?the program HearthTokenizerProbe}")"
judge="$(python_packages tokenizers tokenizers-judge "-$(python_version)")"
writer="$(python_packages tiny gguf-writer "-$(python_version)")"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
export PYTHONPATH="$judge:$writer" PYTHONDONTWRITEBYTECODE=1
mkdir "$work/vocabularies"
python3 scripts/tokenizers/vocabularies.py "$judge" "$default_model" "$work/vocabularies"
python3 scripts/tokenizers/lines.py "$judge" "$work/lines.json"
python3 scripts/tokenizers/compare.py "$probe" "$work/vocabularies" "$work/lines.json"
