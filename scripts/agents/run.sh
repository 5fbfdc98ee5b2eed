#!/usr/bin/env bash
# Claude Code, Codex, aider and frameworks for agents, unchanged, against `hearth serve`: scripts/agents/run.sh HEARTH
# First with a local model of 32,768 tokens that says ok, then with a scripted model of another server whose calls repair a
# program. The agents go into a folder of the cache; each run gets a home and a folder of work of its own.
. "$(dirname "$0")/../stages.sh"
hearth="$(realpath "${1:?the hearth program}")"

agents="$(python_packages agents agents)"
frameworks="$(python_packages frameworks frameworks "-$(python_version)")"
aider="$(python_packages aider aider "-$(python_version)")"
writer="$(python_packages tiny gguf-writer "-$(python_version)")"
work="$(mktemp -d)"
server=""
finish() {
    exec 3>&-
    if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; fi
    rm -rf "$work"
}
trap finish EXIT

# The first line of a program's output is its address.
address() { # the file
    for _ in $(seq 200); do
        if [ -s "$1" ]; then break; fi
        sleep 0.1
    done
    head -1 "$1"
}

export HEARTH_HOME="$work/home" PYTHONDONTWRITEBYTECODE=1 NO_PROXY='*'
PYTHONPATH="$writer" python3 scripts/agents/model.py "$default_model" "$work/says-ok-v1.0.0-f16.gguf"
"$hearth" pull "$work/says-ok-v1.0.0-f16.gguf" --no-probe --quiet
for name in gpt-5.5 gpt-6-sol; do "$hearth" config set "aliases.$name" says-ok; done
"$hearth" serve --port 0 > "$work/address" 2> "$work/log" &
server=$!
url="$(address "$work/address")"
[ -n "$url" ] || { cat "$work/log" >&2; exit 1; }
python3 scripts/agents/agents.py "$agents" "$aider" "$url" "$work" ok says-ok gpt-5.5 gpt-6-sol || { tail -20 "$work/log" >&2; exit 1; }
python3 scripts/agents/connected.py "$hearth" "$agents" "$aider" "$frameworks" "$work" says-ok
python3 scripts/agents/reuse.py "$agents" "$url" "$work" says-ok || { tail -20 "$work/log" >&2; exit 1; }

mkfifo "$work/input"
python3 scripts/agents/scripted.py < "$work/input" > "$work/upstream" &
exec 3> "$work/input"
"$hearth" config set upstreams.maker.kind openai
"$hearth" config set upstreams.maker.url "$(address "$work/upstream")"
for name in gpt-5.5 gpt-6-sol; do "$hearth" config set "aliases.$name" maker/scripted; done
# A running server follows its settings within two seconds.
sleep 3
python3 scripts/agents/agents.py "$agents" "$aider" "$url" "$work" repair maker/scripted gpt-5.5 gpt-6-sol \
    || { tail -20 "$work/log" >&2; exit 1; }
PYTHONPATH="$frameworks" python3 scripts/agents/frameworks.py "$url" "$work" maker/scripted || { tail -20 "$work/log" >&2; exit 1; }
