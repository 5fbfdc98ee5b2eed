#!/usr/bin/env bash
# Makes Frameworks/CLlama.xcframework on a Mac: llama.cpp with its `common` and `mtmd`, Hearth's shim, and Metal's code inside.
# It was written on Linux from llama.cpp's own script for this and has never run: expect to correct it. What has been checked
# is its syntax, and that the sources it names exist.
#   scripts/apple/xcframework.sh [SOURCE]   SOURCE is an unpacked llama.cpp; otherwise the pinned one is fetched
# It needs Xcode, CMake and Python. The manifest takes the framework as soon as it lies there, and the trait Llama with it.
set -euo pipefail
cd "$(dirname "$0")/../.."
root="$PWD"
[ "$(uname -s)" = Darwin ] || { echo "xcframework: this needs a Mac with Xcode" >&2; exit 1; }
for tool in cmake xcrun xcodebuild python3; do
    command -v "$tool" >/dev/null || { echo "xcframework: $tool is missing" >&2; exit 1; }
done

work="$root/.build-xcframework"
mkdir -p "$work"
source="${1:-$work/llama.cpp}"
if [ ! -d "$source" ]; then
    # The same file as on Linux, with the same hash.
    python3 -m venv "$work/python"
    "$work/python/bin/pip" install -q --require-hashes --only-binary :all: -r scripts/requirements/backend.txt
    "$work/python/bin/pip" download -q --no-deps --require-hashes --no-build-isolation --no-binary :all: -d "$work/archive" \
        -r scripts/requirements/llama.txt
    mkdir -p "$work/unpacked"
    tar -xzf "$work"/archive/*.tar.gz -C "$work/unpacked"
    mv "$work"/unpacked/*/vendor/llama.cpp "$source"
    rm -rf "$work/unpacked" "$work/archive"
fi

# The oldest systems are those of Package.swift.
flags=(
    -DBUILD_SHARED_LIBS=OFF -DLLAMA_BUILD_COMMON=ON -DLLAMA_BUILD_MTMD=ON -DLLAMA_BUILD_TOOLS=OFF -DLLAMA_BUILD_TESTS=OFF
    -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_SERVER=OFF -DLLAMA_BUILD_APP=OFF -DLLAMA_BUILD_UI=OFF -DLLAMA_OPENSSL=OFF
    -DMTMD_VIDEO=OFF -DGGML_METAL=ON -DGGML_METAL_EMBED_LIBRARY=ON -DGGML_NATIVE=OFF -DGGML_OPENMP=OFF
    -DCMAKE_XCODE_ATTRIBUTE_CODE_SIGNING_ALLOWED=NO
)

# One static library: name, CMake's system, SDK, Metal's name of the system, processors, the compiler's target.
slice() {
    local name=$1 system=$2 sdk=$3 metal=$4 processors=$5 minimum=$6 folder="$work/$1" processor objects=()
    echo "xcframework: $name" >&2
    cmake -S "$source" -B "$folder" -G Xcode "${flags[@]}" ${system:+-DCMAKE_SYSTEM_NAME="$system"} \
        ${metal:+-DGGML_METAL_TARGET_OS="$metal"} -DCMAKE_OSX_SYSROOT="$sdk" -DCMAKE_OSX_ARCHITECTURES="$processors" \
        -DCMAKE_OSX_DEPLOYMENT_TARGET="$minimum" >"$folder.log" 2>&1
    cmake --build "$folder" --config Release -- -quiet >>"$folder.log" 2>&1

    # The shim, with the headers of `common` and `mtmd` in place.
    local target; target="$(minimum_flag "$sdk" "$minimum")"
    for processor in ${processors//;/ }; do
        mkdir -p "$folder/shim-$processor"
        local file
        for file in Sources/CLlamaShim/*.cpp; do
            xcrun --sdk "$sdk" clang++ -std=c++17 -O2 -DNDEBUG -DHEARTH_LLAMA -arch "$processor" "$target" \
                -I Sources/CLlamaShim/include -I "$source/include" -I "$source/ggml/include" -I "$source/common" \
                -I "$source/tools/mtmd" -c "$file" -o "$folder/shim-$processor/$(basename "$file" .cpp).o"
        done
        xcrun libtool -static -o "$folder/shim-$processor.a" "$folder/shim-$processor"/*.o
        objects+=("$folder/shim-$processor.a")
    done
    xcrun lipo -create "${objects[@]}" -output "$folder/libshim.a"

    local archives=()
    while IFS= read -r file; do archives+=("$file"); done < <(find "$folder" -path '*/Release*/*.a' | sort)
    xcrun libtool -static -o "$folder/libCLlama.a" "$folder/libshim.a" "${archives[@]}"
}

minimum_flag() { # SDK, the oldest system
    case $1 in
    iphoneos) echo "-miphoneos-version-min=$2" ;;
    iphonesimulator) echo "-mios-simulator-version-min=$2" ;;
    macosx) echo "-mmacosx-version-min=$2" ;;
    xros) echo "--target=arm64-apple-xros$2" ;;
    xrsimulator) echo "--target=arm64-apple-xros$2-simulator" ;;
    esac
}

slice ios iOS iphoneos ios arm64 18.0
slice ios-simulator iOS iphonesimulator ios 'arm64;x86_64' 18.0
slice macos '' macosx '' 'arm64;x86_64' 15.0
slice visionos visionOS xros xros arm64 2.0
slice visionos-simulator visionOS xrsimulator xros arm64 2.0

# A folder for each module, in which the compiler looks for the module's map.
headers="$work/headers"
rm -rf "$headers"
mkdir -p "$headers/CLlama" "$headers/CLlamaShim"
cp "$source"/include/llama.h "$source"/ggml/include/{ggml,ggml-alloc,ggml-backend,ggml-cpu,ggml-metal,ggml-opt,gguf}.h "$headers/CLlama/"
sed -E 's/#include <((ggml|llama)[a-z-]*)\.h>/#include "\1.h"/' Sources/CLlama/shim.h > "$headers/CLlama/shim.h"
cat > "$headers/CLlama/module.modulemap" <<'MAP'
module CLlama [system] {
    header "shim.h"
    link "c++"
    link framework "Accelerate"
    link framework "Foundation"
    link framework "Metal"
    link framework "MetalKit"
    export *
}
MAP
cp Sources/CLlamaShim/include/CLlamaShim.h "$headers/CLlamaShim/"
cat > "$headers/CLlamaShim/module.modulemap" <<'MAP'
module CLlamaShim {
    header "CLlamaShim.h"
    export *
}
MAP

libraries=()
for name in ios ios-simulator macos visionos visionos-simulator; do
    libraries+=(-library "$work/$name/libCLlama.a" -headers "$headers")
done
rm -rf Frameworks/CLlama.xcframework
mkdir -p Frameworks
xcodebuild -create-xcframework "${libraries[@]}" -output Frameworks/CLlama.xcframework
echo "xcframework: Frameworks/CLlama.xcframework, $(du -sh Frameworks/CLlama.xcframework | cut -f1)" >&2
