"""Compares imported vocabularies in llama.cpp with the originals, line for line: compare.py PROBE VOCABULARIES LINES.

PROBE is the program HearthTokenizerProbe. The same number of lines has to differ as the import says in its notes, else none.
"""
import json
import os
import re
import subprocess
import sys

import sentencepiece
from tokenizers import Tokenizer


def wanted(folder, lines):
    """The tokens of each line by the original; None for a line that has no tokens to compare."""
    if os.path.exists(f"{folder}/tokenizer.json"):
        return [found.ids for found in Tokenizer.from_file(f"{folder}/tokenizer.json").encode_batch(lines)]
    model = sentencepiece.SentencePieceProcessor(model_file=f"{folder}/tokenizer.model")
    # SentencePiece itself cuts no control tokens out of a text.
    names = [model.id_to_piece(i) for i in range(model.get_piece_size()) if model.is_control(i) or model.is_unknown(i)]
    found = model.encode(lines)
    return [None if any(name in line for name in names) else [model.bos_id(), *ids] for line, ids in zip(lines, found)]


def noted(notes):
    """The number of differing lines that the notes of an import name."""
    counts = [int(count) for note in notes for count in re.findall(r"(\d+) of 4,000 lines", note)]
    return sum(counts)


def compare(probe, folder, path, lines):
    name = os.path.basename(folder)
    result = f"{folder}/tokens.json"
    architecture = "phi3" if name == "phi3" else "llama"
    subprocess.run([probe, folder, architecture, path, result], check=True)
    with open(result, encoding="utf-8") as file:
        got = json.load(file)
    pairs = [(line, want, ids) for line, want, ids in zip(lines, wanted(folder, lines), got["tokens"]) if want is not None]
    different = [(line, want, ids) for line, want, ids in pairs if want != ids]
    expected = noted(got["notes"])
    size = max((os.path.getsize(f"{folder}/{file}") for file in os.listdir(folder) if file.startswith("tokenizer.")))
    print(f"{name}: {len(different)} of {len(pairs)} lines differ, {expected} noted; "
          f"{size / 1e6:.1f} MB imported in {got['seconds']:.1f} s", flush=True)
    if len(different) == expected:
        return True
    for line, want, ids in different[:3]:
        place = next((i for i, (a, b) in enumerate(zip(want, ids)) if a != b), min(len(want), len(ids)))
        print(f"  {line[:60]!r}: {want[max(0, place - 1):place + 3]} became {ids[max(0, place - 1):place + 3]}")
    return False


def main():
    probe, vocabularies, path = sys.argv[1:4]
    with open(path, encoding="utf-8") as file:
        lines = json.load(file)
    assert len(lines) == 4000
    results = [compare(probe, f"{vocabularies}/{name}", path, lines) for name in sorted(os.listdir(vocabularies))]
    sys.exit(0 if results and all(results) else 1)


main()
