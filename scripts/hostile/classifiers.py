"""Hostile ONNX classifiers, made of a healthy one: data outside of the file, graphs that ask for terabytes or never end."""
import random

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

INPUT, OUTPUT = "picture", "changed_picture"
DAMAGED = {
    "garbage": lambda data: random.Random(1).randbytes(500_000),
    "one-byte": lambda data: b"\x08",
    "cut-in-half": lambda data: data[:len(data) // 2],
    "deep-messages": lambda data: b"\x3a\xff\xff\xff\xff\x0f" * 100_000,
}


def outside(**place):
    """The first weights are in another file."""
    def change(model):
        weights = model.graph.initializer[0]
        weights.ClearField("raw_data")
        weights.data_location = TensorProto.EXTERNAL
        for key, value in place.items():
            entry = weights.external_data.add()
            entry.key, entry.value = key, value
    return change


def shape(*sizes):
    def change(model):
        weights = model.graph.initializer[0]
        del weights.dims[:]
        weights.dims.extend(sizes)
    return change


def front(nodes, **constants):
    """Puts nodes between the picture and the network; each constant is a value, or a value and its type."""
    def change(model):
        graph = model.graph
        for node in graph.node:
            node.input[:] = [OUTPUT if name == INPUT else name for name in node.input]
        rest = list(graph.node)
        del graph.node[:]
        graph.node.extend(nodes() if callable(nodes) else nodes)
        graph.node.extend(rest)
        for name, value in constants.items():
            value, kind = value if isinstance(value, tuple) else (value, np.int64)
            graph.initializer.append(numpy_helper.from_array(np.array(value, dtype=kind), name))
    return change


def node(kind, inputs, output=OUTPUT, **attributes):
    return helper.make_node(kind, inputs, [output], **attributes)


def added(first, reduce="ReduceMean"):
    """A huge tensor is made, and its mean or sum added to the picture, so that it cannot be left out."""
    return [first, node(reduce, ["big"], "one", keepdims=0), node("Add", [INPUT, "one"])]


def endless():
    value = helper.make_tensor_value_info
    body = helper.make_graph(
        [node("Identity", ["go"], "go_on"), node("Add", ["x", "x"], "y")], "body",
        [value("turn", TensorProto.INT64, []), value("go", TensorProto.BOOL, []), value("x", TensorProto.FLOAT, None)],
        [value("go_on", TensorProto.BOOL, []), value("y", TensorProto.FLOAT, None)])
    return [node("Loop", ["turns", "yes", INPUT], body=body)]


def nested(depth=28):
    def branch(level, word):
        name = f"{word}{level}"
        inner = [node("Identity", [INPUT], name)]
        if level and word == "then":
            inner = [node("If", ["yes"], name, then_branch=branch(level - 1, "then"), else_branch=branch(level, "else"))]
        return helper.make_graph(inner, name, [], [helper.make_tensor_value_info(name, TensorProto.FLOAT, None)])
    return [node("If", ["yes"], then_branch=branch(depth, "then"), else_branch=branch(0, "else"))]


def chain(length=60_000):
    names = [INPUT] + [f"x{number}" for number in range(1, length)] + [OUTPUT]
    return [node("Identity", [names[number]], names[number + 1]) for number in range(length)]


def without_input(model):
    del model.graph.input[:]


def input_of_gigapixels(model):
    for size in model.graph.input[0].type.tensor_type.shape.dim[2:]:
        size.dim_value = 2**31 - 1


def output_of_picture(model):
    front([node("Identity", [INPUT])])(model)
    model.graph.output[0].name = model.graph.node[1].output[0]


def facts(**values):
    def change(model):
        kept = [entry for entry in model.metadata_props if entry.key not in values]
        del model.metadata_props[:]
        model.metadata_props.extend(kept)
        for key, value in values.items():
            entry = model.metadata_props.add()
            entry.key, entry.value = key, value
    return change


def input_facts_huge(model):
    for entry in model.metadata_props:
        if entry.key == "classifier":
            for side in ("width", "height"):
                entry.value = entry.value.replace(f'"{side}": 40', f'"{side}": 2000000000')


CHANGES = {
    "healthy": lambda model: None,
    "outside-absolute": outside(location="/etc/passwd", offset="0", length="1000"),
    "outside-above": outside(location="../../../../../../etc/passwd", offset="0", length="1000"),
    "outside-device": outside(location="/dev/zero", offset="0"),
    "outside-offset": outside(location="classes.txt", offset=str(2**64 - 16), length=str(2**64 - 1)),
    "weights-short": lambda model: setattr(model.graph.initializer[0], "raw_data", bytes(4)),
    "weights-shape-huge": shape(2**40, 2**40),
    "weights-shape-negative": shape(-1, 5),
    "constant-huge": front(added(node("ConstantOfShape", ["size"], "big"), "ReduceSum"), size=[10**6, 10**6]),
    "tile-huge": front(added(node("Tile", [INPUT, "times"], "big")), times=[1, 1, 10**5, 10**4]),
    "expand-huge": front(added(node("Expand", ["one_", "size"], "big")), size=[10**5, 10**5], one_=([1.0], np.float32)),
    "resize-huge": front(added(node("Resize", [INPUT, "", "by"], "big", mode="nearest")), by=([1, 1, 3000, 3000], np.float32)),
    "range-huge": front([node("Range", ["a", "b", "c"], "big"), node("ReduceSum", ["big"], "sum", keepdims=0),
                         node("Cast", ["sum"], "real", to=1), node("Add", [INPUT, "real"])], a=0, b=10**12, c=1),
    "loop-endless": front(endless, turns=2**62, yes=(True, np.bool_)),
    "if-nested": front(nested, yes=(True, np.bool_)),
    "chain-long": front(chain),
    "cycle": front([node("Add", [INPUT, "b_"], "a_"), node("Add", ["a_", INPUT], "b_"), node("Identity", ["b_"])]),
    "operator-unknown": front([node("Evil", [INPUT], domain="evil")]),
    "pool-by-0": front([node("MaxPool", [INPUT], kernel_shape=[0, 0], strides=[0, 0], pads=[-1, -1, -1, 2**40])]),
    "convolution-groups-0": front([node("Conv", [INPUT, "w"], group=0)], w=(np.zeros((1, 1, 1, 1)), np.float32)),
    "reshape-open": front([node("Reshape", [INPUT, "s"])], s=[-1, -1, -1]),
    "gather-past-end": front([node("Gather", [INPUT, "i"], axis=2)], i=[2**40, -2**40] + [0] * 38),
    "slice-past-end": front([node("Slice", [INPUT, "a", "b", "axis"])], a=[-2**62], b=[2**62], axis=[99]),
    "divide-by-0": front([node("Div", [INPUT, "zero"])], zero=(0.0, np.float32)),
    "shape-by-content": front([node("NonZero", [INPUT], "places"), node("Cast", ["places"], to=1)]),
    "operators-version": lambda model: setattr(model.opset_import[0], "version", 2**62),
    "input-missing": without_input,
    "input-huge": input_of_gigapixels,
    "output-other": output_of_picture,
    "input-facts-huge": input_facts_huge,
    "classes-many": facts(classes="\n".join(["\u202e\x1b[31m<b>"] * 3_000_000)),
}


def cases(healthy):
    """The names of all cases with functions that give the bytes."""
    found = {f"classifier-{name}": lambda change=change: change(healthy) for name, change in DAMAGED.items()}
    for name, change in CHANGES.items():
        def make(change=change):
            model = onnx.load_from_string(healthy)
            change(model)
            return model.SerializeToString()
        found[f"classifier-{name}"] = make
    return found
