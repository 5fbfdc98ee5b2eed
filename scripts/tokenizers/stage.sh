#!/usr/bin/env bash
# Imported vocabularies cut 4,000 lines in many scripts as the tokenizers package does.
. "$(dirname "$0")/../stages.sh"
build_tests
scripts/tokenizers/run.sh .build/debug/HearthTokenizerProbe
