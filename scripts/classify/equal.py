#!/usr/bin/env python3
"""equal.py HEARTH COUNT MODEL CELLS: classifies COUNT pictures with `hearth classify` and with onnxruntime, and compares the likeliest
classes and their probabilities: random pictures and networks, then the trained MODEL with the test pictures in CELLS
(scripts/classify/pictures.py cells). Each network in several versions of ONNX's operators and with weights of
8 bits; with activations of 8 bits it must be refused."""
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, quantize_static
from PIL import Image

SIDE, CLASSES, SEED = 32, 100, 27
MEAN, SCALE = 127.5, 1 / 127.5
OPSETS = (11, 13, 17)


def network(path, opset, random):
    """Two convolutions with a pooling between them, then the classes."""
    def constant(name, *shape):
        scale = 1 / np.sqrt(np.prod(shape[1:]) if len(shape) > 1 else shape[0])
        return numpy_helper.from_array((random.standard_normal(shape) * scale * 2).astype(np.float32), name)
    nodes = [
        helper.make_node("Conv", ["x", "k1", "b1"], ["c1"], kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c1"], ["r1"]),
        helper.make_node("MaxPool", ["r1"], ["p1"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Conv", ["p1", "k2", "b2"], ["c2"], kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c2"], ["r2"]),
        helper.make_node("MaxPool", ["r2"], ["p2"], kernel_shape=[4, 4], strides=[4, 4]),
        helper.make_node("Flatten", ["p2"], ["f"], axis=1),
        helper.make_node("Gemm", ["f", "w", "b"], ["y"]),
    ]
    constants = [constant("k1", 16, 1, 3, 3), constant("b1", 16), constant("k2", 32, 16, 3, 3), constant("b2", 32),
                 constant("w", 32 * 16, CLASSES), constant("b", CLASSES)]
    graph = helper.make_graph(
        nodes, "equal", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 1, SIDE, SIDE])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", CLASSES])], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, path)


def weights_of_eight_bits(path, other):
    """The same network with its weights rounded to 8 bits, by output channel."""
    model = onnx.load(path)
    constants, nodes = [], []
    for constant in model.graph.initializer:
        weights = numpy_helper.to_array(constant)
        if weights.ndim < 2 or weights.dtype != np.float32:
            constants.append(constant)
            continue
        largest = np.abs(weights).reshape(len(weights), -1).max(axis=1)
        scale = (np.maximum(largest, 1e-12) / 127).astype(np.float32)
        rounded = np.rint(weights / scale.reshape(-1, *[1] * (weights.ndim - 1))).astype(np.int8)
        parts = {"whole": rounded, "scale": scale, "zero": np.zeros(len(scale), np.int8)}
        constants += [numpy_helper.from_array(value, f"{constant.name} {part}") for part, value in parts.items()]
        nodes.append(helper.make_node("DequantizeLinear", [f"{constant.name} {part}" for part in parts], [constant.name], axis=0))
    nodes += model.graph.node
    del model.graph.initializer[:], model.graph.node[:]
    model.graph.initializer.extend(constants)
    model.graph.node.extend(nodes)
    onnx.checker.check_model(model)
    onnx.save(model, other)


class Pictures(CalibrationDataReader):
    def __init__(self, name, inputs):
        self.rest = iter([{name: part} for part in inputs])

    def get_next(self):
        return next(self.rest, None)


def eight_bits(path, other, name, inputs):
    quantize_static(path, other, Pictures(name, inputs[:64, None]), quant_format=QuantFormat.QDQ, per_channel=True, reduce_range=True)


def softmax(logits):
    exponents = np.exp(logits.astype(np.float64) - logits.max(axis=1, keepdims=True))
    return exponents / exponents.sum(axis=1, keepdims=True)


class Comparison:
    """Pictures as files and as a network's input, and the classes in the order of its output."""

    def __init__(self, hearth, folder, pictures, labels, settings):
        self.hearth, self.folder, self.labels = hearth, folder, labels
        self.count, self.missed = len(pictures), []
        self.temperature = settings.get("temperature", 1)
        mean, scale = np.float32(np.ravel(settings["input"]["mean"])[0]), np.float32(np.ravel(settings["input"]["scale"])[0])
        self.inputs = ((pictures.astype(np.float32) - mean) * scale)[:, None]
        self.files = []
        for number, pixels in enumerate(pictures):
            self.files.append(f"{folder}/{number}.png")
            Image.fromarray(pixels).save(self.files[-1])

    def peer(self, path):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        return softmax(session.run(None, {session.get_inputs()[0].name: self.inputs})[0] / np.float32(self.temperature))

    def ours(self, path):
        found = []
        for start in range(0, self.count, 200):
            result = subprocess.run(
                [self.hearth, "classify", "--model", path, "--top", "5", "--format", "json", *self.files[start:start + 200]],
                capture_output=True, text=True, env={**os.environ, "HEARTH_HOME": f"{self.folder}/home"})
            if result.returncode != 0:
                raise RuntimeError(result.stderr.strip())
            found += [json.loads(line)["candidates"] for line in result.stdout.splitlines()]
        return found

    def compare(self, name, path, limit=1e-4):
        """The labels of this device."""
        try:
            found = self.ours(path)
        except RuntimeError as error:
            print(f"{name}: {error}", flush=True)
            self.missed.append(name)
            return None
        expected = self.peer(path)
        places = {label: place for place, label in enumerate(self.labels)}
        same, worst = 0, 0.0
        for candidates, row in zip(found, expected):
            same += candidates[0]["label"] == self.labels[int(row.argmax())]
            for candidate in candidates:
                worst = max(worst, abs(candidate["confidence"] - row[places[candidate["label"]]]))
        print(f"{name}: {same} of {self.count} likeliest classes are the same, probabilities differ by at most {worst:.1e}", flush=True)
        if len(found) != self.count or same < self.count or worst > limit:
            self.missed.append(name)
        return [candidates[0]["label"] for candidates in found]

    def refuse(self, name, path):
        result = subprocess.run(
            [self.hearth, "classify", "--model", path, self.files[0]],
            capture_output=True, text=True, env={**os.environ, "HEARTH_HOME": f"{self.folder}/home"})
        print(f"{name}: {result.stderr.strip()}", flush=True)
        if result.returncode == 0 or "[classifier-unsupported]" not in result.stderr or "QuantizeLinear" not in result.stderr:
            self.missed.append(name)


