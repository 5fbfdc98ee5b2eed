#!/usr/bin/env bash
# Two servers behind haproxy and nginx: restarts in turn, and a kill, under clients that stream.
. "$(dirname "$0")/../stages.sh"
build_program
for needed in haproxy nginx; do
    command -v "$needed" > /dev/null || { echo "install haproxy and nginx-light for this stage" >&2; exit 1; }
done
scripts/replicas/run.py "$program" --model "$default_model"
