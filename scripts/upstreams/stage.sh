#!/usr/bin/env bash
# Real servers as upstreams, killed, frozen and restarted under load; what the hop costs.
. "$(dirname "$0")/../stages.sh"
scripts/setup.sh bench
build_program
more=()
if vllm="$(scripts/upstreams/vllm.sh)"; then
    more=(--vllm "$vllm" --vllm-model "$vllm/model")
else
    echo "upstreams: vLLM cannot be installed here, and is left out"
fi
scripts/upstreams/peers.py "$program" --model "$default_model" --llama "$llama_prefix/bin/llama-server" "${more[@]}"
