#!/usr/bin/env python3
"""Compiles every Swift block of README and docs against the built modules, as code of another package would be.

    scripts/documents/swift.py              all documents
    scripts/documents/swift.py FILE…        these

A block becomes the body of a function, and the names below that it uses and does not declare become its parameters. An error is told
at its line of the document. Blocks of a package's manifest are compiled as one.
"""
import glob
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../tests"))
import built  # noqa: E402

FOLDER = os.path.realpath(".build/documents")
BLOCK = re.compile(r"^```swift\n(.*?)^```", re.S | re.M)

# What the text around a block says about a name, and what types of the app a block may use.
NAMES = {
    "hearth": "Hearth", "manifest": "URL", "manifestURL": "URL", "screen": "any ActionApproval", "engine": "LlamaActor",
    "session": "LanguageModelSession", "bytes": "[UInt8]", "home": "URL", "origin": "Origin", "memory": "UInt64",
    "gateway": "URL", "key": "String", "files": "URL", "url": "URL", "user": "User", "garden": "Garden", "event": "String", "note": "String",
    "receipts": "AsyncStream<Entitlement>", "folder": "Path", "show": "Show", "append": "(String) -> Void", "ask": "Ask",
    "orchestrator": "LLMOrchestrator", "day": "CalendarEvent", "downloads": "BackgroundDownloads",
}
# Names that a block changes.
VARIABLES = {
    "options": "var options = GenerationOptions()", "badge": 'nonisolated(unsafe) var badge = ""',
    "settings": "var settings = AssistantSettings()", "isShowingModels": "var isShowingModels = false",
}
TYPES = """
import Foundation
import HearthInference
import HearthClassification

struct User: Sendable { func allows(_ call: ToolCall) async -> Bool { true } }
actor Garden { func water(_ plant: String, _ litres: Int) {} }
struct Show: Sendable {
    func callAsFunction(_ text: String) {}
    func callAsFunction(_ text: String, _ verdict: some Sendable, at box: some Sendable) {}
}
struct Ask: Sendable { func callAsFunction(_ offer: some Sendable) async -> Bool { true } }

// swift-log, as far as the example goes.
struct Logger: Sendable {
    enum Level { case debug, info, warning, error }
    enum MetadataValue { case string(String) }
    init(label: String) {}
    func log(level: Level, _ message: String, metadata: [String: MetadataValue], source: String) {}
}
"""
IMPORTS = {
    "docs/inference.md": ["HearthInference", "HearthLlama", "HearthBase"], "docs/logging.md": ["HearthBase"],
    "docs/apple.md": ["Hearth", "HearthAssistant", "HearthUI", "SwiftUI"], "docs/gateway.md": ["HearthDelivery"], "docs/assistant.md": ["Hearth", "HearthAssistant"],
}
# Blocks that use what only some platforms have.
ELSEWHERE = {
    "Log.unifiedLog": "canImport(os)", "import SwiftUI": "canImport(SwiftUI)", "ChatView(": "canImport(SwiftUI)",
    "HearthLanguageModel(": "canImport(FoundationModels, _version: 2)", "SystemModelEngine(": "canImport(FoundationModels)",
    "import MLXLMCommon": "canImport(MLXLMCommon)",
    "SystemCalendar()": "canImport(EventKit)", "CoreMLClassifier.load": "canImport(CoreML)", "DeviceWatch()": "canImport(Darwin)",
    "BackgroundDownloads(": "canImport(Darwin)", "import UIKit": "canImport(UIKit)", "ContinuedInstallation.": "os(iOS)",
}


def declares(code, name):
    return re.search(rf"\b(?:let|var|func|struct|for|for await|for try await)\s+(?:\([^)=]*\b)?{name}\b|\{{ {name} in\b", code)


def uses(code, name):
    return re.search(rf"(?<![.\w\"]){name}\b(?!:)", re.sub(r"(?<!:)//.*", "", code))


def source(path, line, code):
    imports = re.findall(r"^import (\w+)\n", code, re.M)
    body = re.sub(r"^import \w+\n", "\n", code, flags=re.M)
    names = [name for name in NAMES if uses(body, name) and not declares(body, name)]
    variables = [text for name, text in VARIABLES.items() if uses(body, name) and not declares(body, name)]
    wanted = dict.fromkeys(["Foundation", *(imports or IMPORTS.get(path, ["Hearth"]))])
    name = re.sub(r"\W", "_", f"{path}_{line}")
    conditions = [condition for text, condition in ELSEWHERE.items() if text in code]
    lines = [f"#if {condition}" for condition in conditions]
    lines += [f"import {module}" for module in wanted]
    lines += [f"@MainActor func {name}({', '.join(f'{name}: {NAMES[name]}' for name in names)}) async throws {{", *variables]
    lines += [f'#sourceLocation(file: "{path}", line: {line})', body.rstrip("\n"), "#sourceLocation()", "}"]
    lines += ["#endif" for _ in conditions]
    return name, "\n".join(lines) + "\n"


def main(paths):
    os.makedirs(FOLDER, exist_ok=True)
    for path in glob.glob(f"{FOLDER}/*.swift"):
        os.remove(path)
    sources, manifests = [f"{FOLDER}/types.swift"], []
    with open(sources[0], "w") as file:
        file.write(TYPES)
    for path in paths or ["README.md", *sorted(glob.glob("docs/*.md"))]:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for match in BLOCK.finditer(text):
            line = text.count("\n", 0, match.start()) + 2
            name, code = source(path, line, match[1])
            if match[1].startswith("dependencies:"):
                code = (f'import PackageDescription\n#sourceLocation(file: "{path}", line: {line - 1})\n'
                        f'let {name} = Package(name: "App",\n{match[1]})\n')
            (manifests if match[1].startswith("dependencies:") else sources).append(f"{FOLDER}/{name}.swift")
            with open(f"{FOLDER}/{name}.swift", "w") as file:
                file.write(code)
    toolchain = os.path.dirname(os.path.dirname(os.path.realpath(built.output("sh", "-c", "command -v swiftc"))))
    good = built.compiles(sources, "-parse-as-library", "-module-name", "Documents", "-enable-upcoming-feature", "MemberImportVisibility",
                    # The views, against a stand-in of SwiftUI, if scripts/apple/views.py has compiled them.
                    "-I", ".build/views", "-I", built.modules, *built.includes())
    for manifest in manifests:
        good &= built.compiles([manifest], "-I", f"{toolchain}/lib/swift/pm/ManifestAPI", "-package-description-version", "6.2.0")
    print(f"documents: {len(sources) - 1 + len(manifests)} Swift blocks {'compile' if good else 'do not all compile'}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
