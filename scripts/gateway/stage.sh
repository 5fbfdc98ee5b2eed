#!/usr/bin/env bash
# The gateway with PostgreSQL, which restarts in the middle, and an S3 server that checks signatures: ten thousand requests.
. "$(dirname "$0")/../stages.sh"
build_tests
build_program
GATEWAY_REQUIRED=1 scripts/gateway/run.sh "$program"
