#!/usr/bin/env bash
# make test: the Swift tests, the package without its heavy traits, and an app that uses the delivery half alone.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/env.sh
flags=(--pkg-config-path "$llama_prefix/lib/pkgconfig")
step() { printf '\n== %s (%d s so far)\n' "$*" "$SECONDS" >&2; }

# Debug builds of one package share their scratch folder; each configuration of traits has one of its own, or they
# would rebuild each other for ever.
step "an app that uses HearthDelivery alone"
scripts/test-consumer.sh
step "the package without its default traits"
swift build --disable-default-traits --scratch-path .build/no-traits
step "the tests"
swift build "${flags[@]}" --build-tests
scripts/api.sh --check
# The builds want a fixed order of hashed things (scripts/env.sh); the tests do not.
# Whatever SwiftPM holds back of the output is missing if the run is cut off: it is told to pass on every line.
line_by_line=(); if command -v stdbuf >/dev/null; then line_by_line=(stdbuf -oL); fi
# Tests of the server keep times of their own and need the pool of threads for themselves; those of the assistant compute a lot.
run_tests() { # the name of the run, its minutes, and the choice of tests
    local events=".build/test-events-$1.jsonl" minutes=$2; shift 2
    scripts/bounded.sh "$minutes" --events "$events" env -u SWIFT_DETERMINISTIC_HASHING "${line_by_line[@]}" \
        swift test "${flags[@]}" --skip-build --event-stream-output-path "$events" "$@"
}
if [ $# != 0 ]; then
    run_tests chosen 12 "$@"
else
    run_tests rest 12 --skip 'HearthAssistantTests|HearthDatabaseTests|HearthServerTests|HearthHTTPTests|ServeTests|BlockingTests'
    run_tests assistant 6 --filter 'HearthAssistantTests|HearthDatabaseTests'
    run_tests server 6 --filter 'HearthServerTests|HearthHTTPTests|ServeTests|BlockingTests'
fi
step "the network monitor and a stand-in for NetworkManager"
scripts/network.sh
step "the licences of what the program contains"
HEARTH_LLAMA_SOURCE="$llama_source" scripts/licenses.py --check .build/debug/hearth
step "done"
