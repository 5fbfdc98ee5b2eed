#!/usr/bin/env bash
# Other people's judges of the API against a running server:
#   HEARTH_PORT=8080 HEARTH_MODEL=tinyllama-2 scripts/clients/judges.sh [llama|comply]…
# llama: llama.cpp's own server tests, of the source that set-up unpacked. llama-server-tests.txt lists those that llama-server
#   passes with the default model; each of them has to pass. The server has 2 slots of 256 tokens, answers of at most 64, the seed
#   42, the temperature 0.8, the alias tinyllama-2, and answers requests for any model.
# comply: llm-comply's schemas of three dialects. The server has at least 2048 tokens.
. "$(dirname "$0")/../stages.sh"
: "${HEARTH_PORT:?the port of the server on this machine}" "${HEARTH_MODEL:?the name of a model}"

judges="$(python_packages judges api-judges)"
export NO_PROXY='*' PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$judges:$PWD/scripts/clients"

if [ $# = 0 ]; then set -- llama comply; fi
failed=0
for judge in "$@"; do
    case "$judge" in
    llama)
        work="$(mktemp -d)"
        trap 'rm -rf "$work"' EXIT
        cp -r "$llama_source/tools/server/tests" "$work/tests"
        (cd "$work/tests" && DEBUG_EXTERNAL=1 PORT="$HEARTH_PORT" python3 -m pytest -q -m "not slow" --timeout 120 -p no:cacheprovider -rA \
            unit/test_chat_completion.py unit/test_completion.py unit/test_tokenize.py unit/test_compat_oai_responses.py \
            unit/test_compat_anthropic.py unit/test_basic.py > "$work/out" 2>&1) || true
        sed -n 's/^PASSED //p' "$work/out" | sort > "$work/passed"
        sort scripts/clients/llama-server-tests.txt > "$work/wanted"
        echo "llama.cpp's server tests: $(wc -l < "$work/passed") pass, $(comm -12 "$work/passed" "$work/wanted" | wc -l) of the $(wc -l < "$work/wanted") that llama-server passes"
        if [ "$(comm -13 "$work/passed" "$work/wanted" | wc -l)" != 0 ]; then
            failed=1
            comm -13 "$work/passed" "$work/wanted" | sed 's/^/  FAIL /'
        fi
        ;;
    comply)
        for format in openai-chat open-responses anthropic; do
            echo "llm-comply $format:"
            python3 -m llm_comply.cli --format "$format" -u "http://127.0.0.1:$HEARTH_PORT/v1" -k none -m "$HEARTH_MODEL" || true
        done
        ;;
    *) echo "judges: there is no judge '$judge'" >&2; exit 64 ;;
    esac
done
exit $failed
