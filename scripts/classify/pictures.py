#!/usr/bin/env python3
"""Test pictures of Han characters in fonts that the classifier was never trained on; run with scripts/classify/run.sh.

    pictures.py cells FOLDER [--kind clean|degraded|outside] [--count 1000]   one character a picture, listed in labels.tsv
    pictures.py pages FOLDER [--count 5] [--characters 200] [--direction columns|rows] [--degrees 3]
                             [--format png|jpeg|tiff|pdf]                     pages, with the right text beside each
    pictures.py sheet FILE   [--kind clean|degraded|outside]                  200 such pictures in one, to look at

The same --seed makes the same pictures. Characters are those of the classes; of `outside`, characters outside the list.
A page's text has one line for each line of the page, in reading order; columns are read from right to left. A TIFF or PDF
holds all pages; in its text, an empty line stands between two pages.
"""

import argparse
import os

import numpy as np
from PIL import Image, ImageDraw

import characters
import faces
from degrade import degraded, photographed
from fonts import Face


def clean(face, character, random):
    """A sharp picture, black on white, of a usual size."""
    side = int(random.integers(48, 97))
    return Image.fromarray(255 - face.cell(character, side, margin=float(random.uniform(0.07, 0.13))))


def cells(kind, count, seed, test_faces=None):
    """Pictures with their character and face, in the order of the seed: `clean`, `degraded`, or `outside` (clean, too)."""
    random = np.random.default_rng(seed)
    test_faces = test_faces or [Face(*face) for face in faces.TEST]
    wanted = characters.outside()["test"] if kind == "outside" else characters.classes()
    wanted = [wanted[index] for _ in range(-(-count // len(wanted))) for index in random.permutation(len(wanted))]
    made = []
    for character in wanted:
        if len(made) == count:
            break
        able = [face for face in test_faces if face.has(character)]
        if not able:
            continue
        face = able[random.integers(len(able))]
        if kind == "degraded":
            other = character
            while other == character or not face.has(other):
                other = wanted[random.integers(len(wanted))]
            picture = degraded(face, character, other, random)
        else:
            picture = clean(face, character, random)
        made.append((picture, character, face))
    return made


def page(face, random, count=200, direction="columns", degrees=3.0, em=56):
    """A page as a scanner delivers it, and its text: one line for each column or row."""
    known = [character for character in characters.classes() if face.has(character)]
    text = "".join(known[index] for index in random.integers(len(known), size=count))
    length = 20
    lines = [text[begin:begin + length] for begin in range(0, count, length)]
    pitch, step, edge = round(em * 1.25), round(em * 1.7), em * 2
    along, across = edge * 2 + pitch * min(length, count), edge * 2 + step * len(lines)
    size = (across, along) if direction == "columns" else (along, across)
    ink = Image.new("L", size, 0)
    draw = ImageDraw.Draw(ink)
    for number, line in enumerate(lines):
        for place, character in enumerate(line):
            x, y = edge + place * pitch, edge + number * step
            if direction == "columns":
                x, y = size[0] - edge - (number + 1) * step + (step - em) // 2, edge + place * pitch
            draw.text((x, y), character, fill=255, font=face.font(em))
    turned = ink.rotate(degrees, Image.BICUBIC, expand=True)
    return photographed(np.asarray(turned, np.float32) / 255, random), "\n".join(lines) + "\n"


def write_cells(options):
    os.makedirs(options.folder, exist_ok=True)
    with open(os.path.join(options.folder, "labels.tsv"), "w", encoding="utf-8") as labels:
        for number, (picture, character, face) in enumerate(cells(options.kind, options.count, options.seed)):
            name = f"{number:05d}-{characters.label(character)}.png"
            picture.save(os.path.join(options.folder, name))
            labels.write(f"{name}\t{characters.label(character)}\t{character}\t{face.name}\n")


def write_pages(options):
    os.makedirs(options.folder, exist_ok=True)
    random = np.random.default_rng(options.seed)
    test_faces = [Face(*face) for face in faces.TEST]
    made = []
    for number in range(options.count):
        turned = options.degrees if number % 2 == 0 else -options.degrees
        made.append(page(test_faces[number % len(test_faces)], random, options.characters, options.direction, turned))
    if options.format in ("tiff", "pdf"):
        path = os.path.join(options.folder, f"pages.{options.format}")
        made[0][0].save(path, save_all=True, append_images=[picture for picture, _ in made[1:]], resolution=200.0)
        write_text(os.path.join(options.folder, "pages.txt"), "\n".join(text for _, text in made))
        return
    for number, (picture, text) in enumerate(made, 1):
        picture.save(os.path.join(options.folder, f"page-{number}.{options.format}"))
        write_text(os.path.join(options.folder, f"page-{number}.txt"), text)


def write_text(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def write_sheet(options):
    sheet = Image.new("L", (20 * 70, 10 * 70), 128)
    for number, (picture, _, _) in enumerate(cells(options.kind, 200, options.seed)):
        sheet.paste(picture.resize((64, 64), Image.BOX), (number % 20 * 70 + 3, number // 20 * 70 + 3))
    sheet.save(options.file)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(required=True)
    kinds = ["clean", "degraded", "outside"]
    verb = verbs.add_parser("cells")
    verb.add_argument("folder")
    verb.add_argument("--kind", choices=kinds, default="clean")
    verb.add_argument("--count", type=int, default=1000)
    verb.add_argument("--seed", type=int, default=1)
    verb.set_defaults(run=write_cells)
    verb = verbs.add_parser("pages")
    verb.add_argument("folder")
    verb.add_argument("--count", type=int, default=5)
    verb.add_argument("--characters", type=int, default=200)
    verb.add_argument("--direction", choices=["columns", "rows"], default="columns")
    verb.add_argument("--degrees", type=float, default=3)
    verb.add_argument("--format", choices=["png", "jpeg", "tiff", "pdf"], default="png")
    verb.add_argument("--seed", type=int, default=1)
    verb.set_defaults(run=write_pages)
    verb = verbs.add_parser("sheet")
    verb.add_argument("file")
    verb.add_argument("--kind", choices=kinds, default="degraded")
    verb.add_argument("--seed", type=int, default=1)
    verb.set_defaults(run=write_sheet)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
