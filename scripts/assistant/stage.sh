#!/usr/bin/env bash
# The assistant's tests with all of their rounds; the default model writes two hundred blocks.
. "$(dirname "$0")/../stages.sh"
build_tests
# One measures the memory of the process, and one times of an optimised build (stage records).
HEARTH_TESTS=full selected 'HearthAssistantTests|MarkdownStreamTests|HostileMarkdownTests' \
    --skip 'RealAssistantTests|ManyTurnsTests|ConversationMeasurements'
HEARTH_TESTS=full selected ManyTurnsTests
# Optimised, as in a release: what is measured is the price of the grammar.
optimised RealAssistantTests
if [ -n "${HEARTH_COMMONMARK:-}" ]; then selected CommonMarkTests; fi
build_program
scripts/assistant/run.sh
