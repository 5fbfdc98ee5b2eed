#!/usr/bin/env python3
"""Compares the names and numbers of scripts/apple/stubs with PyObjC's descriptions of the same frameworks.

    scripts/apple/names.sh              fetches the descriptions, then compares
    scripts/apple/names.py FOLDER       compares with those in a folder
    scripts/apple/names.py FOLDER -v    also lists every name that was found

A description has all constants and all cases of enums with their numbers, but only the selectors that Python has to treat in a way of
their own: those with blocks, errors and Booleans, and initializers. Other names are counted as not described, and listed. A name that
is not described but differs a little from a described one is a mismatch.
"""
import ast
import difflib
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).parent
# The folders of stubs, and the descriptions of the same framework.
MODULES = {
    "EventKit": "EventKit", "Contacts": "Contacts", "CoreML": "CoreML", "Vision": "Vision", "Network": "Network", "Foundation": "Foundation",
}
# What Swift names otherwise than Objective-C.
PREFIXES = {
    "EKError.Code": "EKError", "CNError.Code": "CNErrorCode", "ProcessInfo.ThermalState": "NSProcessInfoThermalState",
    "NWPath.Status": "nw_path_status_", "POSIXError": "",
}
CLASSES = {
    "ProcessInfo": "NSProcessInfo", "URLSession": "NSURLSession", "URLSessionTask": "NSURLSessionTask",
    "URLSessionDataTask": "NSURLSessionDataTask", "URLSessionDownloadTask": "NSURLSessionDownloadTask",
    "URLSessionUploadTask": "NSURLSessionUploadTask", "URLSessionConfiguration": "NSURLSessionConfiguration",
    "URLRequest": "NSMutableURLRequest", "HTTPURLResponse": "NSHTTPURLResponse", "URLResponse": "NSURLResponse",
    "URLCredential": "NSURLCredential", "URLProtectionSpace": "NSURLProtectionSpace", "URLCache": "NSURLCache",
    "URLAuthenticationChallenge": "NSURLAuthenticationChallenge", "URLProtocol": "NSURLProtocol", "URL": "NSURL",
    "URLSessionDelegate": "NSURLSessionDelegate", "URLSessionTaskDelegate": "NSURLSessionTaskDelegate",
    "URLSessionDataDelegate": "NSURLSessionDataDelegate", "URLSessionDownloadDelegate": "NSURLSessionDownloadDelegate",
    "ProgressUserInfoKey": "NSProgress", "HTTPCookieStorage": "NSHTTPCookieStorage",
}
# Types of Swift without a counterpart in Objective-C.
SWIFT_ONLY = {
    "NWPath", "NWPathMonitor", "NWPath.Status", "DispatchSource", "DispatchSource.MemoryPressureEvent", "DispatchSourceMemoryPressure", "POSIXErrorCode",
    "POSIXError", "Notification.Name",
}


class Description:
    """What PyObjC's metadata says of a framework."""

    def __init__(self, path: pathlib.Path):
        self.constants: set[str] = set()
        self.numbers: dict[str, int] = {}
        self.selectors: dict[str, set[str]] = {}
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and isinstance(node.value, ast.Constant):
                self.take(node.targets[0].id, node.value.value)
            elif isinstance(node, ast.Call) and len(node.args) >= 2 and all(isinstance(a, ast.Constant) for a in node.args[:2]):
                owner, selector = (self.text(argument.value) for argument in node.args[:2])
                if owner and selector:
                    self.selectors.setdefault(owner, set()).add(selector)

    @staticmethod
    def text(value) -> str | None:
        return value.decode() if isinstance(value, bytes) else value if isinstance(value, str) else None

    def take(self, name: str, value) -> None:
        """Reads `$Name@Type$Name$`, or `$Name@Number$`."""
        if name not in ("constants", "enums") or not isinstance(value, str):
            return
        for entry in filter(None, value.split("$")):
            text, _, rest = entry.partition("@")
            if name == "constants":
                self.constants.add(text)
            elif re.fullmatch(r"-?\d+", rest):
                self.numbers[text] = int(rest)


class Declaration:
    """A declaration of a stub: the type that it is a member of, its kind, its name, its labels or number."""

    def __init__(self, owner: str, kind: str, name: str, labels=(), throws=False, waits=False, number=None, place="", type=""):
        self.owner, self.kind, self.name, self.labels = owner, kind, name, list(labels)
        self.throws, self.waits, self.number, self.place = throws, waits, number, place
        # Of the first argument.
        self.type = type

    @property
    def title(self) -> str:
        labels = "(" + "".join(f"{label}:" for label in self.labels) + ")" if self.kind in ("func", "init") else ""
        return f"{self.owner + '.' if self.owner else ''}{self.name}{labels}"


