#!/usr/bin/env bash
# make install: the program, and in lib/hearth the libraries of its classifiers, which it loads at the first classification.
# DESTDIR is honoured, for those who make packages; HEARTH_PROGRAM names another program than the built one.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/env.sh
target="${DESTDIR:-}$1/bin"
mkdir -p "$target"
install -m 755 "${HEARTH_PROGRAM:-.build/release/hearth}" "$target/hearth"
echo "installed $target/hearth"
# Without them a program would find those of set-up in the cache of the one who built it, or none.
if [ -f "$vision/lib/libhearth-pictures.so" ]; then
    libraries="${DESTDIR:-}$1/lib/hearth"
    mkdir -p "$libraries/licenses"
    # No program uses those of a version before.
    rm -f "$libraries"/lib*.so* "$libraries"/licenses/*
    install -m 644 "$vision"/lib/lib*.so* "$libraries/"
    install -m 644 "$vision"/licenses/* "$libraries/licenses/"
    echo "installed $libraries: OpenVINO and the library of pictures, $(du -sh "$libraries" | cut -f1)"
fi
case ":$PATH:" in *":$1/bin:"*) ;; *) echo "note: $1/bin is not on the PATH" ;; esac
