#!/usr/bin/env bash
# make install: the program, its symbols in bin/.debug, where debuggers look, its manual pages and completions, and in lib/hearth the
# libraries of its classifiers, which it loads at the first classification.
# DESTDIR is honoured, for those who make packages; HEARTH_PROGRAM names another program than the built one.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/env.sh
target="${DESTDIR:-}$1/bin"
program="${HEARTH_PROGRAM:-.build/release/hearth}"
mkdir -p "$target/.debug"
objcopy --only-keep-debug "$program" "$target/.debug/hearth.debug"
chmod 644 "$target/.debug/hearth.debug"
# A program that runs is replaced, not written into.
objcopy --strip-all --add-gnu-debuglink="$target/.debug/hearth.debug" "$program" "$target/hearth.tmp"
chmod 755 "$target/hearth.tmp"
mv -f "$target/hearth.tmp" "$target/hearth"
echo "installed $target/hearth, $(du -h --apparent-size "$target/hearth" | cut -f1); symbols for debuggers are in $target/.debug"
# The program writes its own pages and scripts.
share="${DESTDIR:-}$1/share"
mkdir -p "$share"/bash-completion/completions "$share"/zsh/site-functions "$share"/fish/vendor_completions.d
"$target/hearth" help --man "$share/man/man1"
"$target/hearth" completions bash > "$share/bash-completion/completions/hearth"
"$target/hearth" completions zsh > "$share/zsh/site-functions/_hearth"
"$target/hearth" completions fish > "$share/fish/vendor_completions.d/hearth.fish"
chmod 644 "$share"/man/man1/hearth*.1
echo "installed $share: manual pages and completions of bash, zsh and fish"
# Without them a program would find those of set-up in the cache of the one who built it, or none.
if [ -f "$vision/lib/libhearth-pictures.so" ]; then
    libraries="${DESTDIR:-}$1/lib/hearth"
    mkdir -p "$libraries/licenses"
    # No program uses those of an earlier version.
    rm -f "$libraries"/lib*.so* "$libraries"/licenses/*
    install -m 644 "$vision"/lib/lib*.so* "$libraries/"
    install -m 644 "$vision"/licenses/* "$libraries/licenses/"
    echo "installed $libraries: OpenVINO and the library of pictures, $(du -sh "$libraries" | cut -f1)"
fi
case ":$PATH:" in *":$1/bin:"*) ;; *) echo "note: $1/bin is not on the PATH" ;; esac