def random_networks(hearth, count):
    random = np.random.default_rng(SEED)
    settings = {"format": 1, "output": "logits",
                "input": {"width": SIDE, "height": SIDE, "layout": "nchw", "channels": "grey", "mean": MEAN, "scale": SCALE}}
    labels = [f"class {number}" for number in range(CLASSES)]
    with tempfile.TemporaryDirectory() as folder:
        comparison = Comparison(hearth, folder, random.integers(0, 256, (count, SIDE, SIDE), dtype=np.uint8), labels, settings)
        with open(f"{folder}/classifier.json", "w") as file:
            json.dump(settings, file)
        with open(f"{folder}/classes.txt", "w") as file:
            file.write("\n".join(labels))
        for opset in OPSETS:
            path = f"{folder}/opset{opset}.onnx"
            network(path, opset, np.random.default_rng(SEED))
            comparison.compare(f"random weights, opset {opset}", path)
        weights_of_eight_bits(f"{folder}/opset13.onnx", f"{folder}/weights8.onnx")
        comparison.compare("random weights of 8 bits", f"{folder}/weights8.onnx")
        eight_bits(f"{folder}/opset13.onnx", f"{folder}/int8.onnx", "x", comparison.inputs)
        comparison.refuse("random activations of 8 bits", f"{folder}/int8.onnx")
        return comparison.missed


def trained_network(hearth, count, model, cells):
    source = os.path.dirname(model)
    with open(f"{source}/classifier.json", encoding="utf-8") as file:
        settings = json.load(file)
    side = settings["input"]["width"]
    with open(f"{source}/classes.txt", encoding="utf-8") as file:
        labels = [chr(int(line, 16)) for line in file.read().split()]
    # Scaled before: the two sides would scale in two ways.
    files = sorted(glob.glob(f"{cells}/*.png"))[:count]
    pictures = np.stack([np.asarray(Image.open(file).convert("L").resize((side, side), Image.BOX)) for file in files])
    truth = [chr(int(os.path.basename(file).split("-")[1][:-4], 16)) for file in files]
    with tempfile.TemporaryDirectory() as folder:
        comparison = Comparison(hearth, folder, pictures, labels, settings)
        for name in ("classifier.json", "classes.txt", "canary.png"):
            shutil.copy(f"{source}/{name}", folder)
        answers = {}
        for opset in OPSETS:
            # The operators of this network mean the same in all of these versions, of which the checker knows the attributes: up to 13,
            # a normalisation of one output is one that does not train.
            graph = onnx.load(model)
            graph.opset_import[0].version = opset
            for node in graph.graph.node if opset < 14 else []:
                kept = [attribute for attribute in node.attribute if attribute.name != "training_mode"]
                del node.attribute[:]
                node.attribute.extend(kept)
            onnx.checker.check_model(graph, full_check=True)
            onnx.save(graph, f"{folder}/opset{opset}.onnx")
            answers[opset] = comparison.compare(f"hearth-hanzi, opset {opset}", f"{folder}/opset{opset}.onnx")
        if answers[17]:
            print(f"{sum(map(str.__eq__, answers[17], truth))} of {len(truth)} degraded test pictures are right")
        if len(set(map(str, answers.values()))) != 1:
            comparison.missed.append("hearth-hanzi answers differently in another version")
        weights_of_eight_bits(f"{folder}/opset13.onnx", f"{folder}/weights8.onnx")
        answers = comparison.compare("hearth-hanzi, weights of 8 bits", f"{folder}/weights8.onnx")
        if answers:
            print(f"with weights of 8 bits, {sum(map(str.__eq__, answers, truth))} of {len(truth)} are right")
        eight_bits(f"{folder}/opset13.onnx", f"{folder}/int8.onnx", graph.graph.input[0].name, comparison.inputs)
        comparison.refuse("hearth-hanzi, activations of 8 bits", f"{folder}/int8.onnx")
        return comparison.missed


def main():
    hearth, count, model, cells = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
    missed = random_networks(hearth, count) + trained_network(hearth, count, model, cells)
    if missed:
        sys.exit(f"not equal: {', '.join(missed)}")


main()
