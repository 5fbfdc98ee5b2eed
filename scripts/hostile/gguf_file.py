"""Reads a GGUF file into parts that can be changed one by one, wrongly too, and writes it again."""
import struct

NUMBERS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<B", 10: "<Q", 11: "<q", 12: "<d"}
UINT8, UINT32, INT32, FLOAT, BOOL, STRING, ARRAY = 0, 4, 5, 6, 7, 8, 9
TEMPLATE = "tokenizer.chat_template"
TOKENS, TYPES, MERGES = "tokenizer.ggml.tokens", "tokenizer.ggml.token_type", "tokenizer.ggml.merges"


def text(value):
    """A string as GGUF writes it: its length, then its bytes."""
    value = value.encode() if isinstance(value, str) else value
    return struct.pack("<Q", len(value)) + value


def array(kind, values):
    """An array as GGUF writes it."""
    pieces = (text(value) if kind == STRING else struct.pack(NUMBERS[kind], value) for value in values)
    return struct.pack("<IQ", kind, len(values)) + b"".join(pieces)


def fact(key, kind, content):
    """An entry of the metadata."""
    return text(key) + struct.pack("<I", kind) + content


class Tensor:
    """A tensor's entry in the header."""

    def __init__(self, name, shape, kind, offset):
        self.name, self.shape, self.kind, self.offset = name, shape, kind, offset


class GGUF:
    """A file: `facts` are lists of key, type and bytes; `tensors` are the entries; `weights` is the data behind the header."""

    def __init__(self, data):
        self.data, self.position = data, 4
        self.version, tensors, facts = self._number("<I"), self._number("<Q"), self._number("<Q")
        self.facts = [self._fact() for _ in range(facts)]
        self.tensors = [self._tensor() for _ in range(tensors)]
        self.weights = data[self._aligned(self.position):]

    @staticmethod
    def _aligned(position):
        return (position + 31) // 32 * 32

    def _number(self, form):
        value = struct.unpack_from(form, self.data, self.position)[0]
        self.position += struct.calcsize(form)
        return value

    def _bytes(self):
        length = self._number("<Q")
        self.position += length
        return self.data[self.position - length:self.position]

    def _skip(self, kind):
        if kind == STRING:
            self._bytes()
        elif kind == ARRAY:
            kind, count = self._number("<I"), self._number("<Q")
            for _ in range(count):
                self._skip(kind)
        else:
            self._number(NUMBERS[kind])

    def _fact(self):
        key, kind = self._bytes().decode(), self._number("<I")
        begin = self.position
        self._skip(kind)
        return [key, kind, self.data[begin:self.position]]

    def _tensor(self):
        name = self._bytes()
        shape = [self._number("<Q") for _ in range(self._number("<I"))]
        return Tensor(name, shape, self._number("<I"), self._number("<Q"))

    def find(self, key):
        return next((entry for entry in self.facts if entry[0] == key), None)

    def set(self, key, kind, value):
        """Gives a fact a value; bytes are taken as they are."""
        if not isinstance(value, bytes):
            value = text(value) if kind == STRING else struct.pack(NUMBERS[kind], value)
        entry = self.find(key)
        if entry:
            entry[1:] = [kind, value]
        else:
            self.facts.append([key, kind, value])

    def remove(self, key):
        self.facts = [entry for entry in self.facts if entry[0] != key]

    def values(self, key):
        """The elements of an array."""
        content = self.find(key)[2]
        kind, count = struct.unpack_from("<IQ", content)
        if kind != STRING:
            return list(struct.unpack_from(f"<{count}{NUMBERS[kind][1]}", content, 12))
        position, found = 12, []
        for _ in range(count):
            length = struct.unpack_from("<Q", content, position)[0]
            found.append(content[position + 8:position + 8 + length])
            position += 8 + length
        return found

    def header(self):
        pieces = [b"GGUF", struct.pack("<IQQ", self.version, len(self.tensors), len(self.facts))]
        pieces += [fact(*entry) for entry in self.facts]
        for one in self.tensors:
            pieces += [text(one.name), struct.pack("<I", len(one.shape))]
            pieces += [struct.pack("<Q", size % 2**64) for size in one.shape]
            pieces.append(struct.pack("<IQ", one.kind, one.offset % 2**64))
        return b"".join(pieces)

    def bytes(self):
        header = self.header()
        return header.ljust(self._aligned(len(header)), b"\0") + self.weights


def with_fewer_tokens(file, count=1024):
    """Cuts the vocabulary, so that a model is some hundred kilobytes and keeps everything else."""
    tokens = file.values(TOKENS)
    everything = len(tokens)
    kept = set(tokens[:count])
    merges = [one for one in file.values(MERGES) if set(one.split(b" ")) | {one.replace(b" ", b"")} <= kept]
    file.set(TOKENS, ARRAY, array(STRING, tokens[:count]))
    file.set(TYPES, ARRAY, array(INT32, file.values(TYPES)[:count]))
    file.set(MERGES, ARRAY, array(STRING, merges))
    for entry in file.facts:
        if entry[0].endswith(".vocab_size"):
            file.set(entry[0], UINT32, count)
    weights, ends = b"", [one.offset for one in file.tensors[1:]] + [len(file.weights)]
    for one, end in zip(file.tensors, ends):
        content = file.weights[one.offset:end]
        if one.shape[-1] == everything:
            content = content[:len(content) // everything * count]
            one.shape[-1] = count
        one.offset = len(weights)
        weights += content.ljust((len(content) + 31) // 32 * 32, b"\0")
    file.weights = weights
    return file
