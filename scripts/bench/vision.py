"""Answers to pictures, token for token, against llama-server of the same build. The projectors' weights are random (scripts/tiny-models.py):
nothing sensible is said, but a wrong pixel, place or position says something else."""

import base64
import os
import struct
import tempfile
import zlib

from decode import MODEL, TINY, answered, ask, messages, same, serving
from measure import report


def png(width, height, colour):
    """Stripes on a colour."""
    lines = b"".join(
        b"\0" + bytes(c for x in range(width) for c in (colour if (x // 7 + y // 5) % 3 else (255 - colour[0], y % 256, x % 256)))
        for y in range(height))

    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")


def bmp(width, height):
    line = b"".join(bytes((x * 3 % 256, x * 5 % 256, 90)) for x in range(width))
    line += b"\0" * (-len(line) % 4)
    header = struct.pack("<IiiHHIIiiII", 40, width, height, 1, 24, 0, len(line) * height, 0, 0, 0, 0)
    return struct.pack("<2sIHHI", b"BM", 54 + len(line) * height, 0, 0, 54) + header + line * height


# A blue square and a yellow disc on red.
JPEG = base64.b64decode(
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABQODxIPDRQSEBIXFRQYHjIhHhwcHj0sLiQySUBMS0dARkVQWnNiUFVtVkVGZIhlbXd7gYKBTmCNl4"
    "x9lnN+gXz/2wBDARUXFx4aHjshITt8U0ZTfHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHz/wAARCAAe"
    "ACgDASIAAhEBAxEB/8QAHwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QAtRAAAgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEGE1FhBy"
    "JxFDKBkaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWGh4iJipKT"
    "lJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6/8QAHwEAAwEBAQEBAQEBAQAAAA"
    "AAAAECAwQFBgcICQoL/8QAtREAAgECBAQDBAcFBAQAAQJ3AAECAxEEBSExBhJBUQdhcRMiMoEIFEKRobHBCSMzUvAVYnLRChYkNOEl8RcYGRom"
    "JygpKjU2Nzg5OkNERUZHSElKU1RVVldYWVpjZGVmZ2hpanN0dXZ3eHl6goOEhYaHiImKkpOUlZaXmJmaoqOkpaanqKmqsrO0tba3uLm6wsPExc"
    "bHyMnK0tPU1dbX2Nna4uPk5ebn6Onq8vP09fb3+Pn6/9oADAMBAAIRAxEAPwDOZgoyab5q+hol+6PrUNdWFwtOrT5pbnVisVUpVOWOxOrhjgZp"
    "1aGiaekqtcTpuXOEB6H1Pv8A/rrcMaNH5ZRSnTaRx+VeTjK1OjWdOCvY1o4mTgnJanJ0Vf1WyW2kV4lIjbjGc4P+f60UoSU1dHdGSkroznUsMC"
    "o/Kb1FTUV2UsVUpR5Y7HPVwtOrLmlubuhyhrLyv4oic+4Jzn+f5Vo1ykUskLh4nKt6irh1i6Me0bAf7wXn/CvKr0JVKjmupDwzWkdi1rkw2Rwf"
    "xE7z7Dp/j+VFY7uzsWdizHqScmiuinDkjynVCPJGx//Z")

PROMPTS = [
    ("projector", ["png"], "What is in the picture?"),
    ("projector", ["bmp"], "Describe the colours you see."),
    ("projector", ["jpeg", "png"], "Compare the two pictures."),
    ("projector-two-way", ["jpeg"], "Tell a story about this."),
    ("projector-two-way", ["png", "bmp"], "Which of these is older?"),
    ("projector-grid", ["png"], "What is in the picture?"),
    ("projector-grid", ["jpeg", "bmp"], "Compare the two pictures."),
]


def equal():
    """Greedy answers about pictures, against llama-server."""
    pictures = {"png": png(90, 50, (30, 120, 220)), "bmp": bmp(33, 47), "jpeg": JPEG}
    count = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, content in pictures.items():
            with open(os.path.join(folder, name), "wb") as file:
                file.write(content)
        for projector in dict.fromkeys(prompt[0] for prompt in PROMPTS):
            path = f"{TINY}/{projector}.gguf"
            # The one whose pictures have places in two directions sees for a model whose text has such places too.
            model = f"{TINY}/grid.gguf" if projector == "projector-grid" else MODEL
            # The projector computes with flash attention, and the server has one switch for projector and text: so the text gets a
            # cache that needs it, too. The rows of the small model are too short for that cache.
            is_small = projector == "projector-grid"
            cache = "f16" if is_small else "q8_0"
            with serving("--mmproj", path, "-fa", "off" if is_small else "on", "-ctk", cache, "-ctv", cache, model=model) as port:
                for _, names, question in [prompt for prompt in PROMPTS if prompt[0] == projector]:
                    shown = [word for name in names for word in ("--image", os.path.join(folder, name))]
                    mine = answered(model, "--projector", path, *shown, "--prompt", question, tokens=32,
                                    settings={"cacheType": cache})
                    content = [{"type": "image_url", "image_url": {
                        "url": f"data:image/{name};base64," + base64.b64encode(pictures[name]).decode()}} for name in names]
                    content.append({"type": "text", "text": question})
                    answer = ask(port, "/v1/chat/completions", {
                        "messages": messages(content), "max_tokens": 32, "temperature": 0, "samplers": ["temperature"],
                        "cache_prompt": False, "return_tokens": True, "verbose": True})
                    theirs = (answer["choices"][0]["message"]["content"], answer["__verbose"]["tokens"])
                    count += same(f"vision-equal: {projector}", question, mine, theirs)
    report("vision-equal", ours=count, of=len(PROMPTS))
