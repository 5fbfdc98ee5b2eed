#!/usr/bin/env bash
# Compares the names of scripts/apple/stubs with those that PyObjC knows: scripts/apple/names.py. Fetches what is missing.
. "$(dirname "$0")/../stages.sh"
folder="$HEARTH_CACHE/pyobjc-$(sha256sum scripts/requirements/pyobjc.txt | cut -c1-12)"
if [ ! -d "$folder" ]; then
    rm -rf "$folder.tmp" && mkdir -p "$folder.tmp"
    # The packages are built for a Mac alone. Their descriptions of frameworks are Python, which is read and not run.
    python3 -m pip download -q --disable-pip-version-check --no-deps --require-hashes --only-binary :all: \
        --platform macosx_11_0_universal2 --python-version 313 --implementation cp \
        -d "$folder.tmp" -r scripts/requirements/pyobjc.txt >&2
    for wheel in "$folder.tmp"/*.whl; do unzip -qo "$wheel" '*/_metadata.py' -d "$folder.tmp" && rm "$wheel"; done
    mv "$folder.tmp" "$folder"
fi
scripts/apple/names.py "$folder" "$@"
