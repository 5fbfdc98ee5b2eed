#!/usr/bin/env bash
# Apps that depend on this package by URL, as another user.
. "$(dirname "$0")/../stages.sh"
scripts/consumer/run.sh url
