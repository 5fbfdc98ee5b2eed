#!/usr/bin/env bash
# Signed origins against other people's programs: scripts/tuf/run.sh HEARTH
#   both ways with python-tuf: it reads what `hearth publish --sign` makes, and `hearth` reads what it makes;
#   the attacks of The Update Framework on the program, with what a person reads;
#   tuf-conformance, if HEARTH_TUF_SUITE names its unpacked folder (it needs Debian's faketime).
. "$(dirname "$0")/../stages.sh"
HEARTH_BINARY="$(realpath "${1:?the hearth program}")"
export HEARTH_BINARY

judges="$(python_packages tuf tuf)"
export NO_PROXY='*' PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$judges:$PWD/scripts/tuf"
export HEARTH_TRUST_PASSPHRASE="a passphrase of the tests"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
export HOME="$work" HEARTH_HOME="$work/home"

failed=0
python3 scripts/tuf/read.py "$work/read" || failed=1
python3 scripts/tuf/write.py "$work/write" || failed=1
python3 scripts/tuf/attacks.py "$work/attacks" || failed=1

if [ -z "${HEARTH_TUF_SUITE:-}" ]; then
    echo "tuf-conformance: skipped, HEARTH_TUF_SUITE does not name its folder"
elif ! command -v faketime >/dev/null; then
    echo "tuf-conformance: FAILED, Debian's faketime is not installed" >&2
    failed=1
else
    client="$PWD/scripts/tuf/client"
    (cd "$HEARTH_TUF_SUITE" && python3 -m pytest -q -p no:cacheprovider tuf_conformance --entrypoint "$client" \
        > "$work/suite" 2>&1) || failed=1
    grep -E '^(FAILED|ERROR)' "$work/suite" || true
    echo "tuf-conformance: $(tail -1 "$work/suite")"
fi
exit $failed
