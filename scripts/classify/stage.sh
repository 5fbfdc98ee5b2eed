#!/usr/bin/env bash
# The command against onnxruntime on the same networks and pictures, pages, large pictures, kills during an update, the cloud's
# stand-in, speed; and the exchange of classifiers under load, in full.
. "$(dirname "$0")/../stages.sh"
build_tests
build_program
scripts/setup.sh disk
scripts/classify/all.sh "$program"
HEARTH_TESTS=full selected 'ClassifierProxyTests|NomClassifierTests|ClassifierTests'
