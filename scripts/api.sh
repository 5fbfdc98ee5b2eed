#!/usr/bin/env bash
# The former place of scripts/tests/api.py.
exec "$(dirname "$0")/tests/api.py" "$@"
