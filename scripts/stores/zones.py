#!/usr/bin/env python3
"""Writes the table of Windows' names of time zones, out of the Unicode CLDR of Debian's `unicode-cldr-core`.

    scripts/stores/zones.py              writes Sources/HearthAssistant/Calendars/Zones/WindowsZones.swift
    scripts/stores/zones.py --check      says whether the file is as this package makes it

Takes the row of territory 001 of each name. Fetches the package (17 MB) with apt-get into a folder of its own; nothing is
installed.
"""
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TARGET = ROOT / "Sources/HearthAssistant/Calendars/Zones/WindowsZones.swift"
HEAD = '''/// The zones that Windows' names of time zones mean everywhere: territory 001 of Unicode's CLDR.
///
/// Written by `scripts/stores/zones.py`.
enum WindowsZones {
    /// The IANA name for a name of Windows, in any case.
    static func zone(_ name: String) -> String? { table[name.lowercased()] }

    private static let table = Dictionary(
        text.split(separator: "\\n").map { line in
            let sides = line.split(separator: "=")
            return (sides[0].lowercased(), String(sides[1]))
        }, uniquingKeysWith: { first, _ in first })

    private static let text = """
'''


def supplement(folder):
    """The file of the CLDR with the names."""
    subprocess.run(["apt-get", "download", "-qq", "unicode-cldr-core"], cwd=folder, check=True, stderr=subprocess.DEVNULL)
    package = next(folder.glob("unicode-cldr-core_*.deb"))
    subprocess.run(["dpkg-deb", "-x", package, folder / "data"], check=True)
    return folder / "data/usr/share/unicode/cldr/common/supplemental/windowsZones.xml"


def source(path):
    rows = [(row.get("other"), row.get("type")) for row in xml.etree.ElementTree.parse(path).iter("mapZone")
            if row.get("territory") == "001"]
    assert len(rows) > 130 and all("=" not in name and " " not in zone for name, zone in rows), rows
    return HEAD + "".join(f"        {name}={zone}\n" for name, zone in rows) + '        """\n}\n'


def main():
    with tempfile.TemporaryDirectory() as folder:
        made = source(supplement(Path(folder)))
    if "--check" in sys.argv[1:]:
        if TARGET.read_text(encoding="utf-8") != made:
            sys.exit(f"{TARGET.relative_to(ROOT)} is not as this package makes it")
        print(f"{made.count('=') - HEAD.count('=')} names of Windows are as CLDR has them")
    else:
        TARGET.write_text(made, encoding="utf-8")


main()
