#!/usr/bin/env bash
# make docs: the reference of every public library into .build/docs; a warning fails it.
set -euo pipefail
cd "$(dirname "$0")/../.."
. scripts/env.sh
modules=(HearthBase HearthHTTP HearthDelivery HearthInference HearthLlama Hearth HearthPublishing HearthServer)
scratch="$PWD/.build/docs-build"
graphs="$scratch/graphs"
mkdir -p "$graphs"
rm -rf .build/docs && mkdir -p .build/docs

# The compiler writes the symbol graphs while it builds. (`swift package dump-symbol-graph` stumbles over the module
# SwiftPM makes up for the test products.)
failed=0
for module in "${modules[@]}"; do
    swift build -q --scratch-path "$scratch" --pkg-config-path "$llama_prefix/lib/pkgconfig" --target "$module" \
        -Xswiftc -emit-symbol-graph -Xswiftc -emit-symbol-graph-dir -Xswiftc "$graphs" \
        -Xswiftc -symbol-graph-skip-synthesized-members
    rm -rf "$graphs/$module" && mkdir "$graphs/$module"
    find "$graphs" -maxdepth 1 -name "$module.symbols.json" -o -maxdepth 1 -name "$module@*.symbols.json" \
        | xargs -I{} cp {} "$graphs/$module/"
    catalog=(); [ ! -d "Sources/$module/$module.docc" ] || catalog=("Sources/$module/$module.docc")
    docc convert "${catalog[@]}" --additional-symbol-graph-dir "$graphs/$module" \
        --fallback-display-name "$module" --fallback-bundle-identifier "hearth.$module" \
        --output-path ".build/docs/$module" --transform-for-static-hosting --hosting-base-path "$module" \
        --warnings-as-errors >"$scratch/$module.log" || { failed=1; cat "$scratch/$module.log"; continue; }
    echo "docs: .build/docs/$module ($(find ".build/docs/$module" -name index.html | wc -l) pages)"
done
exit $failed
