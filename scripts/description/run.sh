#!/usr/bin/env bash
# Schemathesis against `hearth serve` with a small model: scripts/description/run.sh HEARTH [OPTION]…
# The description's own examples, the edges of each schema, and twenty examples for each operation. A reply has to have a described
# status below 500, media type and form. Further options go to schemathesis, such as --include-path PATH.
. "$(dirname "$0")/../stages.sh"
hearth="$(realpath "${1:?the hearth program}")"
shift

fuzzer="$(python_packages description schemathesis "-$(python_version)")"
writer="$(python_packages tiny gguf-writer "-$(python_version)")"
work="$(mktemp -d)"
server=""
finish() {
    if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; fi
    rm -rf "$work"
}
trap finish EXIT

# No request leaves the machine.
export HEARTH_HOME="$work/home" HF_ENDPOINT=http://127.0.0.1:9 HEARTH_ORIGIN= PYTHONDONTWRITEBYTECODE=1 NO_PROXY='*'
PYTHONPATH="$writer" python3 scripts/agents/model.py "$default_model" "$work/tiny-v1.0.0-f16.gguf"
"$hearth" pull "$work/tiny-v1.0.0-f16.gguf" --no-probe --quiet
"$hearth" config set serve.anyModel true
"$hearth" config set contextLength 2048
"$hearth" config set maximumNewTokens 16
key="$("$hearth" keys create fuzzer --scopes admin,models,chat 2> "$work/log" | tail -1)"
"$hearth" serve --port 0 > "$work/address" 2> "$work/log" &
server=$!
for _ in $(seq 200); do
    if [ -s "$work/address" ]; then break; fi
    sleep 0.1
done
[ -s "$work/address" ] || { cat "$work/log" >&2; exit 1; }

# Left out: /stop ends the server, and the stream of /events has no end.
left_out=(--exclude-path /hearth/v1/stop --exclude-path /hearth/v1/events)
checks=not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,response_schema_conformance
# A key has 1,200 requests a minute. Most of what is made for a route without parameters is no other request: no health check.
export PYTHONPATH="$fuzzer:$PWD/scripts/description" SCHEMATHESIS_HOOKS=hooks
cd "$work"
python3 -m schemathesis.cli run "$(head -1 "$work/address")/openapi.json" --header "Authorization: Bearer $key" \
    --phases examples,coverage,fuzzing --max-examples 20 --checks "$checks" "${left_out[@]}" --rate-limit 1100/m \
    --suppress-health-check filter_too_much --warnings off --request-timeout 60 --continue-on-failure \
    --generation-database none --no-color "$@" || { tail -20 "$work/log" >&2; exit 1; }
"$hearth" ps > "$work/ps" || { echo "the server has ended" >&2; exit 1; }
echo "the server still answers"
