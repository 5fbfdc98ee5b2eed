#!/usr/bin/env bash
# Drives the page with Debian's Chromium against a scripted server:
#   scripts/page/run.sh                  all checks
#   scripts/page/run.sh flows hostile    the checks of these files: flows, library_flow, records_flow, read_flow, hostile, look, speed
#   scripts/page/run.sh serve 8765       only the scripted server, to look at the page by hand
#   scripts/page/run.sh live             the built program (HEARTH_BINARY, otherwise .build/release/hearth)
#   scripts/page/run.sh live foreign_pages    these steps of it, each for itself: foreign_pages,
#                                             session_of_one_origin, records_with_undo, screens
#   scripts/page/run.sh many             10,000 conversations and a long thread with the built program
# PAGE_IMAGES=FOLDER keeps the screenshots there; docs/images are made with PAGE_IMAGES=docs/images.
. "$(dirname "$0")/../stages.sh"
mkdir -p "$HEARTH_CACHE"
if ! command -v chromium >/dev/null; then
    sudo=""; [ "$(id -u)" = 0 ] || sudo=sudo
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core >/dev/null
fi
# The libraries come from Debian's packages, unpacked and not installed.
libraries="$HEARTH_CACHE/page-libraries"
if [ ! -d "$libraries" ]; then
    mkdir -p "$libraries.tmp/deb"
    (cd "$libraries.tmp/deb" && apt-get download -qq node-marked node-dompurify libjs-highlight.js libjs-katex)
    for package in "$libraries.tmp"/deb/*.deb; do dpkg -x "$package" "$libraries.tmp"; done
    mv "$libraries.tmp" "$libraries"
fi
python="$(python_packages page page-python)"
export PYTHONPATH="$python:scripts/page" PYTHONDONTWRITEBYTECODE=1 PAGE_LIBRARIES="$libraries"
if [ "${1:-}" = serve ]; then exec python3 scripts/page/backend.py "$libraries" "${2:-8765}"; fi
if [ "${1:-}" = many ]; then exec python3 scripts/page/many.py; fi
exec python3 scripts/page/check.py "$@"
