#!/usr/bin/env bash
# The assistant's calendars, reminders and contacts together with the programs that share their folders: khal, todoman,
# khard, and vdirsyncer with a Radicale on loopback; and 300 series compared with python-dateutil.
#   scripts/stores/run.sh            with the built tests of HearthAssistant
# STORES_TEST names another command that runs the tests with the filter given to it.
set -euo pipefail
cd "$(dirname "$0")/../.."
root="$PWD"
packages="khal todoman khard vdirsyncer radicale python3-dateutil"
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
if [ -z "${STORES_TEST:-}" ]; then
    . scripts/env.sh
    flags=(--pkg-config-path "$llama_prefix/lib/pkgconfig")
fi
run_tests() {
    if [ -n "${STORES_TEST:-}" ]; then $STORES_TEST "$1"; else swift test "${flags[@]}" --skip-build --filter "$1"; fi
}

work="$(mktemp -d)"
server=""
finish() {
    if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; fi
    rm -rf "$work"
}
trap finish EXIT
home="$work/home"
mkdir -p "$home" "$work/config/khal" "$work/config/todoman" "$work/config/khard" "$work/cache"
export XDG_CONFIG_HOME="$work/config" XDG_CACHE_HOME="$work/cache" XDG_DATA_HOME="$work/data"
export TZ=Europe/Berlin LC_ALL=C.UTF-8 EDITOR=true

passed=0 failed=0
right() { passed=$((passed + 1)); printf 'ok    %s\n' "$1"; }
wrong() { failed=$((failed + 1)); printf 'WRONG %s\n' "$1"; shift; printf '%s\n' "$@"; }
check() { # NAME WANTED COMMAND…: a line of the output has the wanted words
    local name=$1 wanted=$2 found; shift 2
    found="$("$@" 2>&1 || true)"
    case $found in *"$wanted"*) right "$name" ;; *) wrong "$name" "wanted: $wanted" "$found" ;; esac
}
equal() { # NAME FILE FILE
    if cmp -s "$2" "$3"; then right "$1"; else wrong "$1" "$(diff "$2" "$3" || true)"; fi
}
step() {
    local log="$work/step.log"
    if HEARTH_STORES="$home" HEARTH_STORES_STEP="$1" run_tests StoreProgramsTests > "$log" 2>&1; then
        right "Hearth: $1"
    else
        wrong "Hearth: $1" "$(tail -40 "$log")"
    fi
}
listing() { cat "$home/listing.txt"; }
# The lines of two versions of a file that differ, without stamps.
changed() { diff "$1" "$2" | grep '^[<>]' | tr -d '\r' | grep -vE '^[<>] (DTSTAMP|LAST-MODIFIED|SEQUENCE)[;:]' || true; }

# 1. Hearth writes, the others read.
printf 'BEGIN:VCARD\r\nVERSION:3.0\r\nUID:anna-1\r\nFN:Anna Müller\r\nN:Müller;Anna;;;\r\nTEL;TYPE=CELL:+49 171 5550123\r\nEMAIL;TYPE=HOME:anna@example.org\r\nX-KEPT;A="b;c":as it is\r\nEND:VCARD\r\n' > "$home/import.vcf"
step create
cat > "$work/config/khal/config" <<END
[calendars]
[[personal]]
path = $home/calendar/personal
[locale]
timeformat = %H:%M
dateformat = %Y-%m-%d
longdateformat = %Y-%m-%d
datetimeformat = %Y-%m-%d %H:%M
longdatetimeformat = %Y-%m-%d %H:%M
local_timezone = Europe/Berlin
default_timezone = Europe/Berlin
[default]
default_calendar = personal
[sqlite]
path = $work/khal.db
END
khal_list() { khal list --format '{start-long} {title} @{location} {description}' --day-format '' "${@:-2026-12-01}" 62d; }
check "khal lists an event with its time" "2026-12-02 19:00 Grüße, dinner; with Anna @Café Nr. 5 Line one" khal_list
check "khal lists whole days" "2026-12-05 Whole days" khal_list
check "khal lists a series of another zone" "2026-12-15 15:00 New York weekly" khal_list
check "khal lists the last workday" "2027-01-29 10:00 Last workday" khal_list
count="$(khal_list | grep -c 'New York weekly' || true)"
if [ "$count" = 3 ]; then right "khal lists three of three"; else wrong "khal lists three of three" "found $count"; fi

printf 'path = "%s/reminders/*"\ndate_format = "%%Y-%%m-%%d"\ntime_format = "%%H:%%M"\ndefault_list = "personal"\n' "$home" > "$work/config/todoman/config.py"
check "todoman lists a reminder with its time" "2026-12-03 09:30 Call Béla" todoman list
check "todoman lists one without a time" "Some day" todoman list

