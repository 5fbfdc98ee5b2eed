#!/usr/bin/env bash
# Registries of OCI with a real one, its tools, and kills:
#   scripts/registries/run.sh BINARY
# REGISTRY_KILLS is the number of kills (25). Debian's docker-registry and skopeo are installed if they are missing.
. "$(dirname "$0")/../stages.sh"
binary="$(realpath "$1")"
missing=""
for tool in docker-registry skopeo; do command -v $tool >/dev/null || missing="$missing $tool"; done
if [ -n "$missing" ]; then
    echo "registries: installing$missing" >&2
    sudo=""; [ "$(id -u)" = 0 ] || sudo=sudo
    $sudo apt-get update -qq
    # shellcheck disable=SC2086
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
fi
PYTHONPATH="$(python_packages registries registries -"$(python_version)")" PYTHONDONTWRITEBYTECODE=1 \
    python3 scripts/registries/run.py "$binary" --model "$default_model" --kills "${REGISTRY_KILLS:-25}" \
    --seed "${REGISTRY_SEED:-$RANDOM}"
