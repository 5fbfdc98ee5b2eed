#!/usr/bin/env bash
# The stage `publish` of scripts/verify.sh:
#   scripts/publish/run.sh BINARY
# PUBLISH_KILLS is the number of kills on each server (200). HEARTH_SIGV4_VECTORS names the folder of AWS's examples of Signature
# Version 4, if they are there.
. "$(dirname "$0")/../stages.sh"
binary=$1
packages="$(python_packages s3 s3 -$(python_version))"
export PYTHONPATH="$packages" PYTHONDONTWRITEBYTECODE=1 NO_PROXY='*'
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
swift build "${flags[@]}" --build-tests
seed="${PUBLISH_SEED:-$RANDOM}"
echo "seed $seed"
python3 scripts/publish/sigv4.py 500 "$seed" "$work/sigv4.json"
HEARTH_SIGV4="$work/sigv4.json" env -u SWIFT_DETERMINISTIC_HASHING swift test "${flags[@]}" --skip-build \
    --filter 'SigV4Tests|SigV4VectorTests'
PATH="$packages/bin:$PATH" python3 scripts/publish/kills.py "$binary" --kills "${PUBLISH_KILLS:-200}" --model "$default_model"
