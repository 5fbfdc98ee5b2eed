#!/usr/bin/env bash
# Runs one of the classifier's programs with the Python packages and fonts it needs; fetches into the cache what is missing.
#   scripts/classify/run.sh scripts/classify/pictures.py cells FOLDER    test pictures: Pillow and the fonts for tests
#   scripts/classify/run.sh scripts/train-classifier/train.py --into FOLDER    training: also torch, onnx and all fonts
# The fonts are unpacked from Debian's packages and are not installed.
set -euo pipefail
program="${1:?the program}"; shift
tree="$(cd "$(dirname "$0")/../.." && pwd)"
. "$tree/scripts/env.sh"
say() { printf 'classify: %s\n' "$*" >&2; }

kind="$(python3 -c 'import sys, platform; print(sys.version_info.minor, platform.machine(), sep="-")')"
mkdir -p "$HEARTH_CACHE/classify"
exec 9>"$HEARTH_CACHE/classify/lock"
flock 9   # two programs must not unpack into each other

# The Python packages of a list, in a folder named after its contents.
folder_of() { echo "$HEARTH_CACHE/classify/$1-$kind-$(sha256sum "$tree/scripts/requirements/$1.txt" | cut -c1-8)"; }
install() {
    local folder; folder="$(folder_of "$1")"
    [ ! -d "$folder" ] || return 0
    say "fetching the packages of scripts/requirements/$1.txt"
    rm -rf "$folder.tmp"
    PIP_ROOT_USER_ACTION=ignore python3 -m pip install -q --disable-pip-version-check --no-deps --require-hashes \
        --only-binary :all: --target "$folder.tmp" -r "$tree/scripts/requirements/$1.txt"
    mv "$folder.tmp" "$folder"
}

# apt checks what it downloads against the signed lists of the distribution.
fonts="$HEARTH_CACHE/classify/fonts"
as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }
download() { apt-get download -q "$1" >/dev/null 2>log; }
unpack() {
    local package="$1"
    [ ! -d "$fonts/$package" ] || return 0
    command -v apt-get >/dev/null || { say "the fonts come from Debian's packages, and this system has no apt-get"; exit 1; }
    say "fetching $package"
    rm -rf "$fonts/tmp" && mkdir -p "$fonts/tmp/files"
    # The lists may be older than the newest version of the package.
    (cd "$fonts/tmp" && download "$package" || { as_root apt-get update -qq && download "$package"; }) \
        || { cat "$fonts/tmp/log" >&2; exit 1; }
    dpkg-deb -x "$fonts/tmp"/*.deb "$fonts/tmp/files"
    dpkg-deb -f "$fonts/tmp"/*.deb Version > "$fonts/tmp/files/version"
    mv "$fonts/tmp/files" "$fonts/$package"
    rm -rf "$fonts/tmp"
}

use=test
install pictures
path="$(folder_of pictures)"
if [ "$(basename "$program")" = train.py ]; then
    use=all
    install train
    path="$path:$(folder_of train)"
fi
for package in $(python3 "$tree/scripts/classify/faces.py" "$use"); do unpack "$package"; done
exec 9>&-

export HEARTH_FONTS="$fonts" PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$path:$tree/scripts/classify"
exec python3 "$program" "$@"
