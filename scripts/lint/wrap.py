#!/usr/bin/env python3
"""Wraps the prose of the documents at 100 columns; what cannot be broken stays: tables, code, headings, addresses.

wrap.py DOCUMENT...           rewrites paragraphs and list items that have a longer line
wrap.py --check DOCUMENT...   names the lines that are longer and could be broken; ends with 1 if there are any
"""

import re
import sys

WIDTH = 100
ITEM = re.compile(r"(\s*)([-*+]|\d+\.)\s+")
# What would begin something else than prose at the beginning of a line.
MARK = re.compile(r"([-*+#>=|]|\d+[.)]$|~~~|```)")


def words(text):
    """The pieces between which a line may end: code spans stay whole."""
    pieces = re.findall(r"(?:`+[^`]+`+|[^\s`]|`(?![^`]*`))+", text)
    joined = []
    for piece in pieces:
        if joined and MARK.match(piece):
            joined[-1] += " " + piece
        else:
            joined.append(piece)
    return joined


def filled(text, first, rest):
    lines, line, isEmpty = [], first, True
    for word in words(text):
        if not isEmpty and len(line) + 1 + len(word) > WIDTH:
            lines.append(line)
            line, isEmpty = rest, True
        line += word if isEmpty else " " + word
        isEmpty = False
    return lines + [line]


def blocks(lines):
    """Yields (first line's number, its lines, whether they are prose)."""
    block, begin, fence = [], 0, None
    for number, line in enumerate(lines):
        bare = line.strip()
        opening = re.match(r"(`{3,}|~{3,})", bare)
        prose = not (fence or opening or not bare or bare[0] in "|#<>" or bare.startswith("[//]"))
        if opening and not fence:
            fence = opening[1]
        elif fence and bare == fence:
            fence = None
        if block and (not prose or ITEM.match(line)):
            yield begin, block, True
            block = []
        if prose:
            if not block:
                begin = number
            block.append(line)
        else:
            yield number, [line], False
    if block:
        yield begin, block, True


def wrapped(lines):
    result = []
    for _, block, prose in blocks(lines):
        if not prose or max(map(len, block)) <= WIDTH:
            result += block
            continue
        item = ITEM.match(block[0])
        first = item[0] if item else re.match(r"\s*", block[0])[0]
        text = " ".join([block[0][len(first):]] + [line.strip() for line in block[1:]])
        result += filled(text, first, " " * len(first))
    return result


def main(arguments):
    check = arguments[:1] == ["--check"]
    found = 0
    for path in arguments[check:]:
        with open(path) as file:
            lines = file.read().split("\n")
        result = wrapped(lines)
        if result == lines:
            continue
        if not check:
            with open(path, "w") as file:
                file.write("\n".join(result))
            continue
        for number, block, prose in blocks(lines):
            if prose and wrapped(block) != block:
                for offset, line in enumerate(block):
                    if len(line) > WIDTH:
                        found += 1
                        print(f"{path}:{number + offset + 1}: {len(line)} columns; scripts/lint/wrap.py {path} wraps it")
    return 1 if found else 0


sys.exit(main(sys.argv[1:]))
