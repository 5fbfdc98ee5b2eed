#!/usr/bin/env python3
"""Gathers the licenses of everything in the hearth program into Sources/CLicenses/licenses.txt, which `hearth licenses` prints.

    scripts/tests/licenses.py                     writes the file from the sources named below
    scripts/tests/licenses.py --check [PROGRAM]   fails if the file differs from the sources that are on this machine, or if the program
                                                  is linked with a library that the file does not name
HEARTH_LLAMA_SOURCE is llama.cpp's source folder, as set-up unpacks it; HEARTH_WEB_LICENSES has the copyright files of the page's
libraries, as set-up lays them down.
"""
import os
import re
import subprocess
import sys
import textwrap

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FILE = os.path.join(ROOT, "Sources/CLicenses/licenses.txt")
LLAMA = os.environ.get("HEARTH_LLAMA_SOURCE", "")
WEB = os.environ.get("HEARTH_WEB_LICENSES", "")


def swift_folder():
    swift = subprocess.run(["sh", "-c", "command -v swiftc"], capture_output=True, text=True).stdout.strip()
    return os.path.dirname(os.path.dirname(os.path.realpath(swift))) if swift else ""


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def whole(text):
    return text


def first_comment(text):
    """The block of comments at the beginning of a source file."""
    if text.lstrip().startswith("/*"):
        return text[text.index("/*") + 2:text.index("*/")]
    lines = []
    for line in text.splitlines():
        if not line.startswith("//"):
            break
        lines.append(line[2:])
    return "\n".join(lines)


def first_license(text):
    """The second block of comments, after one that only names the project."""
    return first_comment(text[text.index("*/") + 2:])


def last_comment(text):
    """The block of comments at the end of a source file."""
    return text[text.rindex("/*") + 2:text.rindex("*/")]


def yarn(text):
    """The note beside the function, with the text of the license it names, which llama.cpp's own license has, too."""
    note = re.search(r"// YaRN algorithm.*\n// MIT licensed\. (Copyright.*)\n", text)
    mit = read(os.path.join(LLAMA, "LICENSE"))
    return f"{note[1]}\n\n{mit[mit.index('Permission is hereby'):]}"


def node_icu(text):
    """The section of ICU in the licenses of Node.js, which contains ICU's own file."""
    section = re.search(r'^- ICU, located.*\n  """\n([\s\S]*?)\n  """$', text, re.M)
    return section[1]


def debian(text):
    """Of a Debian copyright file, the holders of the library's own files and the text of their license."""
    first = next(part for part in text.split("\n\n") if part.startswith("Files: *\n"))
    holders = re.search(r"^Copyright:((?:.*\n)(?:[ \t].*\n)*)", first + "\n", re.M)[1]
    name = re.search(r"^License: (.*)$", first, re.M)[1]
    lines = ["Copyright " + line.strip() for line in holders.strip().splitlines()]
    if name.startswith("Apache-2.0"):
        license = read(ROOT + "/LICENSE")
    else:
        body = re.search(rf"^License: {re.escape(name)}\n((?: .*\n)+)", text + "\n", re.M)[1]
        license = re.sub(r"^ \.?", "", body, flags=re.M)
    return "\n".join(lines) + "\n\n" + license


