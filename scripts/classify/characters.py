"""The characters of the classifier: its classes, and the characters outside the list for training and tests.

The list of classes, version v1, follows from four national standards, all of which Python can read: the characters that
GB 2312 level 1, Big5 level 1, JIS X 0208 level 1 and KS X 1001 have in common, and of these the 972 with the fewest
strokes, for Big5 orders its characters by strokes. Such characters have one form in China, Japan and Korea, apart from details.
"""

import random

COUNT = 972
VERSION = "v1"

# Of other scripts, these cannot be told from a character of the list.
LOOKALIKES = set("ーニロカエタトハチアイオメソンリくりへヘべベぺペノテフラヌスケサミムモヤユヨキコクシツIlO0")


def decoded(rows, columns, encoding):
    """The characters of a table of two-byte codes."""
    found = []
    for row in rows:
        for column in columns:
            try:
                text = bytes([row, column]).decode(encoding)
            except UnicodeDecodeError:
                continue
            if len(text) == 1 and "\u4e00" <= text <= "\u9fff":
                found.append(text)
    return found


def classes():
    """The classes in the order of the model's output: by code point."""
    gr = range(0xA1, 0xFF)
    gb2312 = set(decoded(range(0xB0, 0xD8), gr, "gb2312"))
    jis = set(decoded(range(0xB0, 0xD0), gr, "euc_jp"))
    ks = set(decoded(range(0xCA, 0xFE), gr, "euc_kr"))
    big5 = decoded(range(0xA4, 0xC7), [*range(0x40, 0x7F), *gr], "big5")
    common = [character for character in big5 if character in gb2312 and character in jis and character in ks]
    return sorted(common[:COUNT])


def label(character):
    """The label of a character, as `4EBA`."""
    return f"{ord(character):04X}"


def outside():
    """Characters outside the list for training, for calibration and for tests. Those for tests are never trained on."""
    known = set(classes())
    others = [chr(code) for code in range(0x4E00, 0x9FA6) if chr(code) not in known]
    random.Random(27).shuffle(others)
    return {"test": others[:2000], "calibrate": others[2000:3000], "train": others[3000:]}


def other_scripts():
    """Kana, Latin letters, digits and some Hangul without the ones that look like a character of the list."""
    codes = [*range(0x3041, 0x3097), *range(0x30A1, 0x30FB), *range(0x41, 0x5B), *range(0x61, 0x7B), *range(0x30, 0x3A),
             *range(0xAC00, 0xD7A4, 97)]
    return [chr(code) for code in codes if chr(code) not in LOOKALIKES]
