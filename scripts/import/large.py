#!/usr/bin/env python3
"""Makes a model in MLX's form of a given size, whose weights mean nothing: groups of 64 at 4 bits in shards of 700 MB.

    scripts/import/large.py FOLDER GIGABYTES
"""

import json
import os
import struct
import sys

import numpy as np

folder, gigabytes = sys.argv[1], float(sys.argv[2])
WIDTH, FEED_FORWARD, HEADS, SHARED, HEAD, VOCABULARY = 2048, 8192, 32, 8, 64, 300
SHARD = 700_000_000
random = np.random.default_rng(1)
# Every tensor repeats the same numbers: making new ones would take longer than the import.
words = random.integers(0, 2**32, 4 << 20, dtype=np.uint32)
scales = (random.random(4 << 20) * 0.01 + 0.001).astype(np.float16)
biases = (scales.astype(np.float32) * -8).astype(np.float16)
norms = np.full(WIDTH, 0x3F80, np.uint16)
sources = {"weight": words, "scales": scales, "biases": biases}


def matrices(layers):
    yield "model.embed_tokens", VOCABULARY, WIDTH
    for layer in range(layers):
        for name, rows, columns in (
            ("self_attn.q_proj", HEADS * HEAD, WIDTH), ("self_attn.k_proj", SHARED * HEAD, WIDTH),
            ("self_attn.v_proj", SHARED * HEAD, WIDTH), ("self_attn.o_proj", WIDTH, HEADS * HEAD),
            ("mlp.gate_proj", FEED_FORWARD, WIDTH), ("mlp.up_proj", FEED_FORWARD, WIDTH),
            ("mlp.down_proj", WIDTH, FEED_FORWARD),
        ):
            yield f"model.layers.{layer}.{name}", rows, columns


def tensors(layers):
    """Name, type, shape, bytes of a number, numbers."""
    for name, rows, columns in matrices(layers):
        yield f"{name}.weight", "U32", [rows, columns // 8], words
        yield f"{name}.scales", "F16", [rows, columns // 64], scales
        yield f"{name}.biases", "F16", [rows, columns // 64], biases
    for layer in range(layers):
        for name in ("input_layernorm", "post_attention_layernorm"):
            yield f"model.layers.{layer}.{name}.weight", "BF16", [WIDTH], norms
    yield "model.norm.weight", "BF16", [WIDTH], norms


def write_shard(path, part):
    header, end = {"__metadata__": {"format": "mlx"}}, 0
    for name, kind, shape, source in part:
        start, end = end, end + int(np.prod(shape)) * source.itemsize
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [start, end]}
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for _, _, shape, source in part:
            left = int(np.prod(shape))
            while left:
                count = min(left, source.size)
                file.write(source[:count].tobytes())
                left -= count


def write(name, value):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        json.dump(value, file)


os.makedirs(folder, exist_ok=True)
layer = 2 * WIDTH * HEADS * HEAD + 2 * WIDTH * SHARED * HEAD + 3 * WIDTH * FEED_FORWARD
layers = int(gigabytes * 1e9 / (4.5 / 8) / layer) + 1
parts, size = [[]], 0
for tensor in tensors(layers):
    bytes_of_it = int(np.prod(tensor[2])) * tensor[3].itemsize
    if size + bytes_of_it > SHARD:
        parts.append([])
        size = 0
    parts[-1].append(tensor)
    size += bytes_of_it
places = {}
for number, part in enumerate(parts, 1):
    name = f"model-{number:05}-of-{len(parts):05}.safetensors"
    write_shard(os.path.join(folder, name), part)
    places |= {tensor[0]: name for tensor in part}
write("model.safetensors.index.json", {"metadata": {}, "weight_map": places})
write("config.json", {
    "model_type": "llama", "hidden_act": "silu", "hidden_size": WIDTH, "num_hidden_layers": layers,
    "intermediate_size": FEED_FORWARD, "num_attention_heads": HEADS, "num_key_value_heads": SHARED, "head_dim": HEAD,
    "rms_norm_eps": 1e-5, "vocab_size": VOCABULARY, "max_position_embeddings": 4096, "rope_theta": 10000.0,
    "tie_word_embeddings": True, "quantization": {"group_size": 64, "bits": 4}})
# The characters that stand for bytes in byte-level vocabularies.
characters, other = [], 0x100
for byte in range(256):
    if 0x21 <= byte <= 0x7E or 0xA1 <= byte <= 0xAC or byte > 0xAD:
        characters.append(chr(byte))
    else:
        characters.append(chr(other))
        other += 1
write("tokenizer.json", {
    "version": "1.0", "added_tokens": [], "normalizer": None, "post_processor": None,
    "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True}, "decoder": {"type": "ByteLevel"},
    "model": {"type": "BPE", "vocab": {text: index for index, text in enumerate(characters)}, "merges": []}})
