# The tests under a sanitizer. Sourced by the two stages, after stages.sh.
# llama.cpp is as it is: what ggml does among its own threads and with its own memory is not looked at; what ours do, and what they
# hand over and get back, is. What is left out has time limits that a sanitizer's tenfold slowness does not keep, ends by the
# sanitizer's own hand instead of its signal, measures resident memory, of which a sanitizer keeps what was freed for a while, or
# asks for more than there is, which a sanitizer takes for a fault.
sanitized() { # thread or address, and ASAN_OPTIONS for the engine's tests
    local options=("${flags[@]}" --sanitize="$1" --scratch-path ".build-$1" --no-color-diagnostics)
    swift build "${options[@]}" --build-tests
    local tests; tests="$(swift build "${options[@]}" --show-bin-path)/hearthPackageTests.xctest"
    ASAN_OPTIONS="${2:-}" few HearthLlamaTests --skip isDoneManyTimesWithoutALeak --skip refusesMoreThanThereIs
    # In parts, as in `make test`: with all of them at once, many wait longer than their limits for a thread.
    # A sanitizer ends a process that loads a library as TBB does, which comes with OpenVINO and OpenCV: no classification.
    local skip=(--skip Classif --skip EndToEndTests --skip blockedBodiesStallNoTask --skip twoInstallersOfOneReleaseEndWell
        --skip aConsumerWhoTakesHisTimeIsNotSilence --skip holesStayHolesAndNothingElse --skip manyReleasesAreListedQuickly
        --skip CrashedTerminalTests --skip aFatalSignalGivesTheTerminalBack --skip memoryIsFlatOverManyTurns
        --skip requestsAreAnsweredWhileVersionsSwap
        --skip ConfinementTests --skip reportsHowItEnded --skip limitsItsCoreItsMemoryAndItsPrivileges)
    local apart='HearthAssistantTests|HearthDatabaseTests|HearthServerTests|HearthHTTPTests|BlockingTests'
    few "$apart" "${skip[@]}"
    few HearthCommandTests --skip BlockingTests "${skip[@]}"
    few . --skip "HearthLlamaTests|HearthCommandTests|$apart" "${skip[@]}"
}
few() { # the choice of tests, of `tests`, and further arguments
    local filter=$1; shift
    env -u SWIFT_DETERMINISTIC_HASHING "$tests" --testing-library swift-testing --experimental-maximum-parallelization-width 6 \
        --filter "$filter" "$@"
}