# Name, license, file and the part of it. The files of {llama} are those that go into libhearth-llama.a; {swift} is the toolchain.
# Of ICU's license the toolchain has no copy: it comes from Debian's package nodejs (ICU 74 or newer). That differs from machine to
# machine, so --check does not compare it.
NOT_COMPARED = "ICU"
BUNDLED = {
    "hearth": [("Hearth", "Apache-2.0", ROOT + "/LICENSE", whole)],
    "llama": [
        ("llama.cpp and ggml", "MIT", "{llama}/LICENSE", whole),
        ("llamafile (matrix multiplication)", "MIT", "{llama}/ggml/src/ggml-cpu/llamafile/sgemm.cpp", first_comment),
        ("YaRN", "MIT", "{llama}/ggml/src/ggml-cpu/ops.cpp", yarn),
        ("JSON for Modern C++", "MIT", "{llama}/licenses/LICENSE-jsonhpp", whole),
        ("cpp-httplib", "MIT", "{llama}/vendor/cpp-httplib/LICENSE", whole),
        ("stb_image", "MIT or public domain", "{llama}/vendor/stb/stb_image.h", last_comment),
        ("miniaudio", "MIT-0 or public domain", "{llama}/vendor/miniaudio/miniaudio.h", last_comment),
        ("subprocess.h", "Unlicense", "{llama}/vendor/sheredom/subprocess.h", first_license),
        ("SHA-1 in C", "public domain", "{llama}/vendor/hash/sha1/sha1.c", first_comment),
        ("SHA-256 by Igor Pavlov", "public domain", "{llama}/vendor/hash/sha256/LICENSE", whole),
        ("rotate-bits", "MIT", "{llama}/vendor/hash/rotate-bits/LICENSE.md", whole),
        ("xxHash", "BSD-2-Clause", "{llama}/vendor/hash/xxhash/LICENSE", whole),
    ],
    "swift": [
        ("Swift runtime, standard library, Foundation, Swift Collections and libdispatch", "Apache-2.0 with Swift-exception",
         "{swift}/share/swift/LICENSE.txt", whole),
        ("ICU", "Unicode-3.0", "/usr/share/doc/nodejs/LICENSE", node_icu),
    ],
    "server": [
        ("marked", "MIT", "{web}/node-marked", debian),
        ("DOMPurify", "Apache-2.0 or MPL-2.0", "{web}/node-dompurify", debian),
        ("highlight.js", "BSD-3-Clause", "{web}/libjs-highlight.js", debian),
        ("KaTeX", "MIT", "{web}/libjs-katex", debian),
    ],
}
# Libraries of the system: the group, the name, the license and the names under which programs are linked with them.
SYSTEM = [
    ("system", "GNU C library", "LGPL-2.1-or-later", "libc libm libdl libpthread ld-linux-x86-64 ld-linux-aarch64"),
    ("system", "libstdc++ and libgcc", "GPL-3.0-or-later with GCC-exception-3.1", "libstdc++ libgcc_s"),
    ("system", "libarchive", "BSD-2-Clause", "libarchive"),
    ("system", "libcurl", "curl", "libcurl"),
    ("system", "zlib", "Zlib", "libz"),
    ("system", "OpenSSL libcrypto", "Apache-2.0", "libcrypto"),
    ("system", "GLib and GIO", "LGPL-2.1-or-later", "libgio-2.0 libglib-2.0 libgobject-2.0"),
    ("system", "SQLite", "public domain", "libsqlite3"),
    ("system", "libical", "LGPL-2.1 or MPL-2.0", "libical libicalss libicalvcal"),
    ("system", "libxml2", "MIT", "libxml2"),
    ("system", "cmark-gfm", "BSD-2-Clause", "libcmark-gfm libcmark-gfm-extensions"),
    ("system", "libedit", "BSD-3-Clause", "libedit"),
    ("server-system", "libmicrohttpd", "LGPL-2.1-or-later", "libmicrohttpd"),
    ("server-system", "QR Code generator", "MIT", "libqrcodegen"),
    ("system", "Vulkan loader (builds with BACKEND=vulkan)", "Apache-2.0", "libvulkan"),
]


def tidy(text):
    """Without the indentation of all lines, trailing blanks and empty lines at both ends."""
    lines = textwrap.dedent("\n".join(line.rstrip() for line in text.expandtabs(4).splitlines())).strip("\n")
    return re.sub(r"\n{3,}", "\n\n", lines) + "\n"


def gathered(known, is_check):
    """The text of the file; sections that are not compared or have no source on this machine are taken from `known`."""
    parts, missing = [], []
    for group, entries in BUNDLED.items():
        for name, license, path, part in entries:
            path = path.format(llama=LLAMA, web=WEB, swift=swift_folder())
            head = f"=== {group} | {name} | {license}\n"
            if os.path.isfile(path) and not (is_check and name == NOT_COMPARED):
                parts.append(head + tidy(part(read(path))))
            elif name in known:
                parts.append(known[name])
                missing.append(name)
            else:
                sys.exit(f"scripts/tests/licenses.py: there is no {path or 'source'} for the license of {name}")
    parts += [f"=== {group} | {name} | {license}\n" for group, name, license, _ in SYSTEM]
    return "".join(parts), missing


def sections(text):
    found = re.split(r"^(?==== )", text, flags=re.M)
    return {part.split(" | ")[1]: part for part in found if part.startswith("=== ")}


def check_program(program):
    """Compares the libraries that the program asks the system for with those of the list."""
    lines = subprocess.run(["readelf", "-d", program], capture_output=True, text=True, check=True).stdout
    needed = {name.split(".so")[0] for name in re.findall(r"\(NEEDED\).*\[(.*)\]", lines)}
    toolchain = {name for name in needed if re.match(r"lib(swift|_?Foundation|dispatch|BlocksRuntime)", name)}
    known = {name for *_, names in SYSTEM for name in names.split()}
    unknown = sorted(needed - toolchain - known)
    if unknown:
        sys.exit(f"{program} is linked with {', '.join(unknown)}, which SYSTEM in scripts/tests/licenses.py does not name")


recorded = read(FILE) if os.path.exists(FILE) else ""
is_check = sys.argv[1:2] == ["--check"]
text, missing = gathered(sections(recorded), is_check)
if is_check:
    for program in sys.argv[2:]:
        check_program(program)
    if text != recorded:
        sys.exit("Sources/CLicenses/licenses.txt is not up to date: run scripts/tests/licenses.py")
    print(f"licenses: {len(sections(text))} components" + (f"; not compared: {', '.join(missing)}" if missing else ""))
else:
    with open(FILE, "w", encoding="utf-8") as file:
        file.write(text)
    print(f"{FILE}: {len(sections(text))} components, {len(text.encode())} bytes")
