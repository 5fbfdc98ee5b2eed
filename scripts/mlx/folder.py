#!/usr/bin/env python3
"""Writes a GGUF file of Q4_1 and Q8_0 tensors (architecture llama, vocabulary smollm) as a folder in MLX's form, without loss.

    scripts/mlx/folder.py MODEL.gguf FOLDER

A block of 32 weights becomes a group of 32: four bits with scale and bias, or eight bits with a bias of -128 scales.
"""

import json
import os
import sys

import gguf
import mlx.core as mx
import numpy as np

NAMES = {
    "attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm", "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj",
}
WHOLE = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}


def renamed(name):
    parts = name.removesuffix(".weight").split(".")
    return WHOLE[parts[0]] if len(parts) == 1 else f"model.layers.{parts[1]}.{NAMES[parts[2]]}"


def ordered(rows, heads):
    """Undoes llama.cpp's order of the rows of queries and keys: its rotated pairs are neighbours, the publisher's are halves."""
    if not heads:
        return rows
    return rows.reshape(heads, rows.shape[0] // heads // 2, 2, -1).swapaxes(1, 2).reshape(rows.shape)


def packed(values, bits):
    """The values of a row in 32-bit words, the first in the lowest bits."""
    words = values.reshape(values.shape[0], -1, 32 // bits).astype(np.uint32)
    return np.bitwise_or.reduce(words << (np.arange(32 // bits, dtype=np.uint32) * bits), axis=2)


def groups(tensor):
    """Values, scales, biases and bits of a tensor, by rows."""
    count = int(tensor.shape[1])
    raw = np.asarray(tensor.data).reshape(count, -1)
    half = lambda blocks: blocks.copy().view(np.float16)[:, :, 0]
    if tensor.tensor_type == gguf.GGMLQuantizationType.Q4_1:
        blocks = raw.reshape(count, -1, 20)
        values = np.concatenate([blocks[:, :, 4:] & 15, blocks[:, :, 4:] >> 4], axis=2)
        return values.reshape(count, -1), half(blocks[:, :, 0:2]), half(blocks[:, :, 2:4]), 4
    if tensor.tensor_type == gguf.GGMLQuantizationType.Q8_0:
        blocks = raw.reshape(count, -1, 34)
        values = (blocks[:, :, 2:].view(np.int8).astype(np.int16) + 128).astype(np.uint8)
        scales = half(blocks[:, :, 0:2])
        return values.reshape(count, -1), scales, scales * np.float16(-128), 8
    sys.exit(f"{tensor.name}: {tensor.tensor_type}")


def write(folder, name, value):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        json.dump(value, file, ensure_ascii=False)


def main(source, folder):
    file = gguf.GGUFReader(source)
    fact = lambda key: file.fields[key].contents()
    heads = {"attn_q": fact("llama.attention.head_count"), "attn_k": fact("llama.attention.head_count_kv")}
    weights, quantization = {}, {"group_size": 32, "bits": 4}
    for tensor in file.tensors:
        name = renamed(tensor.name)
        if len(tensor.shape) == 1:
            weights[f"{name}.weight"] = mx.array(np.asarray(tensor.data), dtype=mx.float16)
            continue
        values, scales, biases, bits = groups(tensor)
        number = heads.get(tensor.name.split(".")[-2], 0)
        for part, array in (("weight", packed(values, bits)), ("scales", scales), ("biases", biases)):
            weights[f"{name}.{part}"] = mx.array(ordered(array, number))
        if bits != 4:
            quantization[name] = {"group_size": 32, "bits": bits}
    os.makedirs(folder, exist_ok=True)
    mx.save_safetensors(os.path.join(folder, "model.safetensors"), weights, metadata={"format": "mlx"})
    tokens, kinds = fact("tokenizer.ggml.tokens"), fact("tokenizer.ggml.token_type")
    write(folder, "config.json", {
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_act": "silu", "tie_word_embeddings": True,
        "hidden_size": fact("llama.embedding_length"), "num_hidden_layers": fact("llama.block_count"),
        "intermediate_size": fact("llama.feed_forward_length"), "num_attention_heads": heads["attn_q"],
        "num_key_value_heads": heads["attn_k"], "rms_norm_eps": 1e-5, "vocab_size": len(tokens),
        "max_position_embeddings": fact("llama.context_length"), "rope_theta": fact("llama.rope.freq_base"),
        "bos_token_id": fact("tokenizer.ggml.bos_token_id"), "eos_token_id": fact("tokenizer.ggml.eos_token_id"),
        "quantization": quantization,
    })
    added = [
        {"id": number, "content": token, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
         "special": True}
        for number, (token, kind) in enumerate(zip(tokens, kinds)) if kind == 3
    ]
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    digits = {"type": "Digits", "individual_digits": True}
    write(folder, "tokenizer.json", {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [digits, level]}, "post_processor": None,
        "decoder": level | {"add_prefix_space": True},
        "model": {
            "type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
            "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False,
            "vocab": {token: number for number, token in enumerate(tokens)}, "merges": fact("tokenizer.ggml.merges"),
        },
    })
    named = lambda key: tokens[fact(f"tokenizer.ggml.{key}_token_id")]
    write(folder, "tokenizer_config.json", {
        "tokenizer_class": "GPT2Tokenizer", "add_prefix_space": False, "bos_token": named("bos"),
        "eos_token": named("eos"), "unk_token": named("unknown"), "clean_up_tokenization_spaces": False,
        "chat_template": fact("tokenizer.chat_template"),
    })


main(*sys.argv[1:])
