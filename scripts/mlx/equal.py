#!/usr/bin/env python3
"""Compares the greedy answers of HearthMLX with those of mlx-lm, token for token, at 32-bit precision.

    scripts/mlx/equal.py PROBE MODELS FOLDER

MODELS has the small models of scripts/import/models.py: six families in three forms, four prompts each. FOLDER is a real model,
which gets twenty questions. Exit status 1 if an answer differs.
"""

import json
import os
import pathlib
import random
import subprocess
import sys

import mlx.core as mx
from mlx_lm.generate import generate_step
from mlx_lm.utils import load_model
from tokenizers import Tokenizer

FAMILIES = ["llama", "mistral", "qwen2", "qwen3", "gemma2", "gemma3"]
FORMS = ["bf16", "4bit", "8bit"]
COUNT = 64
QUESTIONS = [
    "What is the capital of France?", "Write one sentence about the sea.", "List three colours.", "What is 2+2?",
    "Say hello in German, then explain the word in five words.", "Who wrote Hamlet?", "Name a fruit that is yellow.",
    "How many legs has a spider?", "What is the opposite of cold?", "Give me a recipe for pancakes.",
    "Translate 'good night' into Spanish.", "Why is the sky blue?", "What day follows Monday?",
    "Write a short poem about autumn.", "What is a prime number?", "Name the largest planet.", "How do bees make honey?",
    "What does a carpenter do?", "Count from one to ten.", "Tell me a joke about a computer.",
]


def expected(folder, prompts):
    # Optional parts of a folder, such as a tokenizer, are not read.
    model, configuration = load_model(pathlib.Path(folder))
    model.set_dtype(mx.float32)
    end = configuration.get("eos_token_id")
    for prompt in prompts:
        answer = []
        for token, _ in generate_step(mx.array(prompt), model, max_tokens=COUNT):
            if int(token) == end:
                break
            answer.append(int(token))
        yield answer


def answered(probe, folder, prompts):
    lines = "".join(" ".join(map(str, prompt)) + "\n" for prompt in prompts)
    run = subprocess.run([probe, folder, "2", str(COUNT)], input=lines, capture_output=True, text=True, check=True)
    return [list(map(int, line.split("\t")[0].split())) for line in run.stdout.splitlines()]


def compare(probe, folder, prompts):
    same = 0
    for prompt, one, other in zip(prompts, expected(folder, prompts), answered(probe, folder, prompts), strict=True):
        same += one == other
        if one != other:
            place = next((i for i, pair in enumerate(zip(one, other)) if pair[0] != pair[1]), min(len(one), len(other)))
            print(f"{folder}: a prompt of {len(prompt)} tokens differs at {place}", flush=True)
    return same


def main(probe, models, folder):
    choices = random.Random(5)
    with open(os.path.join(models, "text.json"), encoding="utf-8") as file:
        text = json.load(file)
    prompts = []
    for length in (5, 40, 300, 700):
        start = choices.randrange(len(text) - length)
        prompts.append(text[start:start + length])
    same = sum(
        compare(probe, os.path.join(models, f"{family}-{form}"), prompts) for family in FAMILIES for form in FORMS)
    total = len(FAMILIES) * len(FORMS) * len(prompts)
    print(f"families: {same} of {total} answers of {COUNT} tokens are mlx-lm's", flush=True)
    tokenizer = Tokenizer.from_file(os.path.join(folder, "tokenizer.json"))
    asked = [
        tokenizer.encode(f"<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n").ids
        for question in QUESTIONS
    ]
    real = compare(probe, folder, asked)
    print(f"SmolLM2: {real} of {len(asked)} answers of {COUNT} tokens are mlx-lm's", flush=True)
    sys.exit(0 if same == total and real == len(asked) else 1)


main(*sys.argv[1:])
