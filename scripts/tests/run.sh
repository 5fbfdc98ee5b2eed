#!/usr/bin/env bash
# make test: the Swift tests, the package without its heavy traits, and an app that uses the delivery half alone.
set -euo pipefail
cd "$(dirname "$0")/../.."
. scripts/env.sh
flags=(--pkg-config-path "$llama_prefix/lib/pkgconfig")
step() { printf '\n== %s (%d s so far)\n' "$*" "$SECONDS" >&2; }

# Each configuration of traits has a scratch folder of its own, or they would rebuild each other for ever. With nothing to
# build, SwiftPM's planning keeps one core busy: two at a time.
builds_log=.build/test-builds.log
mkdir -p .build
{
    step "without traits: an app that uses HearthDelivery alone, then the command"
    scripts/consumer/run.sh
} > "$builds_log" 2>&1 & builds=$!
trap 'kill $builds 2>/dev/null || true' EXIT
ended() { # a job of this script and its log
    local status=0; wait "$1" || status=$?
    trap - EXIT
    cat "$2"
    [ "$status" = 0 ] || exit "$status"
}
step "the tests"
swift build "${flags[@]}" --build-tests
scripts/tests/api.py --check
step "the views, as trees"
scripts/apple/views.py
step "the examples of the documents, and the sample apps"
scripts/documents/swift.py
scripts/consumer/apps.py
tests="$(swift build "${flags[@]}" --show-bin-path)/hearthPackageTests.xctest"
ended "$builds" "$builds_log"
# The builds want a fixed order of hashed things (scripts/env.sh); the tests do not.
# Output must not be held back, or it is missing if the run is cut off.
line_by_line=(); if command -v stdbuf >/dev/null; then line_by_line=(stdbuf -oL); fi
# Tests share the few threads of the pool: those that keep times of their own run apart from those that compute a lot.
run_tests() { # the name of the run, its minutes, and the choice of tests
    local events=".build/test-events-$1.jsonl" minutes=$2; shift 2
    scripts/tests/bounded.sh "$minutes" --events "$events" env -u SWIFT_DETERMINISTIC_HASHING "${line_by_line[@]}" \
        "$tests" --testing-library swift-testing --event-stream-output-path "$events" --event-stream-version 0 \
        --experimental-maximum-parallelization-width 6 "$@"
}
programs() { # those that no test in Swift runs
    step "walks through the page, the fastest of them"
    HEARTH_BINARY=.build/debug/hearth scripts/walks/run.sh quick
    step "calendars and contacts of other programs"
    scripts/stores/imported.sh
    step "the network monitor and a stand-in for NetworkManager"
    scripts/network/run.sh
    step "the licenses of what the program contains"
    HEARTH_LLAMA_SOURCE="$llama_source" HEARTH_WEB_LICENSES="$llama_prefix/include/hearth-web/licenses" scripts/tests/licenses.py --check .build/debug/hearth
}
if [ $# != 0 ]; then
    run_tests chosen 12 "$@"
    programs
else
    # The engine's tests run one after the other on one core, then other programs, beside all others.
    beside_log=.build/test-beside.log
    { run_tests engine 14 --filter HearthLlamaTests; programs; } > "$beside_log" 2>&1 & beside=$!
    trap 'kill $beside 2>/dev/null || true' EXIT
    apart='HearthAssistantTests|HearthDatabaseTests|HearthServerTests|HearthHTTPTests|BlockingTests'
    run_tests rest 8 --skip "HearthLlamaTests|HearthCommandTests|$apart"
    run_tests command 8 --filter HearthCommandTests --skip BlockingTests
    run_tests apart 6 --filter "$apart"
    step "the engine's tests and other programs, which ran beside the others"
    ended "$beside" "$beside_log"
fi
step "done"
