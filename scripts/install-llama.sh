#!/usr/bin/env bash
# install-llama.sh headers SOURCE PREFIX [LIBRARIES]: the headers and a llama.pc, which is all that compiling against llama.cpp needs.
# install-llama.sh library BUILD PREFIX: one static archive out of a finished build.
# cmake's own install leaves out libllama-common-base, cpp-httplib, vendor-hash and every header of common/.
set -euo pipefail
part=$1 folder=$2 prefix=$3 libraries=${4:-}

if [ "$part" = headers ]; then
    staging="$prefix.tmp"
    rm -rf "$staging" && mkdir -p "$staging/lib/pkgconfig" "$staging/include/llama-common/jinja"
    cp "$folder"/include/*.h "$folder"/ggml/include/*.h "$folder"/tools/mtmd/mtmd*.h "$staging/include/"
    cp "$folder"/common/*.h "$staging/include/llama-common/"
    cp "$folder"/common/jinja/*.h "$staging/include/llama-common/jinja/"
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
    exit
fi

# The programs beside it may be built too by now.
archive="$prefix/lib/libhearth-llama.tmp.a"
rm -f "$archive"
{
    echo "create $archive"
    (cd "$folder" && find . -name '*.a' \( -path './tools/mtmd/*' -o ! -path './tools/*' \)) | sort | sed "s|^\.|addlib $folder|"
    echo save
    echo end
} | ar -M
# ggml asks for its buffers there; Sources/CLlamaShim/pages.cpp gives large ones out of huge pages.
objcopy --redefine-sym posix_memalign=hearth_buffer_allocate "$archive"
ranlib "$archive"
mv "$archive" "$prefix/lib/libhearth-llama.a"
