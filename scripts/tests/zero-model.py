#!/usr/bin/env python3
"""Writes a model of 1.7 billion weights that are all zero, with the vocabulary and the template of another one.

    scripts/tests/zero-model.py SmolLM2-135M-Instruct.Q4_1.gguf zeros.gguf

The file has the shape of SmolLM2 1.7B: 24 layers of 2048 values, 1,711,376,384 weights. It has holes in place of the
weights, so it takes the disk space of its vocabulary alone. What it says means nothing; its prompts are those of a real
model of this size.
"""

import struct
import sys

SHAPE = {"block_count": 24, "embedding_length": 2048, "feed_forward_length": 8192, "attention.head_count": 32,
         "attention.head_count_kv": 32, "rope.dimension_count": 64}
NAME = "Zeros 1.7B"
# Each block of 256 weights of the type TQ2_0 takes 66 bytes, and a block of zero bytes is zero.
TERNARY, BLOCK, BLOCK_BYTES = 35, 256, 66
SINGLE = 0
TERNARY_FILE = 37
ALIGNMENT = 32

SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
UINT32, STRING, ARRAY = 4, 8, 9


class Reader:
    """The metadata of a GGUF file as bytes."""

    def __init__(self, data):
        self.data, self.place = data, 0

    def take(self, count):
        self.place += count
        return self.data[self.place - count:self.place]

    def number(self, form):
        return struct.unpack("<" + form, self.take(struct.calcsize(form)))[0]

    def skip_text(self):
        self.take(self.number("Q"))

    def skip(self, kind):
        if kind == STRING:
            self.skip_text()
        elif kind == ARRAY:
            inner, count = self.number("I"), self.number("Q")
            if inner == STRING:
                for _ in range(count):
                    self.skip_text()
            else:
                self.take(SIZES[inner] * count)
        else:
            self.take(SIZES[kind])

    def entries(self):
        if self.take(4) != b"GGUF" or self.number("I") != 3:
            sys.exit("the source is no GGUF file of version 3")
        self.number("Q")
        for _ in range(self.number("Q")):
            start = self.place
            key = self.take(self.number("Q")).decode()
            kind = self.number("I")
            self.skip(kind)
            yield key, self.data[start:self.place]


def text(value):
    return struct.pack("<Q", len(value.encode())) + value.encode()


def number(key, value):
    return text(key) + struct.pack("<II", UINT32, value)


def tensors(vocabulary):
    width, inner = SHAPE["embedding_length"], SHAPE["feed_forward_length"]
    yield "token_embd.weight", (width, vocabulary)
    yield "output_norm.weight", (width,)
    for layer in range(SHAPE["block_count"]):
        for name in ("attn_norm", "ffn_norm"):
            yield f"blk.{layer}.{name}.weight", (width,)
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            yield f"blk.{layer}.{name}.weight", (width, width)
        for name, shape in (("ffn_gate", (width, inner)), ("ffn_up", (width, inner)), ("ffn_down", (inner, width))):
            yield f"blk.{layer}.{name}.weight", shape


def main(source, target):
    with open(source, "rb") as file:
        # The vocabulary of the default model ends within the first megabytes.
        found = dict(Reader(file.read(16 << 20)).entries())
    vocabulary = struct.unpack("<I", found["llama.vocab_size"][-4:])[0]
    changed = {f"llama.{key}": number(f"llama.{key}", value) for key, value in SHAPE.items()}
    changed["general.file_type"] = number("general.file_type", TERNARY_FILE)
    changed["general.name"] = text("general.name") + struct.pack("<I", STRING) + text(NAME)
    entries = [changed.get(key, entry) for key, entry in found.items()]
    listed, place, weights = [], 0, 0
    for name, shape in tensors(vocabulary):
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        kind = TERNARY if len(shape) > 1 else SINGLE
        size = count // BLOCK * BLOCK_BYTES if kind == TERNARY else 4 * count
        listed.append(text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, kind, place))
        place += (size + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
        weights += count
    header = b"GGUF" + struct.pack("<IQQ", 3, len(listed), len(entries)) + b"".join(entries + listed)
    header += bytes(-len(header) % ALIGNMENT)
    with open(target, "wb") as file:
        file.write(header)
        file.truncate(len(header) + place)
    print(f"{weights} weights")


main(*sys.argv[1:])