TYPE = re.compile(r"\b(?:class|struct|enum|protocol|extension)\s+([\w.]+)[^{]*\{")
ENUM = re.compile(r"\benum\s+\w+")
WORDS = r"(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:public|open|static|class|final|override|nonisolated|convenience|required|mutating)\s+)*"
MEMBER = re.compile(rf"\s*{WORDS}(?P<kind>var|let|func|init|case|class\s+func)\b\s*[?!]?\s*(?P<rest>.*)", re.S)


def logical_lines(text: str):
    """The lines without comments, joined while a parenthesis is open."""
    held, number = "", 0
    for index, line in enumerate(text.splitlines(), 1):
        line = re.sub(r"//.*", "", line).rstrip()
        if not held:
            number = index
        held = f"{held} {line.strip()}" if held else line
        if held.count("(") <= held.count(")"):
            yield number, held
            held = ""


def labels(text: str) -> list[str]:
    """The argument labels of `(_ a: A, b c: C = d)`."""
    depth, part, parts = 0, "", []
    for character in text:
        depth += (character in "([<") - (character in ")]>" and not part.endswith("-"))
        if character == "," and depth == 1:
            parts.append(part)
            part = ""
        elif depth >= 1 and not (character == "(" and depth == 1 and not part):
            part += character
        elif depth == 0:
            break
    parts.append(part)
    return [re.split(r"[\s:]", part.strip())[0] for part in parts if part.strip()]


def declarations(path: pathlib.Path):
    """The public declarations of a file of stubs."""
    owners: list[tuple[str, int, bool]] = []
    depth, counted = 0, -1
    for number, line in logical_lines(path.read_text()):
        place = f"{path.relative_to(HERE.parents[1])}:{number}"
        owner = owners[-1][0] if owners else ""
        member, kind = MEMBER.match(line), TYPE.search(line)
        if kind and not (member and member["kind"] != "class func" and not re.search(r"\b(class|struct|enum|protocol|extension)\b\s+[A-Z]", line)):
            name = f"{owner}.{kind[1]}" if owner else kind[1]
            if line.count("{") > line.count("}"):
                owners.append((name, depth, bool(ENUM.search(line))))
                counted = -1
            else:
                body = line[line.index("{") + 1:line.rindex("}")]
                if ENUM.search(line):
                    yield from cases(name, body, place, -1)[0]
        elif member and (re.search(r"\b(public|open)\b", line) or owners and owners[-1][2] and member["kind"] == "case"):
            rest = member["rest"]
            if member["kind"] == "case":
                found, counted = cases(owner, line, place, counted)
                yield from found
            elif member["kind"] in ("var", "let"):
                yield Declaration(owner, "property" if owner else "constant", re.match(r"\w*", rest)[0], place=place)
            elif member["kind"] == "init":
                yield Declaration(owner, "init", "init", labels(rest), "throws" in rest, place=place)
            else:
                tail = rest[rest.rfind(")"):]
                yield Declaration(
                    owner, "func", re.match(r"\w*", rest)[0], labels(rest[rest.index("("):]), "throws" in tail, "async" in tail, place=place,
                    type=(re.findall(r":\s*(?:@\w+\s+)*(?:any\s+)?\[?(\w+)", rest) or [""])[0])
        depth += line.count("{") - line.count("}")
        while owners and depth <= owners[-1][1]:
            owners.pop()


def cases(owner: str, text: str, place: str, counted: int):
    """The cases of an enum with their numbers; those without one count on."""
    found = []
    for match in re.finditer(r"(?:\bcase\s+|,\s*)(\w+)(?:\s*=\s*(-?\d+))?", text):
        counted = int(match[2]) if match[2] else counted + 1
        found.append(Declaration(owner, "case", match[1], number=counted if match[2] else None, place=place))
    return found, counted


def objective(name: str) -> str:
    """The name of a type in Objective-C; of an enum the beginning of its cases."""
    if name in PREFIXES:
        return PREFIXES[name]
    outer, _, inner = name.partition(".")
    return CLASSES.get(outer, outer) + inner.replace(".", "")


def fits(declaration: Declaration, selector: str) -> bool:
    """Whether Swift's importer may give a selector this name: it leaves out words that repeat types."""
    pieces = [piece for piece in selector.split(":") if piece]
    if declaration.throws and "error" in pieces[1:]:
        pieces.remove("error")
    if declaration.waits and pieces[-1] == "completionHandler":
        pieces.pop()
    if len(pieces) != max(1, len(declaration.labels)) or (":" in selector) != bool(declaration.labels) and not declaration.waits:
        return False
    first, rest = pieces[0], pieces[1:]
    if not all(label == piece or label == "_" for label, piece in zip(declaration.labels[1:], rest)):
        return False
    base = declaration.name
    label = declaration.labels[0] if declaration.labels else ""
    if not first.startswith(base):
        return False
    return label in ("", "_") or label.lower() in first[len(base):].lower()


