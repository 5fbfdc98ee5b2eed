#!/usr/bin/env python3
"""Checks that each declaration of scripts/apple/stubs has the address of the page that documents it, and no stub a body.

    scripts/apple/stubs.py

The address stands in a comment above the declaration, above the type that it is a member of, or at the beginning of a paragraph of
declarations. What records a tree for tests is marked "our own".
"""
import re
import sys

from sdk import HERE

DECLARATION = re.compile(
    r"(?:@\w+(?:\([^)]*\))?\s+)*(?:public|open|package)\s+(?:(?:final|static|class|mutating|override|indirect|nonisolated(?:\(unsafe\))?|"
    r"convenience|required)\s+)*(?:struct|class|enum|protocol|actor|func|var|let|typealias|init)\b|extension\b")
ADDRESS = re.compile(r"\s*///? .*\bour own\b|\s*// .*\b[\w-]+(?:\.[\w-]+)*\.(?:com|org|io)/\S+")


def problems(path):
    """The declarations at the outermost level that no address stands above."""
    has_address = False
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip():
            has_address = False
        elif ADDRESS.match(line):
            has_address = True
        elif DECLARATION.match(line) and not has_address and not line.startswith("extension"):
            yield f"{path.relative_to(HERE.parents[1])}:{number}: no address stands above {line.strip()[:60]}"


def main() -> int:
    files = sorted((HERE / "stubs").rglob("*.swift"))
    found = [problem for path in files for problem in problems(path)]
    print("\n".join(found) if found else f"stubs: {len(files)} files, each declaration with its address")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
