#!/usr/bin/env bash
# all.sh HEARTH: the program with the classifier of the tree, on pictures of fonts that it was never trained on. A stage of `make verify`.
#   scripts/classify/all.sh .build/release/hearth              everything
#   scripts/classify/all.sh .build/release/hearth equal speed  these: equal, pages, large, kills, escalation, speed
# Figures count on a machine that does nothing else.
set -euo pipefail
cd "$(dirname "$0")/../.."
. scripts/env.sh
hearth="$(realpath "${1:-.build/release/hearth}")"
[ $# = 0 ] || shift
steps=("$@")
[ ${#steps[@]} -gt 0 ] || steps=(equal pages large kills escalation speed)
model=models/hearth-hanzi/model.onnx
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
export PYTHONDONTWRITEBYTECODE=1

packages="$HEARTH_CACHE/bench/onnxruntime-$(sha256sum scripts/requirements/onnxruntime.txt | cut -c1-12)"
if [ ! -d "$packages" ]; then
    rm -rf "$packages.tmp"
    PIP_ROOT_USER_ACTION=ignore python3 -m pip install -q --disable-pip-version-check --no-deps --require-hashes \
        --only-binary :all: --target "$packages.tmp" -r scripts/requirements/onnxruntime.txt
    mv "$packages.tmp" "$packages"
fi
judge() { PYTHONPATH="$packages" python3 "$@"; }
draw() { scripts/classify/run.sh scripts/classify/pictures.py "$@"; }

draw cells "$work/cells" --kind degraded --count 1000
draw pages "$work/columns" --count 5
draw pages "$work/rows" --count 3 --direction rows --seed 3

step_equal() { judge scripts/classify/equal.py "$hearth" 1000 "$model" "$work/cells"; }
# 200 characters a page, 3 degrees, noise and uneven light: at least 95 % right and in their order.
step_pages() {
    python3 scripts/classify/score.py "$hearth" "$model" "$work/columns" \
        && python3 scripts/classify/score.py "$hearth" "$model" "$work/rows"
}
step_large() { judge scripts/classify/large.py "$hearth" "$model" "$work/columns/page-1.png" "$work/columns/page-1.txt"; }
step_kills() { python3 scripts/classify/kills.py "$hearth" models/hearth-hanzi; }
step_escalation() { judge scripts/classify/escalation.py "$hearth" "$model" "$work/columns/page-1.png"; }
step_speed() {
    HEARTH_BENCH=1 swift build -c release --pkg-config-path "$llama_prefix/lib/pkgconfig" --static-swift-stdlib \
        --no-color-diagnostics --product HearthPictureBench \
        && judge scripts/classify/speed.py "$hearth" "${HEARTH_PICTURE_BENCH:-.build/release/HearthPictureBench}" "$model" "$work/cells" "$work/columns/page-1.png"
}

failed=()
for step in "${steps[@]}"; do
    echo "== $step"
    "step_$step" || failed+=("$step")
done
[ ${#failed[@]} = 0 ] || { echo "classify: failed: ${failed[*]}" >&2; exit 1; }
