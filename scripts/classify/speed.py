#!/usr/bin/env python3
"""speed.py HEARTH BENCH MODEL CELLS PAGE: how fast the built program and an app classify, and what memory it takes.

HEARTH is the program, BENCH the built HearthPictureBench, MODEL an .onnx file with classifier.json and classes.txt beside it, CELLS a
folder of pictures and PAGE a scan of 200 characters (scripts/classify/pictures.py makes both). Figures are medians with the
smallest and largest; SPEED_PAIRS (7) sets how often. Exit status 1 if a bar is missed.
"""
import glob
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnxruntime
from PIL import Image

PAIRS = int(os.environ.get("SPEED_PAIRS", "7"))
missed = []


def bar(name, value, text, is_held):
    print(f"{'held  ' if is_held else 'MISSED'}  {name}: {text}", flush=True)
    if not is_held:
        missed.append(name)


def spread(values, form="{:.0f}"):
    return f"{form.format(statistics.median(values))} ({form.format(min(values))} to {form.format(max(values))})"


class Ours:
    """An app's process with the classifier loaded."""

    def __init__(self, bench, model, threads, files):
        self.process = subprocess.Popen([bench, model, str(threads), *files], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.rate(1, 8)

    def rate(self, batch, count):
        self.process.stdin.write(f"{batch} {count}\n")
        self.process.stdin.flush()
        return count / float(self.process.stdout.readline())

    def end(self):
        self.process.stdin.close()
        self.process.wait()


class Bound:
    """The same network in onnxruntime, with buffers that are bound once: nothing but the network is computed."""

    def __init__(self, model, threads, batch, data):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        self.session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        self.batch = batch
        self.input = np.ascontiguousarray(data[:batch])
        name = self.session.get_inputs()[0].name
        output = self.session.get_outputs()[0].name
        width = self.session.run(None, {name: self.input})[0].shape[1]
        self.output = np.zeros((batch, width), np.float32)
        self.binding = self.session.io_binding()
        self.binding.bind_input(name, "cpu", 0, np.float32, self.input.shape, self.input.ctypes.data)
        self.binding.bind_output(output, "cpu", 0, np.float32, self.output.shape, self.output.ctypes.data)
        self.rate(8 * batch)

    def rate(self, count):
        began = time.perf_counter()
        for _ in range(0, count, self.batch):
            self.session.run_with_iobinding(self.binding)
        return count / (time.perf_counter() - began)


def throughput(bench, model, files, settings, folder):
    """Pictures of the network's own size on both sides: ours are not scaled either, but ranked."""
    wide = settings["input"]["width"]
    pixels = np.stack([np.asarray(Image.open(file).convert("L").resize((wide, wide), Image.BOX)) for file in files[:32]])
    data = ((pixels.astype(np.float32) - np.float32(settings["input"]["mean"][0])) * np.float32(settings["input"]["scale"][0]))[:, None]
    scaled = [os.path.join(folder, f"{number}.png") for number in range(len(pixels))]
    for name, picture in zip(scaled, pixels):
        Image.fromarray(picture).save(name)
    for threads in (1, 2):
        ours = Ours(bench, model, threads, scaled)
        for batch in (1, 32):
            peer = Bound(model, threads, batch, data)
            # About a second for each side.
            count = max(batch, int(peer.rate(64 * batch)) // batch * batch)
            pairs = []
            for turn in range(PAIRS):
                sides = {}
                for side in ("ours", "peer") if turn % 2 == 0 else ("peer", "ours"):
                    sides[side] = ours.rate(batch, count) if side == "ours" else peer.rate(count)
                pairs.append(sides)
            ratios = [pair["ours"] / pair["peer"] for pair in pairs]
            bar(f"{threads} threads, batch {batch}", ratios,
                f"{spread([pair['ours'] for pair in pairs])} pictures a second, onnxruntime {spread([pair['peer'] for pair in pairs])}, "
                f"ratio {spread(ratios, '{:.2f}')}, at least 0.9", statistics.median(ratios) >= 0.9)
        ours.end()


def install(hearth, model, folder, environment):
    """Publishes the classifier and pulls it into the home."""
    source = os.path.dirname(model)
    release = os.path.join(folder, "hanzi-v1.0.0.onnx")
    shutil.copy(model, release)
    parts = [os.path.join(source, name) for name in ("classifier.json", "classes.txt", "canary.png")]
    origin = os.path.join(folder, "origin")
    subprocess.run([hearth, "publish", release, *parts, "--to", origin], env=environment, check=True, capture_output=True)
    environment = {**environment, "HEARTH_ORIGIN": os.path.join(origin, "models.json"), "HEARTH_NETWORK": "unmetered"}
    subprocess.run([hearth, "pull", "hanzi"], env=environment, check=True, capture_output=True)


def first_label(hearth, model, environment):
    """From the start of the program to its first line, with a file and with an installed classifier."""
    picture = os.path.join(os.path.dirname(model), "canary.png")
    for name, words in (("start", ["--model", model]), ("start of an installed classifier", [])):
        times = []
        for _ in range(2 * PAIRS + 1):
            began = time.perf_counter()
            process = subprocess.Popen([hearth, "classify", *words, picture], stdout=subprocess.PIPE, env=environment)
            assert process.stdout.readline()
            times.append(1000 * (time.perf_counter() - began))
            process.communicate()
        bar(name, times, f"{spread(times)} ms to the first label, at most 300", statistics.median(times) <= 300)


def page_of_crops(hearth, model, page, environment):
    """The crops of a page as the program reads them: from the page that is cut to the last character, and all of it."""
    crops, whole = [], []
    for _ in range(PAIRS):
        began = time.perf_counter()
        process = subprocess.Popen(
            [hearth, "classify", "--model", model, "--decode", "--format", "json", page], stdout=subprocess.PIPE, text=True, env=environment)
        cut = end = None
        count = 0
        for line in process.stdout:
            event = json.loads(line)["event"]
            if event == "page":
                cut = time.perf_counter()
            if event == "character":
                count, end = count + 1, time.perf_counter()
        assert process.wait() == 0 and count == 200, count
        crops.append(1000 * (end - cut))
        whole.append(1000 * (time.perf_counter() - began))
    bar("crops", crops, f"{spread(crops)} ms for the 200 crops of a page, at most 1000; {spread(whole)} ms with start, decoding and cutting",
        statistics.median(crops) <= 1000)


def memory(hearth, model, files, environment):
    """The resident memory of one process that classifies 100,000 pictures."""
    with tempfile.TemporaryDirectory() as folder:
        # Short names: the system bounds the length of a command line.
        names = [f"{number}.png" for number in range(100)]
        for name, file in zip(names, files):
            os.symlink(os.path.abspath(file), os.path.join(folder, name))
        count = 100_000
        began = time.perf_counter()
        process = subprocess.Popen(
            [hearth, "classify", "--model", os.path.abspath(model), "--top", "1", "--format", "json", *(names * (count // 100))], stdout=subprocess.PIPE,
            env=environment, cwd=folder)
        resident, lines = [], 0
        for _ in process.stdout:
            lines += 1
            if lines % 1000 == 0:
                with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
                    found = [line for line in file if line.startswith("VmRSS")]
                if found:
                    resident.append(int(found[0].split()[1]) / 1024)
        assert process.wait() == 0 and lines == count, lines
        rate = count / (time.perf_counter() - began)
    early, late = max(resident[5:20]), max(resident[-15:])
    bar("memory", resident, f"{early:.1f} MiB after 20,000 pictures, {late:.1f} MiB after {count:,} ({rate:.0f} files a second, decoded and printed), "
        "at most 2 % more", late <= 1.02 * early)


def main():
    hearth, bench, model, cells, page = sys.argv[1:]
    files = sorted(glob.glob(os.path.join(cells, "*.png")))
    with open(os.path.join(os.path.dirname(model), "classifier.json"), encoding="utf-8") as file:
        settings = json.load(file)
    print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} processors, {PAIRS} pairs")
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "HEARTH_HOME": home + "/home"}
        install(hearth, model, home, environment)
        first_label(hearth, model, environment)
        page_of_crops(hearth, model, page, environment)
        throughput(bench, model, files, settings, home)
        memory(hearth, model, files, environment)
    print(f"load {os.getloadavg()[0]:.1f} at the end; " + (f"missed: {', '.join(missed)}" if missed else "all bars are held"))
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
