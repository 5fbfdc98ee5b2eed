#!/usr/bin/env python3
"""Imports the small models of models.py and compares each file with the original: weights, and answers of llama.cpp with those of mlx-lm.

    scripts/import/compare.py FOLDER IMPORTER ENGINE [NAME…]

IMPORTER FOLDER FILE writes a GGUF file, ENGINE FILE TOKENS LOGITS writes the logits of a text's tokens (engine.cpp). The
original is computed with weights, scales and biases as 32-bit floats. A line for each model:

    name  equal tensors of all  mean KL  same best token of all  seconds

Fails for a weight that differs by more than the form can lose, and for a mean KL above 0.01 (6 and 8 bits: 0.02).
"""

import importlib
import json
import os
import subprocess
import sys
import time

import gguf
import mlx.core as mx
import numpy as np
from mlx.utils import tree_flatten

folder, importer, engine = sys.argv[1:4]
PARTS = {
    "input_layernorm": "attn_norm", "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output", "self_attn.qkv_proj": "attn_qkv", "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
    "mlp.gate_up_proj": "ffn_up",
}


def weights_of(place):
    arrays = {}
    for name in sorted(os.listdir(place)):
        if name.endswith(".safetensors"):
            arrays |= mx.load(os.path.join(place, name))
    return arrays


def exact(place, configuration):
    """The weights as 32-bit floats, dequantized with scales and biases of 32 bits."""
    arrays, result = weights_of(place), {}
    default = configuration.get("quantization")
    for name, array in arrays.items():
        base, _, end = name.rpartition(".")
        if end in ("scales", "biases"):
            continue
        if end == "weight" and base + ".scales" in arrays:
            own = default.get(base)
            form = own if isinstance(own, dict) else default
            scales, biases = arrays[base + ".scales"], arrays.get(base + ".biases")
            if form.get("mode", "affine") == "mxfp4":
                array = mx.dequantize(array, scales, group_size=32, bits=4, mode="mxfp4", dtype=mx.float32)
            else:
                array = mx.dequantize(
                    array, scales.astype(mx.float32), biases.astype(mx.float32), group_size=form["group_size"],
                    bits=form["bits"])
        result[name] = array.astype(mx.float32)
    return result


def engine_name(name, kind):
    base, _, end = name.rpartition(".")
    top = {"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output"}.get(base)
    if top is None:
        _, _, layer, part = base.split(".", 3)
        gemma = kind.startswith("gemma")
        norms = {
            "post_attention_layernorm": "post_attention_norm" if gemma else "ffn_norm",
            "pre_feedforward_layernorm": "ffn_norm", "post_feedforward_layernorm": "post_ffw_norm"}
        top = f"blk.{layer}.{PARTS.get(part) or norms[part]}"
    return f"{top}.{end}"


def compare_weights(path, weights, configuration):
    """The number of tensors that are equal, of all; the largest difference relative to a block's largest weight."""
    file = {tensor.name: tensor for tensor in gguf.GGUFReader(path).tensors}
    kind = configuration["model_type"]
    heads, shared = configuration["num_attention_heads"], configuration["num_key_value_heads"]
    equal, worst = 0, 0.0
    for name, array in weights.items():
        tensor = file.pop(engine_name(name, kind))
        found = gguf.quants.dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
        wanted = np.array(array)
        if kind.startswith("gemma") and name.endswith("norm.weight"):
            wanted = wanted + np.float32(1)
        count = heads if ".q_proj." in name else shared if ".k_proj." in name else 0
        if count and kind in ("llama", "mistral", "smollm3"):
            wanted = wanted.reshape(count, 2, wanted.shape[0] // count // 2, -1).swapaxes(1, 2).reshape(wanted.shape)
        found = found.reshape(wanted.shape)
        # Both are scale * integer + bias; one of the two may compute it with a fused multiplication.
        near = np.abs(found - wanted) <= np.maximum(np.abs(wanted), 1e-3) * 2.0**-22
        equal += bool(near.all())
        if wanted.ndim == 2:
            blocks = np.abs(wanted).reshape(wanted.shape[0], -1, 32).max(2, keepdims=True)
            errors = np.abs(found - wanted).reshape(wanted.shape[0], -1, 32) / np.maximum(blocks, 1e-9)
            worst = max(worst, float(errors.max()))
        elif not near.all():
            raise SystemExit(f"{path}: {name} differs")
    left = [name for name in file if not name.startswith("rope_f")]
    if left:
        raise SystemExit(f"{path}: nothing has {left}")
    return equal, len(weights), worst


def logits_of(weights, configuration, ids):
    kind = configuration["model_type"]
    module = importlib.import_module(f"mlx_lm.models.{ {'mistral': 'llama'}.get(kind, kind)}")
    dense = {key: value for key, value in configuration.items() if not key.startswith("quantization")}
    model = module.Model(module.ModelArgs.from_dict(dense))
    if dense["tie_word_embeddings"] and "lm_head" in model:
        model.tie_word_embeddings = True
        model.pop("lm_head")
    model.load_weights(list(weights.items()))
    model.eval()
    with mx.stream(mx.cpu):
        return np.array(model(mx.array(ids)[None]).astype(mx.float32))[0]


def log_softmax(logits):
    shifted = logits - logits.max(1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(1, keepdims=True))


def main():
    ids = json.load(open(os.path.join(folder, "text.json")))
    tokens = os.path.join(folder, "text.txt")
    with open(tokens, "w") as file:
        file.write(" ".join(map(str, ids)))
    failed = False
    for name in sys.argv[4:] or sorted(os.listdir(folder)):
        place = os.path.join(folder, name)
        if not os.path.isdir(place):
            continue
        configuration = json.load(open(os.path.join(place, "config.json")))
        path = place + ".gguf"
        start = time.time()
        done = subprocess.run([importer, place, path], capture_output=True, text=True)
        if done.returncode:
            print(f"{name}: {done.stdout}{done.stderr}")
            failed = True
            continue
        weights = exact(place, configuration)
        equal, count, worst = compare_weights(path, weights, configuration)
        subprocess.run([engine, path, tokens, path + ".logits"], check=True)
        found = np.fromfile(path + ".logits", np.float32).reshape(len(ids), -1)
        os.remove(path + ".logits")
        wanted = logits_of(weights, configuration, ids)
        p, q = log_softmax(wanted.astype(np.float64)), log_softmax(found.astype(np.float64))
        divergence = float((np.exp(p) * (p - q)).sum(1).mean())
        same = int((wanted.argmax(1) == found.argmax(1)).sum())
        rounded = name.rpartition("-")[2] in ("6bit", "8bit", "mixed")
        good = divergence <= (0.02 if rounded else 0.01) and (rounded or equal == count) and worst < 1 / 200
        failed |= not good
        print(
            f"{name:16} {equal:3} of {count:3}  largest difference {worst:.5f}  KL {divergence:.6f}  "
            f"best token {same} of {len(ids)}  {time.time() - start:.1f} s{'' if good else '  FAILED'}", flush=True)
    sys.exit(failed)


main()
