#!/usr/bin/env bash
# A person's walks through the page of the built program, in Debian's Chromium and Firefox (HEARTH_BINARY, otherwise
# .build/release/hearth):
#   scripts/walks/run.sh                     all walks
#   scripts/walks/run.sh quick               the fastest, as `make test` runs them
#   scripts/walks/run.sh records chat:resume the walks of these files, or these alone
#   scripts/walks/run.sh --list              their table: finding, step, before
. "$(dirname "$0")/../stages.sh"
packages=""
[ -x /usr/bin/chromium ] || packages="chromium fonts-dejavu-core"
case " $* " in *" quick "* | *" --list "*) ;; *)
    [ -x /usr/bin/firefox-esr ] || packages="$packages firefox-esr"
    command -v pdftotext >/dev/null || packages="$packages poppler-utils" ;;
esac
if [ -n "$packages" ]; then
    sudo=""; [ "$(id -u)" = 0 ] || sudo=sudo
    # shellcheck disable=SC2086
    $sudo apt-get update -qq
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages >/dev/null
fi
python="$(python_packages page page-python)"
export PYTHONPATH="$python:scripts/walks:scripts/page" PYTHONDONTWRITEBYTECODE=1
exec python3 scripts/walks/walk.py "$@"