cat > "$work/config/khard/khard.conf" <<END
[addressbooks]
[[personal]]
path = $home/contacts/personal
[general]
default_action = list
editor = true
merge_editor = true
[contact table]
display = formatted_name
END
check "khard lists a contact" "Anna Müller" khard list
check "khard shows its number" "+49 171 5550123" khard phone anna
check "khard shows its mail" "anna@example.org" khard email anna

# 2. The others write, Hearth reads.
khal new -a personal 2026-12-10 10:00 11:30 "From other: khal" :: "Its notes" >/dev/null
khal new -a personal -r weekly -u 2026-12-27 2026-12-11 08:00 08:30 "Weekly by khal" >/dev/null
khal new -a personal 2026-12-24 "Day by khal" >/dev/null
todoman new -l personal -d "2026-12-12 14:00" "From other: todoman" >/dev/null
printf 'First name: Zoë\nLast name: Łukasz\nPhone:\n    home: +48 22 555 01 44\nEmail:\n    work: zoe@example.net\n' > "$work/zoe.yaml"
khard new -a personal -i "$work/zoe.yaml" >/dev/null
step list
for line in "event 2026-12-10T09:00:00Z From other: khal" "event 2026-12-11T07:00:00Z Weekly by khal" \
    "event 2026-12-18T07:00:00Z Weekly by khal" "event 2026-12-25T07:00:00Z Weekly by khal" "event 2026-12-24 Day by khal" \
    "reminder 2026-12-12T13:00:00Z open 0 From other: todoman" \
    "contact Zoë Łukasz home=+48 22 555 01 44 zoe@example.net" "unreadable 0"; do
    check "Hearth lists: ${line#* }" "$line" listing
done

# 3. Hearth changes what the others wrote: only the changed lines differ.
khal_file="$(grep -l 'From other: khal' "$home"/calendar/personal/*.ics)"
todo_file="$(grep -l 'From other: todoman' "$home"/reminders/personal/*.ics)"
cp "$khal_file" "$work/khal.before"; cp "$todo_file" "$work/todo.before"
step change
check "only the title of khal's event differs" "$(printf '< SUMMARY:From other: khal\n> SUMMARY:From other: khal\\, changed')" changed "$work/khal.before" "$khal_file"
if [ "$(changed "$work/khal.before" "$khal_file" | wc -l)" = 2 ]; then right "and no other line"; else wrong "and no other line" "$(changed "$work/khal.before" "$khal_file")"; fi
check "khal lists the change" "2026-12-10 10:00 From other: khal, changed" khal_list
check "todoman sees the completion" "From other: todoman" todoman list --status COMPLETED
check "todoman's reminder is completed" "STATUS:COMPLETED" cat "$todo_file"
# khal's own change of an event of Hearth: its bytes are the new content.
todoman list >/dev/null
number="$(todoman --porcelain list | python3 -c 'import json, sys; print(next(t["id"] for t in json.load(sys.stdin) if t["summary"] == "Call Béla"))')"
todoman done "$number" >/dev/null
step list
check "Hearth sees todoman's completion" "done 1 Call Béla" listing

# 4. vdirsyncer with Radicale: both ways, files byte-equal.
port="$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')"
printf '[server]\nhosts = 127.0.0.1:%s\n[auth]\ntype = none\n[rights]\ntype = authenticated\n[storage]\nfilesystem_folder = %s/radicale\n[logging]\nlevel = warning\n' "$port" "$work" > "$work/radicale.conf"
sed -i 's/^type = authenticated/type = from_file\nfile = RIGHTS/' "$work/radicale.conf"
sed -i "s#RIGHTS#$work/rights#" "$work/radicale.conf"
printf '[all]\nuser: .*\ncollection: .*\npermissions: RrWw\n' > "$work/rights"
radicale --config "$work/radicale.conf" > "$work/radicale.log" 2>&1 &
server=$!
for _ in $(seq 100); do (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break; sleep 0.1; done
pair() { # NAME TYPE SUFFIX FOLDER
    printf '[pair %s]\na = "%s_local"\nb = "%s_remote"\ncollections = ["from a", "from b"]\nconflict_resolution = null\n[storage %s_local]\ntype = "filesystem"\npath = "%s"\nfileext = "%s"\n[storage %s_remote]\ntype = "%s"\nurl = "http://127.0.0.1:%s/hearth/"\nusername = "hearth"\npassword = "none"\n' \
        "$1" "$1" "$1" "$1" "$4" "$3" "$1" "$2" "$port"
}
one() { # FOLDER: a configuration of that folder alone, since the collections of one server share their names
    { printf '[general]\nstatus_path = "%s/status-%s"\n' "$work" "$1"
      case $1 in
          contacts) pair "$1" carddav .vcf "$home/contacts" ;;
          *) pair "$1" caldav .ics "$home/$1" ;;
      esac; } | sed "s#/hearth/#/$1/#; s#username = \"hearth\"#username = \"$1\"#" > "$work/vdirsyncer-$1"
}
sync() {
    VDIRSYNCER_CONFIG="$work/vdirsyncer-$1" vdirsyncer sync > "$work/sync.log" 2>&1 || { cat "$work/sync.log"; return 1; }
}
for folder in calendar reminders contacts; do
    one "$folder"
    cp -r "$home/$folder" "$work/$folder.before"
    yes | VDIRSYNCER_CONFIG="$work/vdirsyncer-$folder" vdirsyncer discover > "$work/discover.log" 2>&1 || cat "$work/discover.log"
    if sync "$folder"; then right "vdirsyncer sends $folder"; else wrong "vdirsyncer sends $folder" "$(tail -20 "$work/radicale.log")"; fi
    if diff -r "$home/$folder" "$work/$folder.before" >/dev/null; then right "$folder: our files are byte-equal"; else wrong "$folder: our files are byte-equal" "$(diff -r "$home/$folder" "$work/$folder.before")"; fi
    local_count="$(find "$home/$folder" -name '*.[iv]c[sf]' | wc -l)"
    remote_count="$(find "$work/radicale/collection-root/$folder" -name '*.[iv]c[sf]' -not -path '*/.Radicale*' | wc -l)"
    if [ "$local_count" = "$remote_count" ]; then right "$folder: Radicale has all $local_count"; else wrong "$folder: Radicale has all $local_count" "it has $remote_count"; fi
