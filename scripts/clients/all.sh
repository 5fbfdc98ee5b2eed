#!/usr/bin/env bash
# The clients and judges of the API against `hearth serve` with the default model: scripts/clients/all.sh HEARTH [run|llama|comply]…
# Starts servers of its own. llama.cpp's tests want 2 slots of 256 tokens and any name; the others the usual settings.
set -euo pipefail
cd "$(dirname "$0")/../.."
. scripts/env.sh
hearth="$(realpath "${1:?the hearth program}")"
shift
if [ $# = 0 ]; then set -- run llama comply; fi

work="$(mktemp -d)"
server=""
finish() {
    if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; fi
    server=""
}
trap 'finish; rm -rf "$work"' EXIT

# serve NAME [KEY VALUE]…: a server of the default model under a name; with HEARTH_SEES it has a projector of random weights.
serve() {
    finish
    export HEARTH_HOME="$work/$1"
    if [ -n "${HEARTH_SEES:-}" ]; then
        "$hearth" publish "$default_model" --family "$1" --version 1.0.0 --variant q4_1 --unsigned \
            --with "projector=$tiny_models/projector.gguf" --to "$work/origin" > /dev/null
        "$hearth" config set origins.main "$work/origin/models.json"
        "$hearth" pull "$1" --no-probe --quiet
    else
        cp "$default_model" "$work/$1-v1.0.0-q4_1.gguf"
        "$hearth" pull "$work/$1-v1.0.0-q4_1.gguf" --no-probe --quiet
    fi
    export HEARTH_MODEL="$1"
    shift
    while [ $# -gt 0 ]; do "$hearth" config set "$1" "$2"; shift 2; done
    : > "$work/address"
    "$hearth" serve --port 0 > "$work/address" 2> "$work/log" &
    server=$!
    for _ in $(seq 200); do
        if [ -s "$work/address" ]; then break; fi
        sleep 0.1
    done
    export HEARTH_URL; HEARTH_URL="$(head -1 "$work/address")"
    export HEARTH_PORT="${HEARTH_URL##*:}"
    [ -n "$HEARTH_PORT" ] || { cat "$work/log" >&2; exit 1; }
}

failed=0
for judge in "$@"; do
    case "$judge" in
    run) serve smollm2-135m-instruct; scripts/clients/run.sh || failed=1 ;;
    llama)
        # With flash attention, as llama-server computes, a kept prompt gives the logits of one that is read anew.
        serve tinyllama-2 serve.slots 2 serve.cells 512 contextLength 256 maximumNewTokens 64 serve.seed 42 \
            temperature 0.8 serve.anyModel true flashAttention on
        scripts/clients/judges.sh llama || failed=1
        ;;
    comply)
        # A name by which the judge asks for thinking too, and greedy answers, which end.
        HEARTH_SEES=1 serve smollm2 maximumNewTokens 512 temperature 0 aliases.claude-3-5-gpt-5 smollm2
        HEARTH_MODEL=claude-3-5-gpt-5 scripts/clients/judges.sh comply || failed=1
        ;;
    *) echo "there is no judge '$judge'" >&2; exit 64 ;;
    esac
done
exit $failed
