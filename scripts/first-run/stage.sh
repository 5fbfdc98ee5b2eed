#!/usr/bin/env bash
# A stranger's first minutes: a fresh clone, a home of its own, the same command twice.
. "$(dirname "$0")/../stages.sh"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
git clone -q . "$folder/hearth"
cd "$folder/hearth"
export HEARTH_HOME="$folder/home"
make --no-print-directory run > first.txt 2>&1 || { cat first.txt; exit 1; }
cat first.txt
build_program
begin=$(date +%s%N)
scripts/first-run/run.sh > second.txt 2>&1 || { cat second.txt; exit 1; }
milliseconds=$((($(date +%s%N) - begin) / 1000000))
cat second.txt
grep -q Paris first.txt || { echo "the first answer does not name Paris"; exit 1; }
grep -q Paris second.txt || { echo "the second answer does not name Paris"; exit 1; }
grep -q '0 model bytes were fetched' second.txt || { echo "the second run fetched model bytes"; exit 1; }
echo "the second run took $milliseconds ms"
[ "$milliseconds" -lt 5000 ] || { echo "that is over 5 s"; exit 1; }
