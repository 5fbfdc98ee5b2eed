#!/usr/bin/env bash
# equal.sh: compares `hearth classify` with onnxruntime on random networks and pictures: classes and probabilities.
# A stage of `make verify`.
set -euo pipefail
cd "$(dirname "$0")/../.."
. scripts/env.sh
packages="$HEARTH_CACHE/bench/onnxruntime-$(sha256sum scripts/requirements/onnxruntime.txt | cut -c1-12)"
if [ ! -d "$packages" ]; then
    rm -rf "$packages.tmp"
    PIP_ROOT_USER_ACTION=ignore python3 -m pip install -q --disable-pip-version-check --no-deps --require-hashes \
        --only-binary :all: --target "$packages.tmp" -r scripts/requirements/onnxruntime.txt
    mv "$packages.tmp" "$packages"
fi
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$packages" python3 scripts/classify/equal.py "${1:-.build/release/hearth}" "${2:-1000}"