def near(name: str, known) -> str | None:
    """A described name that a misspelt one may mean. Names of opposites, such as start and stop, begin differently."""
    plain = {re.sub(r"Notification$|With|:", "", other).lower(): other for other in known if other[:4].lower() == name[:4].lower()}
    close = difflib.get_close_matches(re.sub("With", "", name).lower(), plain, 1, 0.92)
    return plain[close[0]] if close and len(name) >= 8 else None


def judged(declaration: Declaration, description: Description, selectors: set[str]):
    """`found`, `mismatch` with a reason, or `absent`."""
    name = declaration.name
    if declaration.kind == "case":
        prefix = objective(declaration.owner)
        lowered = {known.lower().replace("_", ""): known for known in description.numbers}
        known = lowered.get((prefix + name).lower().replace("_", ""))
        if known is None:
            other = near(prefix + name[:1].upper() + name[1:], description.numbers)
            return ("mismatch", f"no such case; perhaps {other}") if other else ("absent", "")
        if declaration.number is not None and description.numbers[known] != declaration.number:
            return "mismatch", f"is {declaration.number}, and {known} is {description.numbers[known]}"
        return "found", known
    if declaration.kind in ("constant", "property") and (not declaration.owner or declaration.owner in ("Notification.Name",)):
        for known in (name, f"{name}Notification"):
            if known in description.constants:
                return "found", known
        other = near(name, description.constants)
        return ("mismatch", f"no such constant; perhaps {other}") if other else ("absent", "")
    if declaration.kind == "property":
        constant = objective(declaration.owner) + name[:1].upper() + name[1:]
        setter = f"set{name[:1].upper()}{name[1:]}:"
        # Swift writes an abbreviation at the beginning in lower case.
        abbreviated = [selector for selector in selectors if re.match("[A-Z]{2}", selector) and selector.lower() == name.lower()]
        for known in (name, setter, f"is{name[:1].upper()}{name[1:]}", *abbreviated):
            if known in selectors:
                return "found", known
        if constant in description.constants:
            return "found", constant
        other = near(name, [selector for selector in selectors if ":" not in selector])
        return ("mismatch", f"no such property; perhaps {other}") if other else ("absent", "")
    # Of several, the one that names the type of the first argument.
    fitting = sorted(
        (selector for selector in selectors if fits(declaration, selector)),
        key=lambda selector: (selector.split(":")[0][len(name):].lower() not in declaration.type.lower() + "s", selector))
    if fitting:
        return "found", fitting[0]
    spelled = (declaration.name + "".join(declaration.labels)).replace("_", "")
    other = near(spelled, selectors)
    return ("mismatch", f"no such method; perhaps {other}") if other else ("absent", "")


def ancestors(text: str) -> dict[str, str]:
    return {child: parent for child, parent in re.findall(r"\bclass (\w+)(?:<\w+>)?: (\w+)", text)}


def main(folder: pathlib.Path, is_verbose: bool) -> int:
    counts = {"found": 0, "mismatch": 0, "absent": 0, "swift": 0}
    absent: list[str] = []
    for stub, framework in MODULES.items():
        description = Description(folder / framework / "_metadata.py")
        files = sorted((HERE / "stubs" / stub).glob("*.swift"))
        parents = ancestors("\n".join(path.read_text() for path in files))
        own = dict.fromkeys(counts, 0)
        for path in files:
            for declaration in declarations(path):
                owner = declaration.owner
                if owner in SWIFT_ONLY and not (owner == "Notification.Name"):
                    # Their C counterparts have other shapes; the cases of a status are compared by name.
                    verdict, reason = judged(declaration, description, set()) if owner == "NWPath.Status" else ("swift", "")
                    verdict = "swift" if verdict != "found" else verdict
                else:
                    selectors: set[str] = set()
                    while owner:
                        selectors |= description.selectors.get(objective(owner), set())
                        owner = parents.get(owner, "")
                    verdict, reason = judged(declaration, description, selectors)
                own[verdict] += 1
                if verdict == "mismatch":
                    print(f"{declaration.place}: {declaration.title}: {reason}")
                elif verdict == "absent":
                    absent.append(f"{stub} {declaration.title}")
                elif is_verbose and verdict == "found":
                    print(f"  {declaration.title} = {reason}")
        counts = {verdict: counts[verdict] + own[verdict] for verdict in counts}
        print(f"names {stub}: {own['found']} as described, {own['mismatch']} mismatches, {own['absent']} not described, {own['swift']} of Swift alone")
    print(f"names: {counts['found']} compared, {counts['mismatch']} mismatches")
    print(f"not in the metadata: {counts['absent']} names")
    print("\n".join(f"  {name}" for name in absent))
    # Without a name that is found, nothing was compared.
    return 1 if counts["mismatch"] or not counts["found"] else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(pathlib.Path(sys.argv[1]), "-v" in sys.argv[2:]))
