#!/usr/bin/env python3
"""Makes archives that a store must refuse, and a few that it must take.

    archives.py FOLDER OUTSIDE

writes them into FOLDER and prints a line for each: file, format, and the code of the refusal, or `taken`. OUTSIDE is a path that
the hostile ones try to reach. What the format itself forbids is written byte by byte.
"""
import gzip
import io
import os
import struct
import sys
import tarfile
import zipfile

folder, outside = sys.argv[1], sys.argv[2]
os.makedirs(folder, exist_ok=True)
UNSAFE, LARGE, DAMAGED = "archive-unsafe", "archive-too-large", "archive-damaged"


def put(name, kind, code, data):
    with open(os.path.join(folder, name), "wb") as file:
        file.write(data)
    print(name, kind, code)


def member(name, data=b"x", kind=tarfile.REGTYPE, link="", mode=0o644):
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.mode = kind, link, mode
    info.size = len(data) if kind == tarfile.REGTYPE else 0
    return info, data


def tar(*members, layout=tarfile.PAX_FORMAT):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=layout) as archive:
        for info, data in members:
            archive.addfile(info, io.BytesIO(data) if info.isreg() else None)
    return out.getvalue()


def zipped(*members, method=zipfile.ZIP_DEFLATED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data, mode in members:
            info = zipfile.ZipInfo(name)
            info.compress_type, info.create_system, info.external_attr = method, 3, mode << 16
            archive.writestr(info, data)
    return out.getvalue()


def file(name, data=b"x", mode=0o100644):
    return name, data, mode


def zstd(*parts):
    """A frame of raw blocks (bytes) and of repeated bytes ((byte, count)); no window, no checksum."""
    blocks = []
    for part in parts:
        if isinstance(part, tuple):
            byte, count = part
            while count:
                step = min(count, 128 << 10)
                blocks.append((1, step, bytes([byte])))
                count -= step
        else:
            for start in range(0, len(part), 128 << 10):
                piece = part[start:start + (128 << 10)]
                blocks.append((0, len(piece), piece))
    out = struct.pack("<IBB", 0xFD2FB528, 0, 0x58)
    for index, (kind, size, data) in enumerate(blocks):
        head = size << 3 | kind << 1 | (index == len(blocks) - 1)
        out += struct.pack("<I", head)[:3] + data
    return out


# Paths that lead out.
for number, name in enumerate([outside, "../escape", "a/../../escape", "..", "a/.."]):
    put(f"path-{number}.zip", "zip", UNSAFE, zipped(file("ok"), file(name)))
    put(f"path-{number}.tar", "tar", UNSAFE, tar(member("ok"), member(name)))
put("path-backslash.zip", "zip", UNSAFE, zipped(file("..\\..\\escape")).replace(b"../../escape", b"..\\..\\escape"))
put("path-gnu.tar", "tar", UNSAFE, tar(member("ok"), member("../" * 60 + "escape"), layout=tarfile.GNU_FORMAT))

# Links, and what is reached through them.
through = [member("d", kind=tarfile.SYMTYPE, link=os.path.dirname(outside)), member("d/" + os.path.basename(outside))]
put("symlink-through.tar", "tar", UNSAFE, tar(*through))
put("symlink-inside.tar", "tar", UNSAFE, tar(member("a"), member("b", kind=tarfile.SYMTYPE, link="a")))
put("symlink.zip", "zip", UNSAFE, zipped(file("ok"), file("link", outside.encode(), 0o120777)))
put("hardlink-out.tar", "tar", UNSAFE, tar(member("h", kind=tarfile.LNKTYPE, link="/etc/passwd")))
put("hardlink-inside.tar", "tar", UNSAFE, tar(member("a"), member("b", kind=tarfile.LNKTYPE, link="a")))

# What is no file.
for name, kind in [("character", tarfile.CHRTYPE), ("block", tarfile.BLKTYPE), ("pipe", tarfile.FIFOTYPE)]:
    put(f"device-{name}.tar", "tar", UNSAFE, tar(member("ok"), member(name, kind=kind)))
put("setuid.tar", "tar", UNSAFE, tar(member("run", mode=0o4755)))
put("setgid.zip", "zip", UNSAFE, zipped(file("run", mode=0o102755)))

# Names.
put("name-long.tar", "tar", UNSAFE, tar(member("n" * 300)))
put("name-long.zip", "zip", UNSAFE, zipped(file("n" * 300)))
put("name-deep.tar", "tar", UNSAFE, tar(member("/".join("a" * 17))))
put("name-huge.tar", "tar", UNSAFE, tar(member("/".join(["n" * 200] * 6))))
put("name-control.tar", "tar", UNSAFE, tar(member("a\nb")))
put("name-direction.zip", "zip", UNSAFE, zipped(file("a\u202Efugg")))
put("name-bytes.tar", "tar", UNSAFE, tar(member("a\udcff"), layout=tarfile.USTAR_FORMAT))
put("name-bytes.zip", "zip", UNSAFE, zipped(file("a?b")).replace(b"a?b", b"a\xffb"))
put("name-receipt.zip", "zip", UNSAFE, zipped(file("Receipt.JSON", b"{}")))
put("name-temporary.tar", "tar", UNSAFE, tar(member("a/.b.tmp-1")))
put("names-by-case.zip", "zip", UNSAFE, zipped(file("Model.gguf"), file("model.gguf")))
put("names-by-normalisation.zip", "zip", UNSAFE, zipped(file("caf\u00e9"), file("cafe\u0301")))
put("names-by-normalisation.tar", "tar", UNSAFE, tar(member("caf\u00e9"), member("cafe\u0301")))
put("names-twice.tar", "tar", UNSAFE, tar(member("a"), member("a", b"other")))
put("names-file-and-folder.tar", "tar", UNSAFE, tar(member("a"), member("a/b")))
put("names-folder-by-case.tar", "tar", UNSAFE, tar(member("a/b"), member("A/c")))

# Bombs.
zeros = bytes(64 << 20)
put("bomb.zip", "zip", LARGE, zipped(file("zeros", zeros)))
packed_tar = tar(member("zeros", zeros))
put("bomb.tar.gz", "tar.gz", LARGE, gzip.compress(packed_tar))
put("bomb.tar.zst", "tar.zst", LARGE, zstd(packed_tar[:512], (0, len(packed_tar) - 512)))
put("many.zip", "zip", LARGE, zipped(*[file(f"f{n}", b"") for n in range(1500)]))
put("many.tar.gz", "tar.gz", LARGE, gzip.compress(tar(*[member(f"f{n}", b"") for n in range(1500)])))
many_folders = [member(f"d{n}", kind=tarfile.DIRTYPE) for n in range(1500)]
put("many-folders.tar.gz", "tar.gz", LARGE, gzip.compress(tar(*many_folders)))
endless = bytearray(tar(member("a", b"x" * 600), layout=tarfile.GNU_FORMAT))
endless[124:136] = b"\x80" + b"\0" * 3 + struct.pack(">Q", 1 << 62)
endless[148:156] = b" " * 8
endless[148:156] = b"%06o\0 " % sum(endless[:512])
put("length-endless.tar", "tar", LARGE, bytes(endless))
whole = zipped(file("weights.gguf", os.urandom(9000)))
overlap = bytearray(zipped(*[file(f"f{n}", b"y" * 4000) for n in range(3)]))
first = overlap.index(b"PK\x01\x02")
for start in [first + 46 + 2, first + 2 * (46 + 2)]:
    overlap[start + 42:start + 46] = b"\0" * 4
put("overlap.zip", "zip", UNSAFE, bytes(overlap))

# Broken.
put("cut.zip", "zip", DAMAGED, whole[:-30])
put("cut-data.zip", "zip", DAMAGED, whole[:4000])
body = tar(member("weights.gguf", os.urandom(9000)))
put("cut.tar", "tar", DAMAGED, body[:4000])
put("cut-at-the-end-mark.tar", "tar", DAMAGED, body[:512 + 18 * 512])
put("cut.tar.gz", "tar.gz", DAMAGED, gzip.compress(body)[:-2000])
put("cut.tar.zst", "tar.zst", DAMAGED, zstd(body)[:-2000])
put("garbage-behind.zip", "zip", DAMAGED, whole + b"garbage")
put("garbage-behind.tar", "tar", DAMAGED, body + b"garbage" * 200)
put("garbage-behind.tar.gz", "tar.gz", DAMAGED, gzip.compress(body) + b"garbage")
put("garbage-inside.tar.gz", "tar.gz", DAMAGED, gzip.compress(body + b"garbage" * 200))
put("garbage-behind.tar.zst", "tar.zst", DAMAGED, zstd(body) + b"garbage")
put("garbage-before.zip", "zip", DAMAGED, b"#!/bin/sh\n" + whole)
changed = bytearray(whole)
changed[200] ^= 1
put("changed.zip", "zip", DAMAGED, bytes(changed))
central = whole.rindex(b"PK\x01\x02")
lying = bytearray(whole)
lying[central + 24:central + 28] = struct.pack("<I", 10)
lying[22:26] = struct.pack("<I", 10)
put("length-lies.zip", "zip", DAMAGED, bytes(lying))
parted = bytearray(whole)
parted[-18:-16] = b"\x01\x00"
put("parted.zip", "zip", DAMAGED, bytes(parted))
put("nothing.zip", "zip", DAMAGED, zipped())
put("nothing.tar", "tar", DAMAGED, tar())
put("empty.tar.gz", "tar.gz", DAMAGED, b"")
put("page.zip", "zip", DAMAGED, b"<!DOCTYPE html><html>login</html>")

# Of another format than declared.
put("is-tar.zip", "zip", DAMAGED, body)
put("is-zip.tar", "tar", DAMAGED, whole)
put("is-gzip.tar", "tar", DAMAGED, gzip.compress(body))
put("is-tar.tar.gz", "tar.gz", DAMAGED, body)
put("is-zstd.tar.gz", "tar.gz", DAMAGED, zstd(body))
put("is-zip.tar.gz", "tar.gz", DAMAGED, gzip.compress(whole))
put("twice.tar.gz", "tar.gz", DAMAGED, gzip.compress(gzip.compress(body)))

# Encrypted, sparse, and compressed in ways that cost memory.
secret = bytearray(whole)
secret[6] |= 1
secret[central + 8] |= 1
put("encrypted.zip", "zip", UNSAFE, bytes(secret))
put("method-bzip2.zip", "zip", UNSAFE, zipped(file("a", b"y" * 999), method=zipfile.ZIP_BZIP2))
put("method-lzma.zip", "zip", UNSAFE, zipped(file("a", b"y" * 999), method=zipfile.ZIP_LZMA))
sparse = bytearray(tar(member("s", b"z" * 512), layout=tarfile.GNU_FORMAT))
sparse[156:157] = b"S"
sparse[257:265] = b"ustar  \0"
sparse[386:410] = b"%011o\0%011o\0" % (1 << 20, 512)
sparse[483:495] = b"%011o\0" % ((1 << 20) + 512)
sparse[148:156] = b" " * 8
sparse[148:156] = b"%06o\0 " % sum(sparse[:512])
put("sparse-gnu.tar", "tar", UNSAFE, bytes(sparse))
info, data = member("s", b"1\n1048576\n1\n".ljust(512, b"\0") + b"z")
info.pax_headers = {
    "GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "s", "GNU.sparse.realsize": "1048577",
}
put("sparse-pax.tar", "tar", UNSAFE, tar((info, data)))

# Ordinary ones.
model = [("bundle/weights.gguf", b"weights" * 1000), ("bundle/sub/labels.txt", b"cat\ndog\n"), ("caf\u00e9.txt", b"x")]
put("good.zip", "zip", "taken", zipped(*[file(*entry) for entry in model]))
put("good-stored.zip", "zip", "taken", zipped(*[file(*entry) for entry in model], method=zipfile.ZIP_STORED))
plain = tar(*[member(*entry) for entry in model])
put("good.tar", "tar", "taken", plain)
put("good-gnu.tar", "tar", "taken", tar(*[member(*entry) for entry in model], layout=tarfile.GNU_FORMAT))
put("good.tar.gz", "tar.gz", "taken", gzip.compress(plain))
put("good.tar.zst", "tar.zst", "taken", zstd(plain))
dotted = [member(".", kind=tarfile.DIRTYPE, mode=0o755), member("./bundle", kind=tarfile.DIRTYPE, mode=0o2755)]
put("good-dotted.tar", "tar", "taken", tar(*dotted, *[member("./" + name, data) for name, data in model]))


class Stream(io.RawIOBase):
    """Accepts bytes and no seeks: a zip file written to it tells lengths and checksums after each file's bytes."""

    def __init__(self):
        super().__init__()
        self.data = b""

    def writable(self):
        return True

    def write(self, data):
        self.data += bytes(data)
        return len(data)


stream = Stream()
with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
    for name, data in model:
        archive.writestr(name, data)
put("good-descriptors.zip", "zip", "taken", stream.data)
out = io.BytesIO()
with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
    for name, data in model:
        with archive.open(name, "w", force_zip64=True) as entry:
            entry.write(data)
put("good-long-fields.zip", "zip", "taken", out.getvalue())
# The same list with its lengths and offsets in extra fields, and its end in the long form.
short = zipped(*[file(*entry) for entry in model])
place, listing, count = short.index(b"PK\x01\x02"), b"", 0
start = place
while short[place:place + 4] == b"PK\x01\x02":
    head = bytearray(short[place:place + 46])
    packed, size, name_length = struct.unpack("<IIH", head[20:30])
    offset, = struct.unpack("<I", head[42:46])
    head[20:28], head[42:46], head[30:32] = b"\xff" * 8, b"\xff" * 4, struct.pack("<H", 28)
    listing += bytes(head) + short[place + 46:place + 46 + name_length] + struct.pack("<HHQQQ", 1, 24, size, packed, offset)
    place, count = place + 46 + name_length, count + 1
end = start + len(listing)
put("good-zip64.zip", "zip", "taken", short[:start] + listing
    + struct.pack("<4sQHHIIQQQQ", b"PK\6\6", 44, 45, 45, 0, 0, count, count, len(listing), start)
    + struct.pack("<4sIQI", b"PK\6\7", 0, end, 1)
    + struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0))
zero_model = [model[0], ("zeros", bytes(3 << 20)), model[2]]
put("good-zeros.zip", "zip", "taken", zipped(*[file(*entry) for entry in zero_model]))
put("good-zeros.tar.gz", "tar.gz", "taken", gzip.compress(tar(*[member(*entry) for entry in zero_model])))
far = "/".join(["folder" * 20] * 3) + "/"
long_model = [(far + name, data) for name, data in model]
for name, layout in [("pax", tarfile.PAX_FORMAT), ("gnu", tarfile.GNU_FORMAT)]:
    put(f"good-long-{name}.tar", "tar", "taken", tar(*[member(*entry) for entry in long_model], layout=layout))
prefixed = [("p" * 90 + "/" + "q" * 90 + str(number), data) for number, (_, data) in enumerate(model)]
put("good-prefix.tar", "tar", "taken", tar(*[member(*entry) for entry in prefixed], layout=tarfile.USTAR_FORMAT))
put("good-parts.tar.gz", "tar.gz", "taken", gzip.compress(plain[:700]) + gzip.compress(plain[700:]))
