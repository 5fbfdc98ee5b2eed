#!/usr/bin/env bash
# install-mlx.sh WHEEL FOLDER PREFIX: unpacks MLX's wheel into FOLDER, if it is not there, builds libhearth-mlx.so in FOLDER/lib out of
# Sources/CMLX, and lays a header that names the library into PREFIX.
set -euo pipefail
cd "$(dirname "$0")/.."

wheel=$1 folder=$2 prefix=$3
if [ ! -d "$folder/include" ]; then
    rm -rf "$folder.tmp" && mkdir -p "$folder.tmp/wheel" "$folder.tmp/lib" "$folder.tmp/licenses"
    unzip -qo "$wheel" -d "$folder.tmp/wheel"
    mv "$folder.tmp/wheel/mlx/include" "$folder.tmp/include"
    # One folder for all: the libraries find each other by the names that the first of them has loaded.
    mv "$folder.tmp"/wheel/mlx/lib/libmlx.so "$folder.tmp"/wheel/mlx_cpu.libs/*.so* "$folder.tmp/lib/"
    find "$folder.tmp/wheel" -type f -path '*.dist-info*' -iname '*licen*' -exec cp {} "$folder.tmp/licenses/" \;
    rm -rf "$folder.tmp/wheel"
    rm -rf "$folder" && mv "$folder.tmp" "$folder"
fi
if [ ! -f "$folder/lib/libhearth-mlx.so" ]; then
    others="$(cd "$folder/lib" && echo lib*-*.so*)"
    c++ -std=c++20 -O3 -fPIC -shared -fvisibility=hidden -Wall -Wextra -Wno-psabi -Wno-maybe-uninitialized -pthread \
        -isystem "$folder/include" Sources/CMLX/{load,model,multiply,table}.cpp -o "$folder/lib/hearth-mlx.tmp" \
        -L"$folder/lib" -lmlx -Wl,--no-as-needed $(printf -- '-l:%s ' $others) -Wl,--enable-new-dtags,-rpath,'$ORIGIN'
    mv "$folder/lib/hearth-mlx.tmp" "$folder/lib/libhearth-mlx.so"
fi
mkdir -p "$prefix/include"
cat > "$prefix/include/hearth-mlx.h" <<H
// The library that Sources/CMLX loads at first use.
#pragma once
#define HEARTH_MLX_PATH "$folder/lib/libhearth-mlx.so"
H
