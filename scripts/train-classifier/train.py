#!/usr/bin/env python3
"""Trains the character classifier hearth-hanzi, measures it and writes its files. Run with scripts/classify/run.sh.

    train-classifier.py --into FOLDER [--quick] [--date YYYY-MM-DD] [--variants FOLDER]
    train-classifier.py --measure FOLDER

--into      receives model.onnx, classes.txt, classifier.json and canary.png; exit status 1 if a bar is missed
--quick     a few minutes of training, to try a change of the scripts
--date      the day of the training, as the files tell it; today by default
--variants  receives the same network with opset 11 and 13, and with weights of 8 bits, for tests
--weights   a file of torch's weights from a folder of variants, in place of training
--measure   measures the files of a folder without training
"""

import argparse
import datetime
import json
import os
import sys
import tempfile
import time

import numpy as np
import torch
from torch.nn import functional

import bars
import characters
import glyphs
import network
import release
import variation

SEED = 972
STEPS, QUICK_STEPS = 2000, 300
# Of each batch, so many pictures are of the classes and so many of the background.
KNOWN, BACKGROUND = 208, 48
BACKGROUND_WEIGHT = 0.3
RATE = 4e-3

began = time.monotonic()


def say(text):
    print(f"{time.monotonic() - began:7.1f} s  {text}", flush=True)


def batches(count, size):
    """Indices of all glyphs in turn, in a new order each time."""
    order = torch.empty(0, dtype=torch.long)
    while True:
        while len(order) < size:
            order = torch.cat([order, torch.randperm(count)])
        yield order[:size]
        order = order[size:]


def train(steps):
    """A network that knows the classes and is unsure about everything else."""
    # The steps are so small that threads would wait for each other; and one thread gives the same weights on every machine.
    torch.set_num_threads(1)
    known, labels, other = (torch.from_numpy(array) for array in glyphs.load(say))
    torch.manual_seed(SEED)
    model = network.Network(characters.COUNT).train().to(memory_format=torch.channels_last)
    parameters = sum(value.numel() for value in model.parameters())
    say(f"{parameters} parameters, {steps} steps of {KNOWN} + {BACKGROUND} pictures")
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.02)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=steps, pct_start=0.15, final_div_factor=1e3)
    next_known, next_other = batches(len(known), KNOWN), batches(len(other), BACKGROUND)
    losses = []
    for step in range(1, steps + 1):
        chosen, beside = next(next_known), next(next_other)
        mixed = torch.randperm(KNOWN + BACKGROUND)
        pictures = variation.batch(torch.cat([known[chosen], other[beside]])[mixed], network.SIZE)
        is_known = mixed < KNOWN
        logits = model(pictures.contiguous(memory_format=torch.channels_last))
        loss = functional.cross_entropy(logits[is_known], labels[chosen][mixed[is_known]])
        # Outside the list, all classes are equally likely (Hendrycks et al., Outlier Exposure, 2019).
        unsure = -functional.log_softmax(logits[~is_known], 1).mean() - np.log(characters.COUNT)
        optimizer.zero_grad(set_to_none=True)
        (loss + BACKGROUND_WEIGHT * unsure).backward()
        optimizer.step()
        schedule.step()
        losses.append((loss.item(), unsure.item()))
        if step % (steps // 20) == 0:
            recent = np.mean(losses[-(steps // 20):], axis=0)
            say(f"step {step}: loss {recent[0]:.3f}, background {recent[1]:.3f}")
    return model.eval().to(memory_format=torch.contiguous_format)


def stored(path):
    model = network.Network(characters.COUNT)
    model.load_state_dict(torch.load(path, weights_only=True))
    return model.eval()


def make(options, folder):
    """Trains, calibrates, writes and measures; returns the bars that are missed."""
    pictures = 1500 if options.quick else 3000
    model = stored(options.weights) if options.weights else train(QUICK_STEPS if options.quick else STEPS)
    os.makedirs(options.into, exist_ok=True)
    os.makedirs(folder, exist_ok=True)
    torch.save(model.state_dict(), os.path.join(folder, "weights.pt"))
    path = os.path.join(options.into, "model.onnx")
    release.export(model, path, release.OPSET, {})
    temperature = bars.calibrated(bars.Classifier(path), pictures, say)
    release.write(model, temperature, options.date, options.into)
    missed = bars.test(bars.Classifier(path), temperature, pictures, say)
    return missed + release.variants(model, path, folder, say)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verb = parser.add_mutually_exclusive_group(required=True)
    verb.add_argument("--into")
    verb.add_argument("--measure")
    parser.add_argument("--date", default=datetime.datetime.now(datetime.timezone.utc).date().isoformat())
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--variants")
    parser.add_argument("--weights")
    options = parser.parse_args()
    if options.measure:
        with open(os.path.join(options.measure, "classifier.json")) as file:
            temperature = json.load(file)["temperature"]
        missed = bars.test(bars.Classifier(os.path.join(options.measure, "model.onnx")), temperature, 3000, say)
    elif options.variants:
        missed = make(options, options.variants)
    else:
        with tempfile.TemporaryDirectory() as folder:
            missed = make(options, folder)
    say("all bars are held" if not missed else f"{len(missed)} bars are missed: {'; '.join(missed)}")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
