#!/usr/bin/env python3
"""Runs a command at a terminal and draws what that terminal shows, as an SVG.

    scripts/picture.py docs/images/first-run.svg 'make run'
    scripts/picture.py docs/images/routing.svg scripts/routing-picture.sh 'local models and the cloud'

The picture in the README is made so, from a real run. With a title, the command itself is not shown: it writes its own prompts. Only what Hearth and make write is understood: lines, carriage
returns, erase to the end of the line, and bold. A progress bar, which a terminal shows only while it moves, keeps a line
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

COLUMNS, LINES = 100, 60
ADVANCE, LEADING, MARGIN = 8.4, 19, 18


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


def screen(written):
    """The lines as they stand at the end: each a list of (character, bold)."""
    lines, column, bold, bar = [[]], 0, False, None
    for part in re.findall(r"\x1b\[[0-9;?]*[A-Za-z]|\r|\n|[^\x1b\r\n]|\x1b", written):
        if part == "\n":
            if bar is not None:
                lines.insert(len(lines) - 1, bar)
                bar = None
            lines.append([])
            column = 0
        elif part == "\r":
            column = 0
        elif part.startswith("\x1b["):
            if part[-1] == "K":
                if "downloading" in "".join(character for character, _ in lines[-1]):
                    bar = lines[-1][:]
                del lines[-1][column:]
            elif part[-1] == "m":
                bold = part[2:-1] == "1"
        elif part >= " ":
            line = lines[-1]
            line.extend([(" ", False)] * (column + 1 - len(line)))
            line[column] = (part, bold)
            column += 1
    while lines and not lines[-1]:
        lines.pop()
    folded = []
    for line in lines:
        folded.extend([line[start : start + COLUMNS] for start in range(0, max(1, len(line)), COLUMNS)])
    return folded


def draw(command, lines, title):
    prompt = [] if title else [[(character, True) for character in f"$ {command}"]]
    rows = []
    for number, line in enumerate(prompt + lines):
        spans, start = "", 0
        while start < len(line):
            end = start
            while end < len(line) and line[end][1] == line[start][1]:
                end += 1
            text = html.escape("".join(character for character, _ in line[start:end]))
            spans += f'<tspan font-weight="bold" fill="#ffffff">{text}</tspan>' if line[start][1] else text
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
# Nobody's folders belong in a picture.
for place, name in ((os.getcwd(), "."), (os.environ.get("HEARTH_HOME", "\0"), "~/.local/share/hearth"), (os.path.expanduser("~"), "~")):
    written = written.replace(place, name)
os.makedirs(os.path.dirname(target) or ".", exist_ok=True)
with open(target, "w") as file:
    file.write(draw(command, screen(written), title))
