"""Faces of fonts, and the cells that are drawn with them: squares with one character in the middle."""

import glob
import os

import numpy as np
from fontTools.ttLib import TTFont
from PIL import Image, ImageDraw, ImageFont

# The margin around a character, as a share of the larger side of its ink; `input.margin` of classifier.json.
MARGIN = 0.1


class Face:
    """A face of a font that Debian packs."""

    def __init__(self, package, name, number):
        self.package, self.number = package, number
        found = sorted(glob.glob(os.path.join(os.environ["HEARTH_FONTS"], package, "usr/share/fonts/**", name), recursive=True))
        if not found:
            raise SystemExit(f"{package} has no font {name}; scripts/classify/run.sh fetches it")
        self.path = found[0]
        self.name = f"{package}/{os.path.basename(self.path)}" + (f"#{number}" if self.path.endswith(".ttc") else "")
        font = TTFont(self.path, fontNumber=number, lazy=True)
        self.codes = set(font.getBestCmap())
        font.close()
        self.fonts = {}
        self.missing = self.ink(chr(next(code for code in range(0xF0000, 0xFFFFD) if code not in self.codes)), 48)
        sides = [max(ink.size) for ink in (self.ink(c, 48) for c in "永國東西南北中書春秋高低" if ord(c) in self.codes) if ink]
        # The usual size of a character's ink as a share of the em.
        self.usual = float(np.median(sides)) / 48 if sides else 0.9

    @property
    def version(self):
        """The version of the Debian package."""
        with open(os.path.join(os.environ["HEARTH_FONTS"], self.package, "version")) as file:
            return file.read().strip()

    def font(self, em):
        if em not in self.fonts:
            self.fonts[em] = ImageFont.truetype(self.path, em, index=self.number, layout_engine=ImageFont.Layout.BASIC)
        return self.fonts[em]

    def ink(self, character, em):
        """The ink of a character, 255 where it is black, cut to its bounds; None for an empty glyph."""
        canvas = Image.new("L", (2 * em, 3 * em), 0)
        ImageDraw.Draw(canvas).text((em // 2, em // 2), character, fill=255, font=self.font(em))
        bounds = canvas.getbbox()
        return canvas.crop(bounds) if bounds else None

    def has(self, character):
        """True if the font has a glyph with ink that is not its box for missing glyphs."""
        if ord(character) not in self.codes:
            return False
        ink = self.ink(character, 48)
        if ink is None or max(ink.size) < 8:
            return False
        return self.missing is None or ink.size != self.missing.size or ink.tobytes() != self.missing.tobytes()

    def cell(self, character, side, em=96, degrees=0.0, margin=MARGIN, shift=(0.0, 0.0)):
        """A square of side * side bytes, 255 where it is black, with the character's ink in its middle.

        As where a page is cut, small characters keep their size: the square is never made for less than the usual one.
        """
        ink = self.ink(character, em)
        if degrees:
            ink = ink.rotate(degrees, Image.BICUBIC, expand=True)
            ink = ink.crop(ink.getbbox())
        whole = round(max(*ink.size, self.usual * em) * (1 + 2 * margin))
        square = Image.new("L", (whole, whole), 0)
        square.paste(ink, tuple(round((whole - size) / 2 + part * whole) for size, part in zip(ink.size, shift)))
        return scaled(np.asarray(square), side)


def matrix(count, side, kept={}):
    """The weights with which `count` pixels in a row become `side`: means over areas when shrinking, else linear."""
    if (count, side) not in kept:
        weights = np.zeros((side, count), np.float32)
        scale = count / side
        for place in range(side):
            if scale > 1:
                begin, end = place * scale, (place + 1) * scale
                for pixel in range(int(begin), min(count, int(np.ceil(end)))):
                    weights[place, pixel] = (min(end, pixel + 1) - max(begin, pixel)) / scale
            else:
                at = min(max((place + 0.5) * scale - 0.5, 0), count - 1)
                low = min(int(at), count - 1)
                high = min(low + 1, count - 1)
                weights[place, low] += 1 - (at - low)
                weights[place, high] += at - low
        kept[count, side] = weights
    return kept[count, side]


def scaled(square, side):
    """A square picture of bytes scaled as the classifier scales its input."""
    if square.shape[0] == side:
        return square
    weights = matrix(square.shape[0], side)
    return np.clip(np.rint(weights @ square.astype(np.float32) @ weights.T), 0, 255).astype(np.uint8)
