#!/usr/bin/env bash
# Sample apps that depend on this package from outside.
#   scripts/consumer/run.sh       by path: the app in Tests/Consumer/Delivery, which takes HearthDelivery and none of the traits. It
#                                 must build without llama.cpp and libmicrohttpd, and must not be linked with them. Then the
#                                 command and all modules, without traits.
#   scripts/consumer/run.sh url   by URL, as another user with an empty home folder: that app, and the others, which take llama.cpp
#                                 out of `make install-dev`, found through PKG_CONFIG_PATH alone; then runs them all
. "$(dirname "$0")/../stages.sh"
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

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/home" "$folder/tmp" "$folder/work"
git clone -q . "$folder/published/hearth"
scripts/install-dev.sh "$folder/prefix"
cp "$default_model" "$folder/model.gguf"   # the cache may be closed to other users

package() { # name, traits, products, apps
    local app product targets="" products=""
    for product in $3; do products="$products.product(name: \"$product\", package: \"hearth\"), "; done
    for app in $4; do
        mkdir -p "$folder/$1/$app"
        cp "Tests/Consumer/$app/main.swift" "$folder/$1/$app/"
        targets="$targets
        .executableTarget(
            name: \"$app\", dependencies: [$products], path: \"$app\",
            swiftSettings: [.enableUpcomingFeature(\"MemberImportVisibility\")]),"
    done
    cat > "$folder/$1/Package.swift" <<SWIFT
// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "$1",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(url: "file://$folder/published/hearth", revision: "$(git rev-parse HEAD)", traits: [$2])
    ],
    targets: [$targets
    ]
)
SWIFT
}
apps="$(cd Tests/Consumer && echo */ | tr -d / | sed 's/\bDelivery\b//')"
package Delivery '' HearthDelivery Delivery
package Apps '"Llama", "Server"' "Hearth HearthAssistant HearthPublishing HearthServer" "$apps"

# Another user where that is possible; in any case nothing of this user's settings, caches and variables.
stranger=(env -i PATH="$PATH" HOME="$folder/home" TMPDIR="$folder/tmp" LANG=C.UTF-8)
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    chown -R 65534:65534 "$folder"
    stranger=(setpriv --reuid=65534 --regid=65534 --clear-groups "${stranger[@]}")
fi
build() { # package, variables of the environment
    local name=$1; shift
    (cd "$folder/$name" && "${stranger[@]}" "$@" swift build -q)
}

build Delivery
check_delivery "$folder/Delivery/.build/debug/Delivery"
build Apps PKG_CONFIG_PATH="$folder/prefix/lib/pkgconfig"
clients="$(python_packages clients api-clients)"
buckets="$(python_packages s3 s3 "-$(python_version)")"
PATH="$buckets/bin:$PATH" PYTHONPATH="$clients:$buckets" PYTHONDONTWRITEBYTECODE=1 NO_PROXY='*' \
    python3 scripts/consumer/drive.py "$folder/Apps/.build/debug" "$folder/model.gguf" "$folder/work" "${stranger[@]}"
