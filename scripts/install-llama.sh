#!/usr/bin/env bash
# install-llama.sh SOURCE BUILD PREFIX [LIBRARIES]: one static archive, the headers and a llama.pc out of a finished build.
# cmake's own install leaves out libllama-common-base, cpp-httplib, vendor-hash and every header of common/.
set -euo pipefail
source_folder=$1 build=$2 prefix=$3 libraries=${4:-}
staging="$prefix.tmp"
rm -rf "$staging" && mkdir -p "$staging/lib/pkgconfig" "$staging/include/llama-common/jinja"

cp "$source_folder"/include/*.h "$source_folder"/ggml/include/*.h "$source_folder"/tools/mtmd/mtmd*.h "$staging/include/"
cp "$source_folder"/common/*.h "$staging/include/llama-common/"
cp "$source_folder"/common/jinja/*.h "$staging/include/llama-common/jinja/"

# One archive, so that the order of the parts never matters to the linker. The programs beside it may be built too by now.
{
    echo "create $staging/lib/libhearth-llama.a"
    (cd "$build" && find . -name '*.a' \( -path './tools/mtmd/*' -o ! -path './tools/*' \)) | sort | sed "s|^\.|addlib $build|"
    echo save
    echo end
} | ar -M
# ggml asks for its buffers there; Sources/CLlamaShim/pages.cpp gives large ones out of huge pages.
objcopy --redefine-sym posix_memalign=hearth_buffer_allocate "$staging/lib/libhearth-llama.a"
ranlib "$staging/lib/libhearth-llama.a"

cat > "$staging/lib/pkgconfig/llama.pc" <<'PC'
prefix=${pcfiledir}/../..
libdir=${prefix}/lib
includedir=${prefix}/include

Name: llama
Description: llama.cpp with its common library and mtmd, as one static archive
Version: 0.3.36
Libs: -L${libdir} -lhearth-llama@LIBRARIES@ -lstdc++ -lm -lpthread -ldl
Cflags: -I${includedir} -I${includedir}/llama-common
PC
sed -i "s/@LIBRARIES@/$libraries/" "$staging/lib/pkgconfig/llama.pc"
rm -rf "$prefix" && mv "$staging" "$prefix"
