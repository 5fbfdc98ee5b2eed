#!/usr/bin/env python3
"""Measures the answers of a model imported from 8 bits against a GGUF file of the same weights and bits, in ten interleaved pairs.

    scripts/import/decode.py FOLDER MODEL.gguf IMPORTER DECODER WORK

FOLDER is MODEL.gguf in MLX's form (scripts/mlx/folder.py). DECODER is the program of decode.cpp. Where an import equals its GGUF
file to the byte, as with 4 bits, nothing is measured. Exit status 1 below 0.95.
"""

import json
import os
import shutil
import statistics
import subprocess
import sys

import mlx.core as mx

PAIRS, TOKENS = 10, 96
folder, model, importer, decoder, work = sys.argv[1:6]


def eight_bits(place):
    """The folder again, its weights in 8 bits and groups of 32."""
    os.makedirs(place)
    with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
        configuration = json.load(file)
    forms = configuration["quantization"]
    arrays, written = mx.load(os.path.join(folder, "model.safetensors")), {}
    for name, array in arrays.items():
        base, _, end = name.rpartition(".")
        if end in ("scales", "biases"):
            continue
        if end == "weight" and f"{base}.scales" in arrays:
            form = forms.get(base, forms)
            dense = mx.dequantize(array, arrays[f"{base}.scales"], arrays[f"{base}.biases"],
                                  group_size=form["group_size"], bits=form["bits"])
            for part, value in zip(("weight", "scales", "biases"), mx.quantize(dense, group_size=32, bits=8), strict=True):
                written[f"{base}.{part}"] = value
        else:
            written[name] = array
    mx.save_safetensors(os.path.join(place, "model.safetensors"), written, metadata={"format": "mlx"})
    configuration["quantization"] = configuration["quantization_config"] = {"group_size": 32, "bits": 8}
    with open(os.path.join(place, "config.json"), "w", encoding="utf-8") as file:
        json.dump(configuration, file)
    for name in os.listdir(folder):
        if not name.endswith(".safetensors") and name != "config.json":
            shutil.copy(os.path.join(folder, name), place)


def rate(file):
    return float(subprocess.run([decoder, file, str(TOKENS)], check=True, capture_output=True, text=True).stdout)


eight, mine, theirs = (os.path.join(work, name) for name in ("eight-bits", "imported.gguf", "quantized.gguf"))
eight_bits(eight)
subprocess.run([importer, eight, mine], check=True, stdout=subprocess.DEVNULL)
subprocess.run([decoder, model, "-o", theirs], check=True)
rate(mine), rate(theirs)
pairs = [(rate(mine), rate(theirs)) for _ in range(PAIRS)]
ratio = statistics.median(one / other for one, other in pairs)
print(f"answers of 8 bits: {statistics.median(one for one, _ in pairs):.0f} tokens/s imported, "
      f"{statistics.median(other for _, other in pairs):.0f} as GGUF, ratio {ratio:.2f} (bar 0.95)")
sys.exit(0 if ratio >= 0.95 else 1)
