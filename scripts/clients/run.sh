#!/usr/bin/env bash
# The vendors' and other people's Python clients against a running server, unchanged:
#   HEARTH_URL=http://127.0.0.1:8080 HEARTH_MODEL=NAME [HEARTH_KEY=…] scripts/clients/run.sh [openai|anthropic|ollama|frameworks]…
# The model must be able to answer and to make vectors. Needs Python 3.11; the clients go into a folder of the cache.
. "$(dirname "$0")/../stages.sh"
: "${HEARTH_URL:?the address of the server}" "${HEARTH_MODEL:?the name of a model}"

clients="$(python_packages clients api-clients)"

if [ $# = 0 ]; then set -- openai anthropic ollama frameworks; fi
failed=0
for client in "$@"; do
    NO_PROXY='*' HF_HUB_OFFLINE=1 PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$clients:$PWD/scripts/clients" HEARTH_URL="$HEARTH_URL" \
        HEARTH_MODEL="$HEARTH_MODEL" python3 "scripts/clients/with_$client.py" || failed=1
done
exit $failed