done
# Another client changes and adds on the server.
python3 - "$port" <<'END'
import sys, urllib.request
base = f"http://127.0.0.1:{sys.argv[1]}/calendar/personal/"
def put(name, text, kind="text/calendar"):
    request = urllib.request.Request(base + name, data=text.encode(), method="PUT", headers={"Content-Type": kind})
    urllib.request.urlopen(request)
put("server-1.ics", "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Other//EN\r\nBEGIN:VEVENT\r\nUID:server-1\r\nDTSTAMP:20261101T000000Z\r\nDTSTART:20261216T120000Z\r\nDTEND:20261216T130000Z\r\nSUMMARY:From other: server\r\nX-SERVER-KEPT;X-P=1:value\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n")
END
sync calendar && right "vdirsyncer fetches" || wrong "vdirsyncer fetches"
step list
check "Hearth lists the server's event" "event 2026-12-16T12:00:00Z From other: server" listing
server_file="$(grep -l 'UID:server-1' "$home"/calendar/personal/*.ics)"
cp "$server_file" "$work/server.before"
step change
check "only its title differs" "$(printf '< SUMMARY:From other: server\n> SUMMARY:From other: server\\, changed')" changed "$work/server.before" "$server_file"
if [ "$(changed "$work/server.before" "$server_file" | wc -l)" = 2 ]; then right "and no line else"; else wrong "and no line else" "$(changed "$work/server.before" "$server_file")"; fi
step remove
rm -rf "$work/calendar.before"; cp -r "$home/calendar" "$work/calendar.before"
sync calendar && right "vdirsyncer sends the change" || wrong "vdirsyncer sends the change"
if diff -r "$home/calendar" "$work/calendar.before" >/dev/null; then right "our files are byte-equal again"; else wrong "our files are byte-equal again"; fi
check "the server has the change" "SUMMARY:From other: server\\, changed" grep -rh SUMMARY "$work/radicale/collection-root/calendar/personal/"
check "and keeps the unknown property" "X-SERVER-KEPT;X-P=1:value" grep -rh X-SERVER "$work/radicale/collection-root/calendar/personal/"
if grep -rq 'UID:hearth-days' "$work/radicale/collection-root/calendar/personal/" --include='*.ics' --exclude-dir=.Radicale.cache; then wrong "the removed event is gone"; else right "the removed event is gone"; fi

# 5. Series against python-dateutil, and the rules of libical's own tests if they are here.
# The Python that Debian's dateutil is for.
/usr/bin/python3 "$root/scripts/stores/series.py" 300 "${STORES_SEED:-23}" "$work/series.json"
if HEARTH_SERIES="$work/series.json" run_tests SeriesTests > "$work/series.log" 2>&1; then
    right "$(grep -ao '[0-9]* of [0-9]* series equal to python-dateutil' "$work/series.log" || echo 'series')"
    grep -ao '5000 files: .*' "$work/series.log" || true
else
    wrong "series equal to python-dateutil" "$(grep -aE 'failed|recorded' "$work/series.log" | cut -c1-600 | head -10)"
fi
rules="$root/../shared/judges/icalrecur_test.txt"
if [ -f "$rules" ]; then
    if HEARTH_RECURRENCE_RULES="$rules" run_tests SeriesTests > "$work/rules.log" 2>&1; then
        right "$(grep -ao '[0-9]* rules expanded rightly.*' "$work/rules.log" || echo 'rules')"
    else
        wrong "rules of libical's tests" "$(grep -aE 'failed|recorded' "$work/rules.log" | cut -c1-400 | head)"
    fi
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
