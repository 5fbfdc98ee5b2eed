#!/usr/bin/env bash
# The first day of a new user, who has git, make, sudo and Swift: each command with its time and status. In the bare system only.
set -uo pipefail
cd "$HOME"
failed=0
now() { date +%s%N; }
since() { awk "BEGIN { printf \"%.2f\", ($(now) - $1) / 1e9 }"; }
# The wanted status, a pattern that the output must have, and the command.
try() {
    local wanted=$1 pattern=$2 begin status=0; shift 2
    begin=$(now)
    "$@" > out.txt 2>&1 < /dev/null || status=$?
    local verdict=ok
    if [ "$status" != "$wanted" ] || ! grep -qE -- "$pattern" out.txt; then verdict=WRONG failed=1; fi
    printf '%-5s %6s s  status %d  %s\n' "$verdict" "$(since "$begin")" "$status" "$*"
    [ "$verdict" = ok ] || sed 's/^/        /' out.txt | tail -20
}

begin=$(now)
git clone -q /srv/hearth.git
cd hearth
if ! make run > ../run.txt 2>&1; then tail -40 ../run.txt; exit 1; fi
grep -q Paris ../run.txt || { tail -40 ../run.txt; exit 1; }
echo "make run, from nothing to the first answer: $(since "$begin") s"
grep -E '^(set-up|build): .* \([0-9]+ s' ../run.txt || true
begin=$(now)
make run > ../again.txt 2>&1 || { tail -40 ../again.txt; exit 1; }
echo "make run again: $(since "$begin") s"
grep -A4 'what lies where' ../run.txt
make install PREFIX="$HOME/.local" > ../install.txt 2>&1 || { tail ../install.txt; exit 1; }
cd ..
PATH="$HOME/.local/bin:$PATH"
# No hub is reached from everywhere: a stand-in on loopback has one model under every name.
python3 hearth/scripts/documents/hub.py hearth/.build/origin/models/*.gguf > hub.txt &
hub=$!
trap 'kill $hub' EXIT
for _ in $(seq 100); do [ ! -s hub.txt ] || break; sleep 0.1; done
HF_ENDPOINT="$(cat hub.txt)"
export HF_ENDPOINT

try 0 'chat' hearth
try 0 'smollm2' hearth list
try 0 'SmolLM2' hearth search smollm2 135m
try 0 'installed and active' hearth pull "https://huggingface.co/bartowski/SmolLM2-135M-Instruct-GGUF"
try 0 '.' hearth chat smollm2-135m-instruct "Say hello."
try 0 '"text"' hearth chat smollm2-135m-instruct --prompt "Name a river." --format json
try 0 '.' hearth notes add "Water the plants"
try 0 'Water the plants' hearth notes
try 0 'Water the plants' hearth undo
try 1 'can be undone' hearth undo
try 64 'hearth pull' hearth install something
try 64 'hearth chat' hearth chta
try 1 'smollm2-135m-instruct' hearth chat smolm2-135m-instruct "hello"
try 0 'smollm2' hearth ls
try 0 '.' hearth doctor
try 0 'hearth 0' hearth version
exit $failed
