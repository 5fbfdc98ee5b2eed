#!/usr/bin/env bash
# The stage `publish` of scripts/verify.sh:
#   scripts/publish/run.sh BINARY
# PUBLISH_KILLS is the number of kills on each server (200). HEARTH_SIGV4_VECTORS names the folder of AWS's examples of Signature
# Version 4, if they are there.
set -euo pipefail
cd "$(dirname "$0")/../.."
. scripts/env.sh
flags=(--pkg-config-path "$llama_prefix/lib/pkgconfig")
binary=$1
packages="$HEARTH_CACHE/s3-$(sha256sum scripts/requirements/s3.txt | cut -c1-12)-$(python3 -c 'import sys; print(sys.version_info.minor)')"
if [ ! -d "$packages" ]; then
    rm -rf "$packages.tmp"
    PIP_ROOT_USER_ACTION=ignore python3 -m pip install -q --disable-pip-version-check --no-deps --require-hashes \
        --only-binary :all: --target "$packages.tmp" -r scripts/requirements/s3.txt
    mv "$packages.tmp" "$packages"
fi
export PYTHONPATH="$packages" PYTHONDONTWRITEBYTECODE=1 NO_PROXY='*'
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
swift build "${flags[@]}" --build-tests
seed="${PUBLISH_SEED:-$RANDOM}"
echo "seed $seed"
python3 scripts/publish/sigv4.py 500 "$seed" "$work/sigv4.json"
HEARTH_SIGV4="$work/sigv4.json" env -u SWIFT_DETERMINISTIC_HASHING swift test "${flags[@]}" --skip-build \
    --filter 'SigV4Tests|SigV4VectorTests'
PATH="$packages/bin:$PATH" python3 scripts/publish.py "$binary" --kills "${PUBLISH_KILLS:-200}" --model "$default_model"
