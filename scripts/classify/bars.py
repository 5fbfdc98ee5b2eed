"""The bars of the classifier: measured with onnxruntime on pictures that are scaled as an app scales them."""

import numpy as np
import onnxruntime

import characters
import faces
import measure
import network
from fonts import Face, scaled
from pictures import cells

# Of the calibration's pictures of characters outside the list, so many may stay: the bar is 5 % on fonts for tests.
MOST_OUTSIDE = 0.04

def numbers(pictures):
    """The network's input for square grey pictures of any size."""
    data = np.stack([scaled(np.asarray(picture), network.SIZE) for picture in pictures]).astype(np.float32)[:, None]
    return (data - np.float32(network.MEAN)) * np.float32(network.SCALE)


class Classifier:
    """A model file."""

    def __init__(self, path):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])

    def logits(self, pictures):
        data = numbers(pictures)
        parts = [self.session.run(None, {"picture": data[at:at + 256]})[0] for at in range(0, len(data), 256)]
        return np.concatenate(parts)


class Samples:
    """Pictures of one kind with their labels; the label of a character outside the list is -1."""

    def __init__(self, kind, count, seed, own):
        places = {character: place for place, character in enumerate(characters.classes())}
        made = cells(kind, count, seed, own)
        self.pictures = [picture for picture, _, _ in made]
        self.labels = np.array([places.get(character, -1) for _, character, _ in made])


def calibrated(classifier, count, say):
    """The temperature, from fonts that are neither trained on nor tested with.

    The one with the smallest loss, raised as far as needed so that few pictures of characters outside the list stay at the
    upper threshold: confidences are then a little too low, which costs an escalation, where too high ones cost a wrong answer.
    """
    own = [Face(*face) for face in faces.CALIBRATE]
    samples = Samples("degraded", count, 11, own)
    logits = classifier.logits(samples.pictures)
    outside = classifier.logits(Samples("outside", 1000, 14, own).pictures)
    found = chosen = measure.temperature(logits, samples.labels)
    while measure.accepted(outside, chosen) > MOST_OUTSIDE:
        chosen *= 1.01
    say(f"calibrated on {', '.join(face.name for face in own)}: degraded top-1 {measure.right(logits, samples.labels):.2%}")
    for name, value in (("untouched", 1.0), ("smallest loss", found), ("chosen", chosen)):
        say(f"        temperature {value:.3f} ({name}): calibration error"
            f" {measure.calibration_error(logits, samples.labels, value):.2%}, outside the list"
            f" {measure.accepted(outside, value):.2%} at 0.90; {told(measure.bands(logits, samples.labels, value))}")
    return chosen


def told(shares):
    return ", ".join(f"{name} {share:.2%} (right {good:.2%})" for name, (share, good) in shares.items())


def test(classifier, temperature, count, say):
    """Measures on the fonts for tests; returns the bars that are missed."""
    own = [Face(*face) for face in faces.TEST]
    missed = []

    def bar(text, value, is_held):
        say(f"{'held  ' if is_held else 'MISSED'}  {text}: {value:.2%}")
        if not is_held:
            missed.append(text)

    logits, labels = [], []
    for number, face in enumerate(own):
        samples = Samples("clean", characters.COUNT, 21 + number, [face])
        logits.append(classifier.logits(samples.pictures))
        labels.append(samples.labels)
        say(f"tested on {face.name}, version {face.version}: clean top-1 {measure.right(logits[-1], labels[-1]):.2%} of"
            f" {len(samples.labels)} classes")
    logits, labels = np.concatenate(logits), np.concatenate(labels)
    score = measure.right(logits, labels)
    bar(f"clean: top-1 of {len(labels)} pictures, at least 99 %", score, score >= 0.99)
    say(f"        {told(measure.bands(logits, labels, temperature))}")

    samples = Samples("degraded", count, 31, own)
    logits, labels = classifier.logits(samples.pictures), samples.labels
    say(f"        degraded: top-1 {measure.right(logits, labels):.2%} of {len(labels)} pictures")
    error = measure.calibration_error(logits, labels, temperature)
    bar("degraded: expected calibration error in 15 bins, at most 3 %", error, error <= 0.03)
    shares = measure.bands(logits, labels, temperature)
    bar("degraded: share that stays at 0.90, at least 70 %", shares["green"][0], shares["green"][0] >= 0.7)
    bar("degraded: right of those, at least 99 %", shares["green"][1], shares["green"][1] >= 0.99)
    for name, (share, _) in shares.items():
        bar(f"degraded: share in the band {name}, at least 5 %", share, share >= 0.05)
    say(f"        {told(shares)}")
    escalated = shares["escalated"][0]
    say(f"        {escalated:.2%} escalate: about {200 * escalated:.0f} of the 200 characters of a page as bad as these pictures")

    samples = Samples("outside", 1000, 41, own)
    share = measure.accepted(classifier.logits(samples.pictures), temperature)
    bar(f"outside the list: share of {len(samples.labels)} pictures at 0.90, at most 5 %", share,
        len(samples.labels) == 1000 and share <= 0.05)
    return missed
