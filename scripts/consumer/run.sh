#!/usr/bin/env bash
# Sample apps that depend on this package from outside.
#   scripts/consumer/run.sh       by path: the app in Tests/Consumer, which takes HearthDelivery and none of the traits. It must
#                                  build without llama.cpp and libmicrohttpd, and must not be linked with them. Then the command
#                                  and all modules, without traits.
#   scripts/consumer/run.sh url   by URL, as another user with an empty home folder: that app, and one that answers with llama.cpp
#                                  out of `make install-dev`, found through PKG_CONFIG_PATH alone
set -euo pipefail
cd "$(dirname "$0")/../.."
expected="lupus-diary@1.1.0:q4_k_m 1800000000 bytes"

check_delivery() { # the binary
    local found library
    found="$("$1" Tests/Consumer/models.json)"
    if [ "$found" != "$expected" ]; then
        printf 'the sample app printed\n%s\nand should have printed\n%s\n' "$found" "$expected" >&2
        return 1
    fi
    for library in llama microhttpd; do
        if ldd "$1" | grep -q "$library" || nm "$1" 2>/dev/null | grep -qi " ${library}_"; then
            echo "the sample app is linked with $library, which it does not use" >&2
            return 1
        fi
    done
    echo "sample app: $found"
}

if [ "${1:-}" != url ]; then
    # These builds are for no debugger. Both share what they compile.
    options=(--package-path Tests/Consumer --scratch-path "$PWD/.build/consumer" -debug-info-format none)
    # In a dependency SwiftPM notices new files only when it plans again.
    touch Tests/Consumer/Package.swift
    swift build "${options[@]}" -q
    check_delivery "$(swift build "${options[@]}" --show-bin-path)/Consumer"
    swift build "${options[@]}" --product hearth
    # Without their traits nothing needs these two, but an app may name them.
    for target in HearthLlama HearthServer; do swift build "${options[@]}" --target "$target"; done
    exit
fi

. scripts/env.sh
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/home" "$folder/tmp"
git clone -q . "$folder/published/hearth"
scripts/install-dev.sh "$folder/prefix"
cp "$default_model" "$folder/model.gguf"   # the cache may be closed to other users

app() { # name, main.swift, traits, products
    mkdir -p "$folder/$1/Sources/$1"
    cp "$2" "$folder/$1/Sources/$1/main.swift"
    local product products=""
    for product in $4; do products="$products.product(name: \"$product\", package: \"hearth\"), "; done
    cat > "$folder/$1/Package.swift" <<SWIFT
// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "$1",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(url: "file://$folder/published/hearth", revision: "$(git rev-parse HEAD)", traits: [$3])
    ],
    targets: [
        .executableTarget(
            name: "$1", dependencies: [$products],
            swiftSettings: [.enableUpcomingFeature("MemberImportVisibility")])
    ]
)
SWIFT
}
app Delivery Tests/Consumer/Sources/Consumer/main.swift '' HearthDelivery
app Answer Tests/Consumer/Answer/main.swift '"Llama"' Hearth

# Another user where that is possible; in any case nothing of this user's settings, caches and variables.
stranger=(env -i PATH="$PATH" HOME="$folder/home" TMPDIR="$folder/tmp" LANG=C.UTF-8)
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    chown -R 65534:65534 "$folder"
    stranger=(setpriv --reuid=65534 --regid=65534 --clear-groups "${stranger[@]}")
fi
build() { # app, variables of the environment
    local name=$1; shift
    (cd "$folder/$name" && "${stranger[@]}" "$@" swift build -q)
    built="$folder/$name/.build/debug/$name"
}

build Delivery
check_delivery "$built"
build Answer PKG_CONFIG_PATH="$folder/prefix/lib/pkgconfig"
answer="$("${stranger[@]}" "$built" "$folder/model.gguf" "Answer in one sentence: what is the capital of France?" || true)"
case $answer in *Paris*) echo "sample app with llama.cpp: $answer" ;; *) echo "the answer does not name Paris: $answer" >&2; exit 1 ;; esac
