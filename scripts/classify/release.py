"""Writes the classifier's release: model.onnx, classes.txt, classifier.json and canary.png, and variants for tests."""

import json
import os
import warnings

import numpy as np
import onnx
import torch
from PIL import Image

import bars
import characters
import faces
import network
from fonts import MARGIN, Face

OPSET = 17
MOST_BYTES = 2_000_000
CANARY = "人"


def settings(temperature, day):
    """The contents of classifier.json but for the canary, which cannot travel inside the model."""
    return {
        "format": 1,
        "input": {"width": network.SIZE, "height": network.SIZE, "layout": "nchw", "channels": "grey",
                  "mean": [network.MEAN], "scale": [round(network.SCALE, 9)], "margin": MARGIN},
        "output": "logits", "temperature": round(temperature, 4), "thresholds": {"green": 0.9, "yellow": 0.6},
        "classListVersion": characters.VERSION, "trainedOn": day,
    }


def metadata(values, labels):
    """The same in the model's metadata, for a model file that travels alone."""
    return {"classifier": json.dumps(values), "classes": "\n".join(labels),
            "class_list_version": values["classListVersion"], "training_date": values["trainedOn"]}


def export(model, path, opset, properties):
    """Writes the ONNX file; a batch of any size goes in."""
    # The exporter that writes these opsets announces at each call that a newer one exists.
    warnings.simplefilter("ignore", DeprecationWarning)
    torch.onnx.export(
        model.eval(), (torch.zeros(1, 1, network.SIZE, network.SIZE),), path + ".tmp", dynamo=False, opset_version=opset,
        input_names=["picture"], output_names=["logits"], dynamic_axes={"picture": {0: "count"}, "logits": {0: "count"}})
    graph = onnx.load(path + ".tmp")
    onnx.checker.check_model(graph, full_check=True)
    onnx.helper.set_model_props(graph, properties)
    onnx.save(graph, path + ".tmp")
    os.replace(path + ".tmp", path)


def write(model, temperature, day, folder):
    """Writes the files of the release."""
    labels = [characters.label(character) for character in characters.classes()]
    values = settings(temperature, day)
    export(model, os.path.join(folder, "model.onnx"), OPSET, metadata(values, labels))
    with open(os.path.join(folder, "classes.txt"), "w") as file:
        file.write("\n".join(labels) + "\n")
    Image.fromarray(255 - Face(*faces.TEST[0]).cell(CANARY, 64)).save(os.path.join(folder, "canary.png"))
    values["canary"] = {"picture": "canary.png", "label": characters.label(CANARY)}
    with open(os.path.join(folder, "classifier.json"), "w") as file:
        file.write(json.dumps(values, indent=2) + "\n")


def variants(model, path, folder, say):
    """Writes the same network with opset 11 and 13; returns what differs from `path`."""
    os.makedirs(folder, exist_ok=True)
    samples = bars.Samples("degraded", 1000, 31, [Face(*face) for face in faces.TEST])
    expected = bars.Classifier(path).logits(samples.pictures)
    size = os.path.getsize(path)
    missed = []

    def compare(name, least):
        found = bars.Classifier(os.path.join(folder, name)).logits(samples.pictures)
        alike = float((found.argmax(1) == expected.argmax(1)).mean())
        say(f"{name}: same first answer for {alike:.1%} of 1000 pictures, logits within {np.abs(found - expected).max():.1e},"
            f" {os.path.getsize(os.path.join(folder, name))} bytes")
        if alike < least:
            missed.append(f"{name} answers differently")

    with torch.no_grad():
        own = model(torch.from_numpy(bars.numbers(samples.pictures))).numpy()
    say(f"model.onnx: opset {OPSET}, {size} bytes, logits within {np.abs(own - expected).max():.1e} of torch's")
    if size > MOST_BYTES:
        missed.append(f"the model has more than {MOST_BYTES} bytes")
    for opset in (11, 13):
        export(model, os.path.join(folder, f"opset-{opset}.onnx"), opset, {})
        compare(f"opset-{opset}.onnx", 1)
    return missed
