"""Scans and photographs for tests: what paper, age, light, lens and sensor do to a character or a page.

Written apart from the changes that training makes (variation.py), so that a test is no repetition of the training.
"""

import io

import numpy as np
from PIL import Image, ImageFilter

from fonts import scaled

# The severity of a picture, 0 for none. The hardest are at the limit of what people read.
SEVERITY = (0.25, 1.3)


def field(random, height, width, points=3):
    """Smooth random numbers, 0...1."""
    small = Image.fromarray(random.random((points, points), np.float32))
    return np.clip(np.asarray(small.resize((width, height), Image.BICUBIC)), 0, 1)


def blurred(plane, radius):
    """A plane of numbers from 0 to 1 behind a lens out of focus."""
    image = Image.fromarray(np.clip(plane * 255, 0, 255).astype(np.uint8))
    return np.asarray(image.filter(ImageFilter.GaussianBlur(radius)), np.float32) / 255


def degraded(face, character, other, random, severity=None):
    """A picture of a character: turned, faded, bled through by `other`, blurred, of low resolution, unevenly lit, noisy."""
    if severity is None:
        severity = random.uniform(*SEVERITY)
    side = int(random.integers(56, 97))

    def draw(high):
        return severity * random.uniform(0, high)

    ink = face.cell(
        character, side, degrees=float(random.normal(0, 2) * severity), margin=float(random.uniform(0.05, 0.15)),
        shift=tuple(random.normal(0, 0.02, 2) * severity)) / np.float32(255)
    ink = ink * (1 - draw(0.7) * field(random, side, side))
    back = blurred(face.cell(other, side)[:, ::-1] / np.float32(255), side * 0.025)
    ink = np.maximum(ink, back * draw(0.55))
    if random.random() < 0.3 * severity:
        specks = random.random((side, side), np.float32) < 0.004
        ink = np.maximum(ink, blurred(specks, 0.8) * 3)
    ink = blurred(np.clip(ink, 0, 1), side * draw(0.045))

    paper, black = 1 - draw(0.3), draw(0.4)
    grey = (paper - (paper - black) * ink) * (1 - draw(0.55) * field(random, side, side))
    resolution = max(12, round(48 - severity * random.uniform(0, 36)))
    grey = scaled(np.clip(grey * 255, 0, 255), resolution).astype(np.float32)
    grey += random.normal(0, 255 * draw(0.14), grey.shape)
    picture = Image.fromarray(np.clip(grey, 0, 255).astype(np.uint8)).resize((side, side), Image.BICUBIC)
    if random.random() < 0.3:
        packed = io.BytesIO()
        picture.save(packed, "JPEG", quality=int(random.integers(35, 91)))
        picture = Image.open(packed).convert("L")
    return picture


def photographed(ink, random):
    """A page: grey paper, uneven light, a little blur, noise and specks."""
    specks = random.random(ink.shape, np.float32) < 0.00005
    ink = blurred(np.maximum(ink, blurred(specks, 0.7) * 4), 0.7)
    height, width = ink.shape
    grey = (0.93 - 0.8 * ink) * (1 - 0.25 * field(random, height, width))
    grey += random.normal(0, 0.04, ink.shape).astype(np.float32)
    return Image.fromarray(np.clip(grey * 255, 0, 255).astype(np.uint8))
