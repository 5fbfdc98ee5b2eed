#!/usr/bin/env bash
# Versions of a model that change places under load, in a process of their own, whose memory is measured.
. "$(dirname "$0")/../stages.sh"
build_tests
# In one arena of the C library: each further one keeps the freed end of its heap, which would count as used.
MALLOC_ARENA_MAX=1 HEARTH_TESTS=full selected 'HotSwapTests|EnginePoolTests'
