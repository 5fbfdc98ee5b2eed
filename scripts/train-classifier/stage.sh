#!/usr/bin/env bash
# The character classifier is trained anew, and the one of the tree is measured.
. "$(dirname "$0")/../stages.sh"
scripts/classify/run.sh scripts/train-classifier/train.py --into .build/hearth-hanzi --variants .build/hearth-hanzi-variants
scripts/classify/run.sh scripts/train-classifier/train.py --measure models/hearth-hanzi
