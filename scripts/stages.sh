# What the scripts of the stages share. Sourced, never run; it goes to the root of the tree.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/env.sh
flags=(--pkg-config-path "$llama_prefix/lib/pkgconfig")
program="$PWD/.build/release/hearth"

build_tests() { swift build "${flags[@]}" --build-tests; }
build_program() { make --no-print-directory build; }

selected() { # the choice of tests, and further arguments
    local filter=$1; shift
    env -u SWIFT_DETERMINISTIC_HASHING swift test "${flags[@]}" --skip-build --filter "$filter" "$@"
}

# Optimised, where figures count: the choice of tests, and further arguments.
optimised() {
    local filter=$1; shift
    HEARTH_TESTS=full swift test -c release -Xswiftc -enable-testing "${flags[@]}" --scratch-path .build-records --filter "$filter" "$@"
}

# Prints the folder in the cache that has the Python packages of scripts/requirements/LIST.txt, and fetches what is missing.
python_packages() { # LIST, the folder's name before its hash, what stands behind it
    local folder; folder="$HEARTH_CACHE/$2-$(sha256sum "scripts/requirements/$1.txt" | cut -c1-12)${3:-}"
    # Joined by hand: a command substitution does not end at the first failure.
    [ -d "$folder" ] || { mkdir -p "$(dirname "$folder")" && rm -rf "$folder.tmp" \
        && PIP_ROOT_USER_ACTION=ignore python3 -m pip install -q --disable-pip-version-check --no-deps --require-hashes \
            --only-binary :all: --target "$folder.tmp" -r "scripts/requirements/$1.txt" >&2 \
        && mv "$folder.tmp" "$folder"; } || return 1
    echo "$folder"
}
# Packages with programs or libraries of one version of Python.
python_version() { python3 -c 'import sys; print(sys.version_info.minor)'; }
