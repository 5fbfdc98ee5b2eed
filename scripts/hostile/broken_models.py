"""Broken models that load and compute: the default model with a few values changed. A probe has to see it."""
import struct

from gguf_file import ARRAY, GGUF, INT32, STRING, TOKENS, TYPES, array

NAN, INFINITE = float("nan"), float("inf")
NORMAL, CONTROL, UNUSED = 1, 3, 5


class Weights:
    """The weights of a model, changed by the names of the tensors."""

    def __init__(self, file):
        self.file, self.data = file, bytearray(file.weights)
        offsets = sorted(one.offset for one in file.tensors) + [len(self.data)]
        self.places = {one.name.decode(): (one.offset, offsets[offsets.index(one.offset) + 1]) for one in file.tensors}

    def fill(self, name, value):
        """Gives all values of a tensor of 32-bit numbers one value."""
        begin, end = self.places[name]
        self.data[begin:end] = struct.pack("<f", value) * ((end - begin) // 4)

    def scale(self, name, block, size, bits):
        """Gives one block of a quantized tensor another scale, which comes first in it."""
        place = self.places[name][0] + block * size
        self.data[place:place + 2] = struct.pack("<H", bits)

    def clear(self, ending):
        """Makes all tensors of such a name zero."""
        for name, (begin, end) in self.places.items():
            if name.endswith(ending):
                self.data[begin:end] = bytes(end - begin)

    def rows(self, name, size, source, twice):
        """Gives all rows of a tensor of 8-bit blocks the values of one row, and one of them twice the values."""
        begin, end = self.places[name]
        row = bytes(self.data[begin + source * size:begin + (source + 1) * size])
        self.data[begin:end] = row * ((end - begin) // size)
        for block in range(0, size, 34):
            scale, = struct.unpack_from("<e", row, block)
            struct.pack_into("<e", self.data, begin + twice * size + block, 2 * scale)

    def bytes(self):
        self.file.weights = bytes(self.data)
        return self.file.bytes()


def changed(data, change):
    def make():
        weights = Weights(GGUF(data))
        change(weights)
        return weights.bytes()
    return make


def with_facts(data, change):
    def make():
        file = GGUF(data)
        change(file)
        return file.bytes()
    return make


def one_token(weights):
    # Without its layers, a model writes the token whose vector is most like that of the last one.
    for ending in ("attn_output.weight", "ffn_down.weight"):
        weights.clear(ending)
    weights.fill("output_norm.weight", 1)
    weights.rows("token_embd.weight", 576 // 32 * 34, 5000, 5000)


def pieces(text, kind=NORMAL):
    """Gives all tokens but the control tokens another text."""
    def change(file):
        types = file.values(TYPES)
        tokens = [old if old_kind == CONTROL else text.encode() for old, old_kind in zip(file.values(TOKENS), types)]
        file.set(TOKENS, ARRAY, array(STRING, tokens))
        file.set(TYPES, ARRAY, array(INT32, [CONTROL if old == CONTROL else kind for old in types]))
    return change


def only(kind):
    """Gives all tokens one type, of which the tokens have no text."""
    return lambda file: file.set(TYPES, ARRAY, array(INT32, [kind] * len(file.values(TYPES))))


def cases(data):
    """The names of the cases, whether the model may become active, and functions that give the bytes."""
    def harmless(weights):
        place = weights.places["output_norm.weight"][0]
        weights.data[place] ^= 1

    yield "harmless", True, changed(data, harmless)
    for name, value in (("zero", 0), ("nan", NAN), ("infinite", INFINITE)):
        yield f"norm-{name}", False, changed(data, lambda weights, value=value: weights.fill("output_norm.weight", value))
    yield "layer-nan", False, changed(data, lambda weights: weights.fill("blk.15.attn_norm.weight", NAN))
    yield "block-nan", False, changed(data, lambda weights: weights.scale("blk.7.ffn_down.weight", 1000, 20, 0x7E00))
    yield "embedding-nan", False, changed(data, lambda weights: weights.scale("token_embd.weight", 40_000, 34, 0x7E00))
    yield "one-token", False, changed(data, one_token)
    yield "rubbish", False, lambda: data + bytes(range(256)) * 4096
    yield "zeros", False, lambda: data + bytes(4096)
    yield "one-byte", False, lambda: data + b"\0"
    yield "silent", False, with_facts(data, pieces(""))
    yield "control", False, with_facts(data, only(CONTROL))
    yield "unused", False, with_facts(data, only(UNUSED))
    # The first byte of a character of two.
    yield "half-characters", False, with_facts(data, pieces("\u00c3"))
