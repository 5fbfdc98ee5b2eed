"""The cells that training starts from: every class in every font that has it, and a background of other characters."""

import hashlib
import multiprocessing
import os

import numpy as np

import characters
import faces
from fonts import Face

SIDE = 64
# A glyph that is less like the same character in the other fonts is a wrong or damaged one.
LEAST_LIKENESS = 0.2


def drawn(job):
    """The cells of one face: `(face, indices, cells, the number of characters without a glyph)`."""
    entry, text = job
    face = Face(*entry)
    indices = [index for index, character in enumerate(text) if face.has(character)]
    cells = [face.cell(text[index], SIDE) for index in indices]
    shape = (0, SIDE, SIDE)
    return face.name, np.array(indices, np.int64), np.stack(cells) if cells else np.zeros(shape, np.uint8), len(text) - len(indices)


def drawn_by_all(jobs):
    with multiprocessing.get_context("fork").Pool(2) as pool:
        return pool.map(drawn, jobs, chunksize=1)


def likeness(cells, labels, count):
    """How much each cell is like the mean of the same class's other cells: a correlation at 16 * 16 pixels."""
    small = cells.reshape(-1, 16, SIDE // 16, 16, SIDE // 16).mean((2, 4)).reshape(len(cells), -1)
    small -= small.mean(1, keepdims=True)
    small /= np.linalg.norm(small, axis=1, keepdims=True) + 1e-6
    sums = np.zeros((count, small.shape[1]))
    np.add.at(sums, labels, small)
    others = sums[labels] - small
    return (small * others).sum(1) / (np.linalg.norm(others, axis=1) + 1e-6)


def known(say):
    """The cells of the classes in the fonts for training, and their classes."""
    text = characters.classes()
    results = drawn_by_all([(entry, text) for entry in faces.TRAIN])
    cells = np.concatenate([result[2] for result in results])
    labels = np.concatenate([result[1] for result in results])
    alike = likeness(cells, labels, len(text))
    begin = 0
    for name, indices, _, missing in results:
        own = alike[begin:begin + len(indices)]
        begin += len(indices)
        say(f"trained on {name}: {len(indices)} glyphs, {missing} missing, {int((own < LEAST_LIKENESS).sum())} unlike the"
            f" other fonts', likeness {np.median(own) if len(own) else 0:.2f}")
    keep = alike >= LEAST_LIKENESS
    counts = np.bincount(labels[keep], minlength=len(text))
    say(f"{int(keep.sum())} glyphs of {len(text)} classes, {counts.min()} to {counts.max()} for each class")
    if counts.min() < 8:
        raise SystemExit("a class has fewer than 8 glyphs; add a font that has it")
    return cells[keep], labels[keep]


def background(say):
    """Cells of characters outside the list, of other scripts, and empty ones."""
    random = np.random.default_rng(3)
    text = characters.outside()["train"]
    jobs = []
    for entry in faces.TRAIN:
        jobs.append((entry, [text[index] for index in random.permutation(len(text))[:1100]]))
        jobs.append((entry, list(random.permutation(characters.other_scripts())[:60])))
    cells = np.concatenate([result[2] for result in drawn_by_all(jobs)] + [np.zeros((200, SIDE, SIDE), np.uint8)])
    say(f"{len(cells)} glyphs of the background")
    return cells


def load(say):
    """Both, kept in the cache: `(cells, labels, background)`."""
    digest = hashlib.sha256()
    for name in ("faces.py", "fonts.py", "characters.py", "glyphs.py"):
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), name), "rb") as file:
            digest.update(file.read())
    path = os.path.join(os.environ["HEARTH_FONTS"], "..", f"glyphs-{digest.hexdigest()[:12]}.npz")
    if not os.path.exists(path):
        lines = []
        cells, labels = known(lines.append)
        other = background(lines.append)
        np.savez(path + ".tmp.npz", cells=cells, labels=labels, other=other, lines=np.array(lines))
        os.replace(path + ".tmp.npz", path)
    with np.load(path) as kept:
        for line in kept["lines"]:
            say(str(line))
        return kept["cells"], kept["labels"], kept["other"]
