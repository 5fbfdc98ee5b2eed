#!/usr/bin/env bash
# A person's walks through the page: one for each finding, in two browsers and two languages.
. "$(dirname "$0")/../stages.sh"
build_program
scripts/walks/run.sh
