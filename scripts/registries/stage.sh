#!/usr/bin/env bash
# A real registry: models published, pulled, and carried by skopeo and oras, behind tokens and redirects, and 25 kills.
. "$(dirname "$0")/../stages.sh"
build_program
scripts/registries/run.sh "$program"
