#!/usr/bin/env bash
# The engine's tests with all of their rounds, and those of the program with the default model; `make test` takes a share of them.
. "$(dirname "$0")/../stages.sh"
build_tests
HEARTH_TESTS=full selected 'HearthLlamaTests'
HEARTH_TESTS=full selected 'EndToEndTests|StoppedChatTests|QuantizingTests|ModelOfferTests|LibraryScreenTests'
