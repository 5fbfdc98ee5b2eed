#!/usr/bin/env python3
"""Measures MLX against llama.cpp on the same weights, one thread each, in ten interleaved pairs.

    scripts/mlx/speed.py PROBE FOLDER MODEL.gguf

The bars are those of the medians of the ratios: 0.25 for answers, 0.7 for prompts. Exit status 1 below them.
"""

import statistics
import subprocess
import sys

PAIRS = 10
# 256 tokens of any kind, and an answer of 48.
PROMPT = " ".join(str(1000 + 37 * number % 20000) for number in range(256)) + "\n"


def measure(probe, model):
    run = subprocess.run([probe, model, "1", "48"], input=PROMPT, capture_output=True, text=True, check=True)
    _, prefill, decode = run.stdout.strip().split("\t")
    return float(prefill), float(decode)


def main(probe, folder, model):
    pairs = [(measure(probe, folder), measure(probe, model)) for _ in range(PAIRS)]
    passed = True
    for index, (name, bar) in enumerate((("prefill", 0.7), ("decode", 0.25))):
        ratio = statistics.median(one[index] / other[index] for one, other in pairs)
        mine, theirs = (statistics.median(pair[side][index] for pair in pairs) for side in (0, 1))
        passed = passed and ratio >= bar
        print(f"{name}: {mine:.0f} tokens/s with MLX, {theirs:.0f} with llama.cpp, ratio {ratio:.2f} (bar {bar})")
    sys.exit(0 if passed else 1)


main(*sys.argv[1:])
