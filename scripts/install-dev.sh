#!/usr/bin/env bash
# install-dev.sh PREFIX: llama.cpp for Swift packages that depend on Hearth by URL: the static library, the headers and llama.pc;
# and the libraries of classifiers.
# DESTDIR is honoured, for packagers.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/env.sh
prefix="${1:?usage: scripts/install-dev.sh PREFIX}"
case $prefix in /*) ;; *) prefix="$PWD/$prefix" ;; esac
target="${DESTDIR:-}$prefix"
mark="as one static archive"   # of the description in our llama.pc

pc="$target/lib/pkgconfig/llama.pc"
if [ -f "$pc" ] && ! grep -q "$mark" "$pc"; then
    echo "install-dev: $pc belongs to another llama.cpp; choose another PREFIX" >&2
    exit 1
fi
# A folder of their own: the headers of another llama.cpp or ggml in PREFIX/include stay as they are.
headers="$target/include/hearth-llama"
mkdir -p "$target/lib/pkgconfig" "$target/include"
rm -rf "$headers" && cp -R "$llama_prefix/include" "$headers"
install -m 644 "$llama_prefix/lib/libhearth-llama.a" "$target/lib/"
sed 's|^includedir=.*|includedir=${prefix}/include/hearth-llama|' "$llama_prefix/lib/pkgconfig/llama.pc" > "$pc"

if [ -f "$vision/lib/libhearth-pictures.so" ]; then
    folder="$prefix/lib/hearth-vision"
    rm -rf "$target/lib/hearth-vision" && mkdir -p "$target/lib/hearth-vision" "$target/include/hearth-vision"
    cp -R "$vision/lib" "$vision/include" "$vision/licenses" "$target/lib/hearth-vision/"
    sed "s|$vision/|$folder/|" "$llama_prefix/include/hearth-vision/hearth-vision.h" > "$target/include/hearth-vision/hearth-vision.h"
    sed "s|$vision/|$folder/|" "$llama_prefix/lib/pkgconfig/hearth-vision.pc" > "$target/lib/pkgconfig/hearth-vision.pc"
fi

echo "installed llama.cpp for Swift packages into $target"
if [ -n "$(env -u PKG_CONFIG_PATH pkg-config --cflags llama 2>/dev/null | grep -F "$prefix/" || true)" ]; then
    echo "pkg-config finds it without further settings"
else
    echo "build with: PKG_CONFIG_PATH=$prefix/lib/pkgconfig swift build"
fi
