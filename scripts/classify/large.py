#!/usr/bin/env python3
"""large.py HEARTH MODEL PAGE TEXT: reads a page of 100 million pixels in several kinds of files, and tells what memory that takes; larger
ones and bombs are refused with a code. PAGE is a scan whose right text is TEXT. Exit status 1 if a bar is missed."""
import json
import os
import subprocess
import sys
import tempfile
import time
import zlib

import numpy as np
from PIL import Image

from score import right

Image.MAX_IMAGE_PIXELS = None
PIXELS = 100_000_000
# Resident at the peak, in MiB: a page in grey, and one whose pixels have more bytes while they are decoded.
GREY, COLOUR = 700, 1200


class Program:
    def __init__(self, hearth, model, folder):
        self.hearth, self.model, self.folder = hearth, model, folder

    def read(self, path):
        """The exit status, the events, the errors, the peak of resident memory in MiB, and the seconds."""
        out, errors = os.path.join(self.folder, "out"), os.path.join(self.folder, "errors")
        began = time.monotonic()
        with open(out, "wb") as first, open(errors, "wb") as second:
            process = subprocess.Popen(
                [self.hearth, "classify", "--model", self.model, "--decode", "--format", "json", path], stdout=first, stderr=second,
                env={**os.environ, "HEARTH_HOME": os.path.join(self.folder, "home")})
            _, status, usage = os.wait4(process.pid, 0)
        with open(out, encoding="utf-8") as first, open(errors, encoding="utf-8") as second:
            return os.waitstatus_to_exitcode(status), [json.loads(line) for line in first], second.read(), usage.ru_maxrss / 1024, time.monotonic() - began


def bomb(path, side):
    """A PNG file of a few kilobytes whose header promises side * side pixels."""
    def chunk(kind, data):
        return len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")
    header = side.to_bytes(4, "big") * 2 + bytes([8, 0, 0, 0, 0])
    packed = zlib.compress(bytes(1 << 22), 9)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", packed) + chunk(b"IEND", b""))


def main():
    hearth, model, page, text = sys.argv[1:]
    with open(text, encoding="utf-8") as file:
        expected = "".join(file.read().split())
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        program = Program(hearth, model, folder)
        scan = Image.open(page).convert("L")
        scale = (PIXELS / (scan.width * scan.height)) ** 0.5
        large = scan.resize((int(scan.width * scale), int(scan.height * scale)), Image.BILINEAR)
        kinds = {
            "grey PNG": ("png", lambda path: large.save(path, compress_level=1), GREY),
            "colour JPEG": ("jpg", lambda path: large.convert("RGB").save(path, quality=80), COLOUR),
            "colour TIFF": ("tiff", lambda path: large.convert("RGB").save(path, compression="tiff_lzw"), COLOUR),
            "PNG with transparency": ("png", lambda path: large.convert("RGBA").save(path, compress_level=1), COLOUR),
            "16-bit grey PNG": ("png", lambda path: Image.fromarray(np.asarray(large).astype(np.uint16) * 257).save(path, compress_level=1), COLOUR),
        }
        for name, (ending, save, limit) in kinds.items():
            path = os.path.join(folder, f"large.{ending}")
            save(path)
            status, events, errors, peak, seconds = program.read(path)
            os.remove(path)
            good = right(expected, [event["text"] for event in events if event["event"] == "character"])
            is_held = status == 0 and good >= 0.95 * len(expected) and peak <= limit
            print(f"{'held  ' if is_held else 'MISSED'}  {name}, {large.width} x {large.height}: {good} of {len(expected)} right, {peak:.0f} MiB at the peak, "
                  f"at most {limit}, {seconds:.1f} s {errors.strip()[:200] if status else ''}", flush=True)
            if not is_held:
                failed.append(name)
        over = os.path.join(folder, "over.png")
        large.resize((10_001, 10_000)).save(over, compress_level=1)
        bomb(os.path.join(folder, "bomb.png"), 60_000)
        bomb(os.path.join(folder, "short.png"), 9_000)
        for name, code, limit in (("over.png", "picture-too-large", 200), ("bomb.png", "picture-too-large", 200), ("short.png", "cannot-read-picture", 300)):
            status, events, errors, peak, _ = program.read(os.path.join(folder, name))
            said = errors + json.dumps(events)
            is_held = status == 1 and code in said and peak <= limit
            print(f"{'held  ' if is_held else 'MISSED'}  {name}: status {status}, {code}, {peak:.0f} MiB {'' if is_held else said}", flush=True)
            if not is_held:
                failed.append(name)
    sys.exit(f"missed: {', '.join(failed)}" if failed else 0)


main()
