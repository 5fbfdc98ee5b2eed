"""A scan of the scripted server: a page of blots in columns, and the reply that a classifier would give for it."""
import struct
import zlib

TEXT = "天地玄黄宇宙洪荒日月盈昃辰宿列張寒來暑往秋收冬藏閏餘成歲律召調陽雲騰致雨露結爲霜金生麗水玉出崑岡劍號巨闕珠稱夜光果珍李柰菜重芥薑"
PITCH, SIDE, EDGE = 40, 28, 30


def png(width, height, rows):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(b"".join(b"\0" + row for row in rows))) + chunk(b"IEND", b""))


def candidates(text, confidence):
    return [{"label": text, "confidence": confidence}] + [
        {"label": label, "confidence": (1 - confidence) / 2 ** (place + 1)} for place, label in enumerate("入八大太") if label != text]


def scan(columns=10, length=20, model="hearth-hanzi@1.0.0"):
    """The picture as PNG, and the reply: columns from the right, of each ten characters one fairly sure and one unverified."""
    width, height = 2 * EDGE + columns * PITCH, 2 * EDGE + length * PITCH
    rows = [bytearray(b"\xf4" * width) for _ in range(height)]
    characters = []
    for column in range(columns):
        for place in range(length):
            x, y = width - EDGE - (column + 1) * PITCH + 6, EDGE + place * PITCH + 6
            for line in range(4, SIDE - 4):
                rows[y + line][x + 4:x + SIDE - 4] = (b"\x20" * 3 + b"\xc0") * 5
            number = column * length + place
            confidence = {3: 0.71, 7: 0.34}.get(number % 10, 0.987)
            verdict = "accepted" if confidence >= 0.9 else "uncertain" if confidence >= 0.6 else "unverified"
            text = TEXT[number % len(TEXT)]
            characters.append({
                "page": 1, "line": column + 1, "x": x, "y": y, "width": SIDE, "height": SIDE, "text": text, "confidence": confidence,
                "verdict": verdict, "candidates": candidates(text, confidence)})
    pages = [{"page": 1, "width": width, "height": height, "degrees": 0.0}]
    return png(width, height, rows), {"model": model, "classes": [], "pages": pages, "characters": characters}
