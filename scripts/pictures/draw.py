#!/usr/bin/env python3
"""Runs a command at a terminal and draws what that terminal shows, as an SVG.

    scripts/pictures/draw.py docs/images/first-run.svg 'make run'
    scripts/pictures/draw.py docs/images/routing.svg scripts/pictures/routing.sh 'local models and the cloud'

The picture in the README is made so, from a real run. With a title, the command itself is not shown: it writes its own prompts. Only what Hearth and make write is understood: lines, carriage
returns, erase to the end of the line or the screen, the cursor's way up, and styles. A progress bar, which a terminal shows only while it moves, keeps a line
of its own as it stood at its last moment of downloading.
"""

import fcntl
import html
import os
import pty
import re
import struct
import sys
import termios
import unicodedata

COLUMNS, LINES = 100, 60
ADVANCE, LEADING, MARGIN = 8.4, 19, 18
MARKS = {1: "bold", 2: "dim", 3: "italic", 4: "underlined", 9: "struck"}
COLOURS = {33: "#d7ba7d", 36: "#6fc3c9"}


def run(command):
    """Everything the command writes to its terminal, and its exit status."""
    process, terminal = pty.fork()
    if process == 0:
        os.execvp("bash", ["bash", "-c", command])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    written = b""
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # Linux says so when the last writer is gone
            break
        if not piece:
            break
        written += piece
    return written.decode(errors="replace"), os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def styled(style, codes):
    """The style after the numbers of an escape sequence: bold, dim, italic, underlined, struck and the colour."""
    style = dict(style)
    for code in codes.split(";"):
        code = int(code or 0)
        if code == 0:
            style = {}
        elif code in MARKS:
            style[MARKS[code]] = True
        elif code == 22:
            style.pop("bold", None)
            style.pop("dim", None)
        elif 30 <= code <= 37:
            style["colour"] = code
    return style


def screen(written):
    """The lines as they stand at the end: each a list of (character, style); the second half of a wide character is empty."""
    lines, row, column, style, bar = [[]], 0, 0, {}, None
    written = re.sub(r"\x1b\][^\x07\x1b]*(\x07|\x1b\\)", "", written)
    for part in re.findall(r"\x1b\[[0-9;?]*[A-Za-z]|\r|\n|[^\x1b\r\n]|\x1b", written):
        if part == "\n":
            if bar is not None:
                lines.insert(row, bar)
                row, bar = row + 1, None
            row += 1
            if row == len(lines):
                lines.append([])
            column = 0
        elif part == "\r":
            column = 0
        elif part.startswith("\x1b["):
            if part[-1] in "KJ":
                if "downloading" in "".join(character for character, _ in lines[row]):
                    bar = lines[row][:]
                del lines[row][column:]
                if part[-1] == "J":
                    del lines[row + 1 :]
            elif part[-1] == "A":
                row = max(0, row - int(part[2:-1] or 1))
            elif part[-1] == "m":
                style = styled(style, part[2:-1])
        elif part >= " ":
            line = lines[row]
            line.extend([(" ", {})] * (column + 1 - len(line)))
            line[column] = (part, style)
            column += 1
            if unicodedata.east_asian_width(part) in "WF":
                line[column:] = [("", style)]
                column += 1
    while lines and not lines[-1]:
        lines.pop()
    folded = []
    for line in lines:
        folded.extend([line[start : start + COLUMNS] for start in range(0, max(1, len(line)), COLUMNS)])
    return folded


def attributes(style):
    """The style as attributes of SVG."""
    text = ""
    if style.get("bold"):
        text += ' font-weight="bold" fill="#ffffff"'
    elif style.get("dim"):
        text += ' fill="#80868f"'
    elif style.get("colour") in COLOURS:
        text += f' fill="{COLOURS[style["colour"]]}"'
    if style.get("italic"):
        text += ' font-style="italic"'
    lines = [name for name, mark in (("underline", "underlined"), ("line-through", "struck")) if style.get(mark)]
    return text + (f' text-decoration="{" ".join(lines)}"' if lines else "")


def draw(command, lines, title):
    prompt = [] if title else [[(character, {"bold": True}) for character in f"$ {command}"]]
    rows = []
    for number, line in enumerate(prompt + lines):
        spans, start = "", 0
        while start < len(line):
            end = start
            while end < len(line) and line[end][1] == line[start][1]:
                end += 1
            text = html.escape("".join(character for character, _ in line[start:end]))
            style = attributes(line[start][1])
            # After a wide character, whose width differs between fonts, the next column is named.
            place = f' x="{MARGIN + ADVANCE * start:.1f}"' if start and "" in (c for c, _ in line[:start]) else ""
            spans += f"<tspan{place}{style}>{text}</tspan>" if style or place else text
            start = end
        rows.append(f'<text x="{MARGIN}" y="{MARGIN + LEADING * (number + 1)}" xml:space="preserve">{spans}</text>')
    width, height = MARGIN * 2 + ADVANCE * COLUMNS, MARGIN * 2 + LEADING * (len(rows) + 1) - 8
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}">\n'
        f'<title>What a terminal shows{html.escape(f": {title}" if title else f" after {command}")}</title>\n'
        f'<rect width="100%" height="100%" rx="8" fill="#1d1f24"/>\n'
        f'<g font-family="ui-monospace, Menlo, DejaVu Sans Mono, monospace" font-size="14" fill="#c9cdd6">\n'
        + "\n".join(rows) + "\n</g>\n</svg>\n")


target, command, title = (sys.argv[1:] + [""])[:3]
written, status = run(command)
if status != 0:
    sys.exit(f"{command} ended with {status}:\n{written}")
# A user's folders do not belong in a picture.
for place, name in ((os.getcwd(), "."), (os.environ.get("HEARTH_HOME", "\0"), "~/.local/share/hearth"), (os.path.expanduser("~"), "~")):
    written = written.replace(place, name)
os.makedirs(os.path.dirname(target) or ".", exist_ok=True)
with open(target, "w") as file:
    file.write(draw(command, screen(written), title))
