#!/usr/bin/env bash
# The public API of each library module, as text in docs/api, out of the modules of the last `swift build`.
#   scripts/api.sh            writes docs/api/MODULE.txt and prints the number of public types of each module
#   scripts/api.sh --check    fails if a file there differs from the built module
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/env.sh
built="$(realpath .build/debug)"
graphs="$built/api"
modules="HearthBase HearthHTTP HearthCatalog HearthTransfer HearthStore HearthDelivery HearthPublishing HearthInference HearthLlama
 HearthRouting HearthDatabase HearthAssistant HearthClassification Hearth HearthServer"
target="$(swiftc -print-target-info | sed -n 's/.*"unversionedTriple": "\(.*\)".*/\1/p')"

# The C modules that the public modules import.
includes=()
for map in Sources/C*/module.modulemap "$built"/C*.build/module.modulemap; do
    [ ! -f "$map" ] || includes+=(-Xcc "-fmodule-map-file=$(realpath "$map")")
done
for flag in $(PKG_CONFIG_PATH="$llama_prefix/lib/pkgconfig" pkg-config --cflags-only-I gio-2.0 libarchive libcurl libedit libmicrohttpd libxml-2.0 llama); do
    includes+=(-Xcc "$flag")
done

# A graph stays as long as its module: a module is built again when a module that it imports changes.
changed=()
for module in $modules; do
    [ "$graphs/$module.symbols.json" -nt "$built/Modules/$module.swiftmodule" ] || changed+=("$module")
done
if [ ${#changed[@]} != 0 ]; then
    rm -rf "$graphs/new" && mkdir -p "$graphs/new"
    printf '%s\n' "${changed[@]}" | xargs -P "$(getconf _NPROCESSORS_ONLN)" -I{} swift-symbolgraph-extract -module-name {} -I "$built/Modules" \
        -target "$target" -minimum-access-level public -skip-synthesized-members -skip-inherited-docs -output-dir "$graphs/new" "${includes[@]}"
    for module in "${changed[@]}"; do rm -f "$graphs/$module.symbols.json" "$graphs/$module"@*.symbols.json; done
    mv "$graphs/new"/* "$graphs/" && rmdir "$graphs/new"
fi
# shellcheck disable=SC2086
scripts/api.py "$graphs" docs/api "${1:-}" $modules
