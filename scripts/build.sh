#!/usr/bin/env bash
# make build: set-up and the program. The first time, llama.cpp is built beside the Swift code, which wants its library at the link only.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/env.sh
say() { printf 'build: %s\n' "$*" >&2; }
# The standard library goes in, so that the binary runs anywhere, in any environment.
# Colours are a flag of the compiler, so a build at a terminal and one into a log would each undo the other.
# Nothing loads the program as a library: without a table of its symbols for others it is 2 MB smaller.
options=(--pkg-config-path "$llama_prefix/lib/pkgconfig" -c release --static-swift-stdlib --no-color-diagnostics -Xlinker --no-export-dynamic)
# Two remarks about flags of libraries' pkg-config files are noise; what else the compiler says is shown if it fails.
log=.build/build.log
compile() {
    mkdir -p .build
    "${SWIFT:-swift}" build "${options[@]}" "$@" > "$log" 2>&1 || { grep -v 'prohibited flag' "$log" >&2; exit 1; }
}

if [ ! -f "$llama_prefix/lib/libhearth-llama.a" ]; then
    scripts/setup.sh headers
    begin=$SECONDS
    say "compiling Hearth's Swift code (about 5 minutes on two cores, once)"
    scripts/setup.sh & beside=$!
    trap 'kill $beside 2>/dev/null || true' EXIT
    compile --target HearthCommand
    say "compiled ($((SECONDS - begin)) s)"
    trap - EXIT
    wait $beside
else
    scripts/setup.sh
fi
begin=$SECONDS
[ -x .build/release/hearth ] || say "building .build/release/hearth"
compile --product hearth
[ $((SECONDS - begin)) -lt 5 ] || say "built .build/release/hearth ($((SECONDS - begin)) s)"
