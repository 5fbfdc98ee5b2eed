#!/usr/bin/env python3
"""Imports vision models of Gemma 3's and Qwen 2.5 VL's form, and asks each about a picture.

    scripts/import/seeing.py HEARTH MODELS

Their text halves are the small models of models.py, their towers are random. Exit status 1 if an import fails, if the engine
cannot load a projector, or if a picture adds another number of tokens to a prompt than the tower makes of it.
"""

import json
import os
import struct
import subprocess
import sys
import tempfile
import zlib

import mlx.core as mx

WIDTH, DEEP, LAYERS = 64, 128, 2
# The pixels of a side, those of a patch, and the tokens of a picture of that size, with the marks around it.
GEMMA = {"image": 112, "patch": 14, "tokens": 16}
QWEN = {"image": 112, "patch": 14, "tokens": 16}


def picture(path, side):
    """A PNG file with a gradient."""
    rows = b"".join(b"\0" + bytes(v for x in range(side) for v in (x * 255 // side, y * 255 // side, 64)) for y in range(side))
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0))
                   + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def noise(*shape):
    return (0.05 * mx.random.normal(shape)).astype(mx.bfloat16)


def linear(weights, name, rows, columns):
    weights[f"{name}.weight"], weights[f"{name}.bias"] = noise(rows, columns), noise(rows)


def norm(weights, name, width=WIDTH, bias=True):
    weights[f"{name}.weight"] = mx.ones((width,), mx.bfloat16)
    if bias:
        weights[f"{name}.bias"] = noise(width)


def gemma(text):
    weights, tower = {}, "vision_tower.vision_model"
    patch, side = GEMMA["patch"], GEMMA["image"] // GEMMA["patch"]
    weights[f"{tower}.embeddings.patch_embedding.weight"] = noise(WIDTH, patch, patch, 3)
    weights[f"{tower}.embeddings.patch_embedding.bias"] = noise(WIDTH)
    weights[f"{tower}.embeddings.position_embedding.weight"] = noise(side * side, WIDTH)
    for layer in range(LAYERS):
        block = f"{tower}.encoder.layers.{layer}"
        for part in ("layer_norm1", "layer_norm2"):
            norm(weights, f"{block}.{part}")
        for part in ("q_proj", "k_proj", "v_proj", "out_proj"):
            linear(weights, f"{block}.self_attn.{part}", WIDTH, WIDTH)
        linear(weights, f"{block}.mlp.fc1", DEEP, WIDTH)
        linear(weights, f"{block}.mlp.fc2", WIDTH, DEEP)
    norm(weights, f"{tower}.post_layernorm")
    weights["multi_modal_projector.mm_input_projection_weight"] = noise(WIDTH, text["hidden_size"])
    norm(weights, "multi_modal_projector.mm_soft_emb_norm", bias=False)
    return {
        "model_type": "gemma3", "text_config": text, "mm_tokens_per_image": GEMMA["tokens"],
        "vision_config": {"hidden_size": WIDTH, "num_hidden_layers": LAYERS, "intermediate_size": DEEP, "patch_size": patch,
                          "image_size": GEMMA["image"], "num_attention_heads": 4, "model_type": "siglip_vision_model"},
    }, weights


def qwen(text):
    weights, patch = {}, QWEN["patch"]
    weights["vision_tower.patch_embed.proj.weight"] = noise(WIDTH, 2, patch, patch, 3)
    for layer in range(LAYERS):
        block = f"vision_tower.blocks.{layer}"
        for part in ("norm1", "norm2"):
            norm(weights, f"{block}.{part}", bias=False)
        linear(weights, f"{block}.attn.qkv", 3 * WIDTH, WIDTH)
        linear(weights, f"{block}.attn.proj", WIDTH, WIDTH)
        for part, rows, columns in (("gate_proj", DEEP, WIDTH), ("up_proj", DEEP, WIDTH), ("down_proj", WIDTH, DEEP)):
            linear(weights, f"{block}.mlp.{part}", rows, columns)
    norm(weights, "vision_tower.merger.ln_q", bias=False)
    linear(weights, "vision_tower.merger.mlp.0", 4 * WIDTH, 4 * WIDTH)
    linear(weights, "vision_tower.merger.mlp.2", text["hidden_size"], 4 * WIDTH)
    half = text["hidden_size"] // text["num_attention_heads"] // 2
    return text | {
        "model_type": "qwen2_5_vl",
        "rope_scaling": {"type": "mrope", "mrope_section": [half - 2 * (half * 3 // 8), half * 3 // 8, half * 3 // 8]},
        "vision_config": {"hidden_size": WIDTH, "depth": LAYERS, "intermediate_size": DEEP, "patch_size": patch, "num_heads": 4,
                          "out_hidden_size": text["hidden_size"], "spatial_merge_size": 2, "temporal_patch_size": 2,
                          "window_size": 112, "fullatt_block_indexes": [1], "model_type": "qwen2_5_vl"},
    }, weights


def make(folder, origin, tower):
    os.makedirs(folder)
    with open(os.path.join(origin, "config.json"), encoding="utf-8") as file:
        configuration, weights = tower(json.load(file))
    for name, array in mx.load(os.path.join(origin, "model.safetensors")).items():
        weights[f"language_model.{name}"] = array
    mx.save_safetensors(os.path.join(folder, "model.safetensors"), weights, metadata={"format": "mlx"})
    with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
        json.dump(configuration, file)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        os.link(os.path.join(origin, name), os.path.join(folder, name))


def tokens(hearth, environment, family, *image):
    run = subprocess.run(
        [hearth, "chat", family, "--format", "json", "--max-tokens", "4", *image, "--prompt", "Say hello."],
        env=environment, capture_output=True, text=True, timeout=300)
    if run.returncode != 0:
        raise SystemExit(f"{family}: chat {image}: {run.returncode} {run.stderr}")
    return json.loads(run.stdout.strip().splitlines()[-1])["usage"]["promptTokens"]


def main(hearth, models):
    mx.random.seed(7)
    with tempfile.TemporaryDirectory(dir=models) as work:
        environment = {**os.environ, "HEARTH_HOME": os.path.join(work, "home"), "HEARTH_ORIGIN": "", "NO_PROXY": "*"}
        image = os.path.join(work, "picture.png")
        picture(image, 112)
        for family, origin, tower in (("seeing-gemma", "gemma3-bf16", gemma), ("seeing-qwen", "qwen2-bf16", qwen)):
            folder = os.path.join(work, family)
            make(folder, os.path.join(models, origin), tower)
            run = subprocess.run([hearth, "import", folder, "--no-probe", "--quiet"], env=environment, capture_output=True, text=True)
            if run.returncode != 0:
                raise SystemExit(f"{family}: import: {run.returncode} {run.stderr}")
            added = tokens(hearth, environment, family, "--image", image) - tokens(hearth, environment, family)
            print(f"{family}: a picture is {added} tokens", flush=True)
            # The marks around a picture are words that the small tokenizer cuts into pieces.
            if not 16 <= added < 60:
                sys.exit(1)


main(*sys.argv[1:])
