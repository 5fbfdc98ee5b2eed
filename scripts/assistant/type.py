#!/usr/bin/env python3
"""Runs a program at a terminal of its own and types lines, each once a text is shown.

    printf '%s\t%s\n' '> ' 'Hello!' '> ' '/exit' | scripts/assistant/type.py hearth chat

Each line of the input is a text, a tab, and what is typed when the text is shown; escapes such as \\x03 are read. What the
terminal shows goes to the output; its window is that of the output, or 100 columns. The exit status is the program's, or 124
if a text does not come within HEARTH_TYPE_LIMIT seconds (60).
"""
import fcntl
import os
import pty
import re
import select
import struct
import sys
import termios
import time

LIMIT = float(os.environ.get("HEARTH_TYPE_LIMIT", "60"))
STEPS = [line.rstrip("\n").split("\t", 1) for line in sys.stdin]
try:
    WINDOW = fcntl.ioctl(1, termios.TIOCGWINSZ, b"\0" * 8)
except OSError:
    WINDOW = struct.pack("HHHH", 40, 100, 0, 0)

process, terminal = pty.fork()
if process == 0:
    # Without a window the program would ask for one too early.
    fcntl.ioctl(0, termios.TIOCSWINSZ, WINDOW)
    os.execvp(sys.argv[1], sys.argv[1:])
shown, step, deadline = "", 0, time.monotonic() + LIMIT
while True:
    ready, _, _ = select.select([terminal], [], [], 0.2)
    if ready:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # Linux says so when the last writer is gone
            break
        if not piece:
            break
        os.write(1, piece)
        text = re.sub(r"\x1b(\[[0-9;?]*[A-Za-z]|\][^\x07\x1b]*(\x07|\x1b\\))", "", piece.decode(errors="replace"))
        shown = (shown + text)[-20000:]
    elif time.monotonic() > deadline:
        if step < len(STEPS):
            print(f"\ntype.py: {STEPS[step][0]!r} is not shown", file=sys.stderr)
        os.kill(process, 9)
        os.waitpid(process, 0)
        sys.exit(124)
    if not ready and step < len(STEPS) and STEPS[step][0] in shown:
        # Once the program writes no more, it waits for keys.
        keys = STEPS[step][1].encode().decode("unicode_escape").encode("latin-1") if "\\" in STEPS[step][1] else STEPS[step][1].encode()
        shown, step, deadline = "", step + 1, time.monotonic() + LIMIT
        os.write(terminal, keys + b"\r")
sys.exit(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
