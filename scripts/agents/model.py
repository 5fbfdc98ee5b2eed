#!/usr/bin/env python3
"""Writes a model of one layer that answers every prompt with "ok", with the vocabulary and the template of another one.

    scripts/agents/model.py SmolLM2-135M-Instruct.Q4_1.gguf ok.gguf [BYTES]

It reads 32,768 tokens, and keeps so many bytes of each, at least 128 (default 128). Each token but one points to the token
"ok", and "ok" points to the end of the answer; what stands before them changes nothing, because the layer adds nothing.
"""
import os
import sys

import gguf
import numpy as np

WIDTH, CONTEXT = 64, 32768
source, target = sys.argv[1:3]
# A key and a value of 2 bytes each.
HEAD = int(sys.argv[3] if len(sys.argv) > 3 else 128) // 4
default = gguf.GGUFReader(source)
texts = default.fields["tokenizer.ggml.tokens"].contents()
word = texts.index("ok")
end = default.fields["tokenizer.ggml.eos_token_id"].contents()

file = gguf.GGUFWriter(target + ".tmp", "llama")
file.add_string("general.name", "says ok")
for key, value in {
    "context_length": CONTEXT, "embedding_length": WIDTH, "block_count": 1, "vocab_size": len(texts),
    "feed_forward_length": WIDTH, "attention.head_count": 1, "attention.head_count_kv": 1,
    "attention.key_length": HEAD, "attention.value_length": HEAD, "rope.dimension_count": HEAD,
}.items():
    file.add_uint32(f"llama.{key}", value)
file.add_float32("llama.attention.layer_norm_rms_epsilon", 1e-5)
file.add_float32("llama.rope.freq_base", 10000.0)
for field in default.fields.values():
    if field.name.startswith("tokenizer."):
        if field.types[0] == gguf.GGUFValueType.ARRAY:
            file.add_key_value(field.name, field.contents(), gguf.GGUFValueType.ARRAY, field.types[-1])
        else:
            file.add_key_value(field.name, field.contents(), field.types[0])

embedding = np.zeros((len(texts), WIDTH), np.float16)
embedding[:, 0] = 1
embedding[word] = 0
embedding[word, 1] = 1
output = np.zeros((len(texts), WIDTH), np.float16)
output[word, 0] = output[end, 1] = 8
file.add_tensor("token_embd.weight", embedding)
file.add_tensor("output.weight", output)
file.add_tensor("output_norm.weight", np.ones(WIDTH, np.float32))
for name in ("ffn_gate", "ffn_up", "ffn_down"):
    file.add_tensor(f"blk.0.{name}.weight", np.zeros((WIDTH, WIDTH), np.float32))
for name in ("attn_q", "attn_k", "attn_v"):
    file.add_tensor(f"blk.0.{name}.weight", np.zeros((HEAD, WIDTH), np.float32))
file.add_tensor("blk.0.attn_output.weight", np.zeros((WIDTH, HEAD), np.float32))
for name in ("attn_norm", "ffn_norm"):
    file.add_tensor(f"blk.0.{name}.weight", np.ones(WIDTH, np.float32))
file.write_header_to_file()
file.write_kv_data_to_file()
file.write_tensors_to_file()
file.close()
os.replace(target + ".tmp", target)
