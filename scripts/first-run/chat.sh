#!/usr/bin/env bash
# make chat: the interactive chat with the default model, which `make run` installs first where it is missing.
set -euo pipefail
cd "$(dirname "$0")/../.."
hearth=.build/release/hearth
family=smollm2-135m-instruct
"$hearth" show "$family" >/dev/null 2>&1 || scripts/first-run/run.sh
exec "$hearth" chat "$family"
