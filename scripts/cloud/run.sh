#!/usr/bin/env bash
# The cloud engines against other people's programs, with the built tests and HEARTH_BINARY (.build/debug/hearth):
#   scripts/cloud/run.sh
# The vendors' Python clients speak with the stand-in first; then the engines speak with it, and with llama-server; then the
# hearth command has llama-server as its cloud.
. "$(dirname "$0")/../stages.sh"
work="$(mktemp -d)"
server=""
finish() {
    exec 3>&-
    if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; fi
    rm -rf "$work"
}
trap finish EXIT

clients="$(python_packages cloud cloud-clients)"

# A line of standard output is the address; the stand-in ends with its input.
mkfifo "$work/input"
python3 scripts/cloud/stand_in.py < "$work/input" > "$work/address" &
exec 3> "$work/input"
for _ in $(seq 100); do [ -s "$work/address" ] && break; sleep 0.1; done
NO_PROXY='*' PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$clients" python3 scripts/cloud/clients.py "$(cat "$work/address")"
exec 3>&-

llama_server="$llama_prefix/bin/llama-server"
[ -x "$llama_server" ] || { echo "cloud: llama-server is missing; scripts/setup.sh bench builds it" >&2; exit 1; }
port="$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')"
"$llama_server" --model "$default_model" --host 127.0.0.1 --port "$port" --ctx-size 4096 --parallel 1 --no-webui \
    > "$work/llama-server.log" 2>&1 &
server=$!
for _ in $(seq 300); do
    python3 -c "import urllib.request; urllib.request.urlopen('http://127.0.0.1:$port/health')" 2>/dev/null && break
    sleep 0.2
done
HEARTH_CLOUD_LLAMA="http://127.0.0.1:$port" env -u SWIFT_DETERMINISTIC_HASHING \
    swift test "${flags[@]}" --skip-build --filter 'Cloud[A-Za-z]*Tests'
kill "$server" && wait "$server" 2>/dev/null || true
server=""

namespace=""
for options in -n -rn; do if unshare $options true 2>/dev/null; then namespace=$options; break; fi; done
[ -n "$namespace" ] || { echo "cloud: this user may not make network namespaces" >&2; exit 1; }
unshare $namespace python3 scripts/cloud/llama_server.py "${HEARTH_BINARY:-$PWD/.build/debug/hearth}" "$llama_server" "$default_model"
