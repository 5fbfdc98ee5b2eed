#!/usr/bin/env bash
# make install: the one file there is. DESTDIR is honoured, for those who make packages.
set -euo pipefail
cd "$(dirname "$0")/.."
target="${DESTDIR:-}$1/bin"
mkdir -p "$target"
install -m 755 .build/release/hearth "$target/hearth"
echo "installed $target/hearth"
case ":$PATH:" in *":$1/bin:"*) ;; *) echo "note: $1/bin is not on the PATH" ;; esac
