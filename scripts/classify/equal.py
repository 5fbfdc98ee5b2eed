#!/usr/bin/env python3
"""equal.py HEARTH COUNT: classifies COUNT random pictures with `hearth classify` and with onnxruntime, for networks of several
versions of ONNX's operators and one of 8-bit weights, and compares the likeliest classes and their probabilities."""
import json
import os
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


class Pictures(CalibrationDataReader):
    def __init__(self, inputs):
        self.rest = iter([{"x": part} for part in inputs])

    def get_next(self):
        return next(self.rest, None)


def softmax(logits):
    exponents = np.exp(logits.astype(np.float64) - logits.max(axis=1, keepdims=True))
    return exponents / exponents.sum(axis=1, keepdims=True)


def main():
    hearth, count = sys.argv[1], int(sys.argv[2])
    random = np.random.default_rng(SEED)
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        pictures = random.integers(0, 256, (count, SIDE, SIDE), dtype=np.uint8)
        names = []
        for number, pixels in enumerate(pictures):
            names.append(f"{folder}/{number}.png")
            Image.fromarray(pixels).save(names[-1])
        inputs = ((pictures.astype(np.float32) - np.float32(MEAN)) * np.float32(SCALE))[:, None]
        with open(f"{folder}/classifier.json", "w") as file:
            json.dump({"format": 1, "output": "logits",
                       "input": {"width": SIDE, "height": SIDE, "layout": "nchw", "channels": "grey",
                                 "mean": MEAN, "scale": SCALE}}, file)
        with open(f"{folder}/classes.txt", "w") as file:
            file.write("\n".join(f"class {number}" for number in range(CLASSES)))
        models = {}
        for opset in (11, 13, 17):
            models[f"opset {opset}"] = f"{folder}/opset{opset}.onnx"
            network(models[f"opset {opset}"], opset, np.random.default_rng(SEED))
        models["8-bit weights"] = f"{folder}/int8.onnx"
        quantize_static(models["opset 13"], models["8-bit weights"], Pictures(inputs[:64, None]),
                        quant_format=QuantFormat.QDQ, per_channel=True, reduce_range=True)
        for name, path in models.items():
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = 1
            session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
            expected = softmax(session.run(None, {"x": inputs})[0])
            found = []
            for start in range(0, count, 200):
                result = subprocess.run(
                    [hearth, "classify", "--model", path, "--top", "5", "--format", "json", *names[start:start + 200]],
                    capture_output=True, text=True, env={**os.environ, "HEARTH_HOME": f"{folder}/home"})
                if result.returncode != 0:
                    print(f"{name}: {result.stderr.strip()}")
                    failures += 1
                    break
                found += [json.loads(line)["candidates"] for line in result.stdout.splitlines()]
            if len(found) != count:
                continue
            same, worst = 0, 0.0
            for candidates, row in zip(found, expected):
                same += candidates[0]["label"] == f"class {int(row.argmax())}"
                for candidate in candidates:
                    worst = max(worst, abs(candidate["confidence"] - row[int(candidate["label"].split()[1])]))
            print(f"{name}: {same} of {count} likeliest classes are the same, probabilities differ by at most {worst:.1e}")
            # Sums of 8-bit products are rounded at other places by the two engines.
            limit, least = (1e-4, count) if "opset" in name else (0.2, int(count * 0.97))
            failures += same < least or worst > limit
    sys.exit(1 if failures else 0)


main()
