"""Measures a classifier: confidences, bands and the error of calibration, on logits and labels as arrays."""

import numpy as np

GREEN, YELLOW = 0.90, 0.60


def probabilities(logits, temperature=1.0):
    scaled = logits.astype(np.float64) / temperature
    scaled -= scaled.max(1, keepdims=True)
    powers = np.exp(scaled)
    return powers / powers.sum(1, keepdims=True)


def right(logits, labels):
    """The share of first answers that are right."""
    return float((logits.argmax(1) == labels).mean())


def loss(logits, labels, temperature):
    """The mean negative logarithm of the right class's probability."""
    found = probabilities(logits, temperature)[np.arange(len(labels)), labels]
    return float(-np.log(np.maximum(found, 1e-12)).mean())


def temperature(logits, labels):
    """The temperature with the smallest loss (Guo et al., On Calibration of Modern Neural Networks, 2017)."""
    candidates = np.exp(np.linspace(np.log(0.3), np.log(4), 200))
    return float(candidates[np.argmin([loss(logits, labels, candidate) for candidate in candidates])])


def calibration_error(logits, labels, temperature, bins=15):
    """The expected calibration error: how far confidence and share of right answers are apart, over bins of equal width."""
    found = probabilities(logits, temperature)
    confidence, correct = found.max(1), found.argmax(1) == labels
    places = np.minimum((confidence * bins).astype(int), bins - 1)
    error = 0.0
    for place in range(bins):
        inside = places == place
        if inside.any():
            error += inside.mean() * abs(confidence[inside].mean() - correct[inside].mean())
    return float(error)


def bands(logits, labels, temperature):
    """The shares of the three bands, and the share of right answers in each."""
    found = probabilities(logits, temperature)
    confidence, correct = found.max(1), found.argmax(1) == labels
    masks = {
        "green": confidence >= GREEN, "yellow": (confidence >= YELLOW) & (confidence < GREEN),
        "escalated": confidence < YELLOW,
    }
    return {name: (float(mask.mean()), float(correct[mask].mean()) if mask.any() else 0.0) for name, mask in masks.items()}


def accepted(logits, temperature):
    """The share that stays at the upper threshold."""
    return float((probabilities(logits, temperature).max(1) >= GREEN).mean())
