#!/usr/bin/env bash
# install-vision.sh headers WHEEL FOLDER PREFIX: unpacks OpenVINO's wheel into FOLDER, if it is not there, and lays a header that names
# the libraries of classifiers and a hearth-vision.pc into PREFIX.
# install-vision.sh library FOLDER: builds libhearth-pictures.so and libhearth-codecs.so there out of Sources/CVision and OpenCV.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "$1" = library ]; then
    folder=$2
    compile() { c++ -std=c++17 -O2 -fPIC -shared -fvisibility=hidden -Wall -Wextra -I/usr/include/opencv4 "$@"; }
    # OpenCV's codecs are a library of their own, for most pictures are PNG files, which need none of them.
    compile Sources/CVision/codecs.cpp -o "$folder/lib/libhearth-codecs.so" -lopencv_imgcodecs -lopencv_core
    compile Sources/CVision/pictures.cpp Sources/CVision/pages.cpp Sources/CVision/png.cpp \
        -o "$folder/lib/pictures.tmp" -Wl,--enable-new-dtags,-rpath,'$ORIGIN' \
        -lopencv_imgproc -lopencv_core -lpng16 -ldl
    mv "$folder/lib/pictures.tmp" "$folder/lib/libhearth-pictures.so"
    exit
fi

wheel=$2 folder=$3 prefix=$4
if [ ! -d "$folder/include" ]; then
    rm -rf "$folder.tmp" && mkdir -p "$folder.tmp/wheel" "$folder.tmp/lib"
    unzip -qo "$wheel" 'openvino/include/openvino/c/*' 'openvino/libs/*' '*/licenses/*' -d "$folder.tmp/wheel"
    mv "$folder.tmp/wheel/openvino/include" "$folder.tmp/include"
    # The parts that read ONNX and compute on the processor; those for other formats and devices stay behind.
    (cd "$folder.tmp/wheel/openvino/libs" && mv libopenvino.so.* libopenvino_c.so.* libopenvino_intel_cpu_plugin.so \
        libopenvino_onnx_frontend.so.* libtbb*.so* libhwloc.so.* "$folder.tmp/lib/")
    mkdir "$folder.tmp/licenses"
    find "$folder.tmp/wheel" -type f -path '*.dist-info*' -exec cp {} "$folder.tmp/licenses/" \;
    rm -rf "$folder.tmp/wheel"
    rm -rf "$folder" && mv "$folder.tmp" "$folder"
fi
library=$(basename "$(echo "$folder"/lib/libopenvino_c.so.*)")
mkdir -p "$prefix/include/hearth-vision" "$prefix/lib/pkgconfig"
cat > "$prefix/include/hearth-vision/hearth-vision.h" <<H
// The libraries that Sources/CVision loads at first use.
#pragma once
#define HEARTH_OPENVINO_PATH "$folder/lib/$library"
#define HEARTH_OPENVINO_NAME "$library"
#define HEARTH_PICTURES_PATH "$folder/lib/libhearth-pictures.so"
H
cat > "$prefix/lib/pkgconfig/hearth-vision.pc" <<PC
prefix=\${pcfiledir}/../..

Name: hearth-vision
Description: the libraries of Hearth's classifiers: OpenVINO, and OpenCV behind libhearth-pictures
Version: 1
Cflags: -I\${prefix}/include/hearth-vision -I$folder/include
PC
