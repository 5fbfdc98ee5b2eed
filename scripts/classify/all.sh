#!/usr/bin/env bash
# all.sh HEARTH: the program with the classifier of the tree, on pictures of fonts that it was never trained on. A stage of `make verify`.
#   scripts/classify/all.sh .build/release/hearth              everything
#   scripts/classify/all.sh .build/release/hearth equal speed  these: installed, equal, pages, large, kills, escalation, speed
# Figures count on a machine that does nothing else.
. "$(dirname "$0")/../stages.sh"
hearth="$(realpath "${1:-.build/release/hearth}")"
[ $# = 0 ] || shift
steps=("$@")
[ ${#steps[@]} -gt 0 ] || steps=(installed equal pages large kills escalation speed)
model=models/hearth-hanzi/model.onnx
work="$(realpath "$(mktemp -d)")"
trap 'rm -rf "$work"' EXIT
export PYTHONDONTWRITEBYTECODE=1

packages="$(python_packages onnxruntime bench/onnxruntime)"
judge() { PYTHONPATH="$packages" python3 "$@"; }
draw() { scripts/classify/run.sh scripts/classify/pictures.py "$@"; }

draw cells "$work/cells" --kind degraded --count 1000
draw pages "$work/columns" --count 5
draw pages "$work/rows" --count 3 --direction rows --seed 3

# An installed program loads the libraries that were installed with it.
step_installed() {
    HEARTH_PROGRAM="$hearth" scripts/install.sh "$work/prefix" && mkdir -p "$work/elsewhere" && ln -s "$work/prefix/bin/hearth" "$work/elsewhere/hearth" \
        && HEARTH_HOME="$work/home" LD_DEBUG=files "$work/elsewhere/hearth" classify --model "$model" models/hearth-hanzi/canary.png \
            > "$work/installed" 2> "$work/loaded" && cat "$work/installed" \
        && grep -q "init: $work/prefix/lib/hearth/libopenvino_c" "$work/loaded" && grep -q "init: $work/prefix/lib/hearth/libhearth-pictures" "$work/loaded"
}
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
    bench="${HEARTH_PICTURE_BENCH:-$(scripts/bench/build.sh HearthPictureBench)}" \
        && judge scripts/classify/speed.py "$hearth" "$bench" "$model" "$work/cells" "$work/columns/page-1.png"
}

failed=()
for step in "${steps[@]}"; do
    echo "== $step"
    "step_$step" || failed+=("$step")
done
[ ${#failed[@]} = 0 ] || { echo "classify: failed: ${failed[*]}" >&2; exit 1; }
