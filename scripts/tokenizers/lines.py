"""Writes 4,000 lines in many scripts, the same at each run, as a list in JSON: lines.py PACKAGES OUT.

PACKAGES has unpacked packages of known hashes, whose texts are a part of the lines.
"""
import glob
import json
import random
import sys

BLOCKS = [
    (0x20, 0x7F), (0xA0, 0x250), (0x370, 0x530), (0x590, 0x700), (0x900, 0xDFF), (0xE00, 0xFFF), (0x1E00, 0x2000),
    (0x2000, 0x2070), (0x20A0, 0x20C0), (0x2190, 0x2300), (0x3040, 0x30FF), (0x4E00, 0x9FFF), (0xAC00, 0xD7A3),
    (0x1F300, 0x1F6FF), (0xFF00, 0xFFEF)]
PARTS = [
    " ", "  ", "\n", "\r\n", "\t", "a", "I'm", "'LL", "don't", "12345", "3.14", "...", "==", "é", "e\u0301", "中", "🙂",
    "\u200d", "\u00a0", "_", "-", '"', "/", "x"]
WORDS = [
    "Привет, мир!", "¿Qué tal?", "日本語のテキスト", "한국어 문장입니다", "مرحبا بالعالم", "שלום", "नमस्ते दुनिया",
    "สวัสดีชาวโลก", "Xin chào thế giới", "Zażółć gęślą jaźń", "Ελληνικά", "ქართული", "Հայերեն", "ไทย", "ቋንቋ",
    "<|im_end|>", "<s>", "[INST]", "<|eot_id|>", "<|user|>\n", "<|end|>  ", "HelloWorldИМир", "приветМир", "ΑλφαΒήτα", "ǅemalUNESCO", "a\u0323\u0307",
    "각", "\u1112\u1161\u11ab", "\u212b\u2126"]


def main():
    packages, out = sys.argv[1:3]
    chance = random.Random(7)
    texts = []
    for path in sorted(glob.glob(f"{packages}/*/**/*.py", recursive=True) + glob.glob(f"{packages}/*/**/*.md", recursive=True)):
        with open(path, encoding="utf-8") as file:
            texts.append(file.read())

    def excerpt():
        text = chance.choice(texts)
        start = chance.randrange(max(1, len(text) - 10))
        return text[start:start + chance.randrange(1, 400)]

    def mixed():
        blocks = [chance.choice(BLOCKS) for _ in range(chance.randrange(1, 4))]
        return "".join(
            chr(chance.randrange(*chance.choice(blocks))) if chance.random() < 0.8 else chance.choice(" \n\t  '.0123")
            for _ in range(chance.randrange(1, 80)))

    def pieces():
        return "".join(chance.choice(PARTS) for _ in range(chance.randrange(1, 30)))

    def sentences():
        return chance.choice(["", " "]).join(chance.choice(WORDS) for _ in range(chance.randrange(1, 8)))

    lines = [make() for make, count in ((excerpt, 1500), (mixed, 1200), (pieces, 600), (sentences, 700))
             for _ in range(count)]
    with open(out, "w", encoding="utf-8") as file:
        json.dump(lines, file, ensure_ascii=False)


main()
