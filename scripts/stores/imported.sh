#!/usr/bin/env bash
# Calendars, reminders and contacts of other programs, imported and compared with what icalendar, khal, todoman and khard make
# of them.
#   scripts/stores/imported.sh            with the built tests of HearthAssistant
# EVOLUTION=1 asks Evolution Data Server, too. STORES_TEST names another command that runs the tests with the filter given to
# it.
. "$(dirname "$0")/../stages.sh"
packages="khal todoman khard"
[ -z "${EVOLUTION:-}" ] || packages="$packages evolution-data-server gir1.2-ecal-2.0 gir1.2-ebook-1.2 python3-gi dbus"
missing=""
for package in $packages; do
    dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2>/dev/null | grep -q '^ii' || missing="$missing $package"
done
if [ -n "$missing" ]; then
    echo "stores: installing$missing" >&2
    sudo=""; [ "$(id -u)" = 0 ] || sudo=sudo
    $sudo apt-get update -qq
    # shellcheck disable=SC2086
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
fi
packages_folder="$(python_packages records records)"
if [ -n "${STORES_TEST:-}" ]; then
    # shellcheck disable=SC2206
    tests=($STORES_TEST)
else
    tests=(env -u SWIFT_DETERMINISTIC_HASHING "$(swift build "${flags[@]}" --show-bin-path)/hearthPackageTests.xctest" \
        --testing-library swift-testing --filter)
fi
PYTHONPATH="$packages_folder" python3 scripts/stores/imported.py "${tests[@]}"
