#!/usr/bin/env bash
# Builds and runs the sample app in Tests/Consumer, which takes HearthDelivery and none of the traits: it must build
# where neither llama.cpp nor libmicrohttpd can be found, and know nothing of either.
set -euo pipefail
cd "$(dirname "$0")/.."
scratch="$PWD/.build/consumer"

swift build --package-path Tests/Consumer --scratch-path "$scratch" -q
binary="$(swift build --package-path Tests/Consumer --scratch-path "$scratch" --show-bin-path)/Consumer"
found="$("$binary" Tests/Consumer/models.json)"
expected="lupus-diary@1.1.0:q4_k_m 1800000000 bytes"
if [ "$found" != "$expected" ]; then
    printf 'the sample app printed\n%s\nand should have printed\n%s\n' "$found" "$expected" >&2
    exit 1
fi
for library in llama microhttpd; do
    if ldd "$binary" | grep -q "$library" || nm "$binary" 2>/dev/null | grep -qi " ${library}_"; then
        echo "the sample app is linked with $library, which it does not use" >&2
        exit 1
    fi
done
echo "sample app: $found"
