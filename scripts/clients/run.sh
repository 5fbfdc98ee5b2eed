#!/usr/bin/env bash
# The vendors' and other people's Python clients against a running server, unchanged:
#   HEARTH_URL=http://127.0.0.1:8080 HEARTH_MODEL=NAME [HEARTH_KEY=…] scripts/clients/run.sh [openai|anthropic|ollama|frameworks]…
# The model must be able to answer and to make vectors. Needs Python 3.11; the clients go into a folder of the cache.
set -euo pipefail
cd "$(dirname "$0")/../.."
. scripts/env.sh
: "${HEARTH_URL:?the address of the server}" "${HEARTH_MODEL:?the name of a model}"

clients="$HEARTH_CACHE/api-clients-$(sha256sum scripts/requirements/clients.txt | cut -c1-12)"
if [ ! -d "$clients" ]; then
    rm -rf "$clients.tmp"
    PIP_ROOT_USER_ACTION=ignore python3 -m pip install -q --disable-pip-version-check --no-deps --require-hashes \
        --only-binary :all: --target "$clients.tmp" -r scripts/requirements/clients.txt
    mv "$clients.tmp" "$clients"
fi

if [ $# = 0 ]; then set -- openai anthropic ollama frameworks; fi
failed=0
for client in "$@"; do
    NO_PROXY='*' HF_HUB_OFFLINE=1 PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$clients:$PWD/scripts/clients" HEARTH_URL="$HEARTH_URL" \
        HEARTH_MODEL="$HEARTH_MODEL" python3 "scripts/clients/with_$client.py" || failed=1
done
exit $failed
