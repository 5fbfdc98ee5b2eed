import Foundation
import HearthAssistant
import HearthBase
import HearthInference
import HearthRouting

/// What goes with the next message: pictures, and the texts of files.
struct Attachments: Sendable {
    var images: [ChatImage] = []
    /// The texts of files. Their authors may be other people, so that they count as texts from outside.
    private(set) var files: [OutsideText] = []

    /// The most bytes of a file.
    static let largestFile = 256 << 10
    /// The most bytes of all files of a message.
    static let largest = 1 << 20

    init(images: [ChatImage] = []) { self.images = images }

    /// Adds the text of a file.
    /// - Throws: ``UsageError`` for a file that is no text, or too long; `AssistantError` for PDF and .docx files that cannot
    ///   be read; `FileError`.
    mutating func add(file name: String) async throws {
        let path = Path(FileCompletion.expandingHome(name)).absolute
        let text = try await blocking { try Self.text(of: path, named: name) }
        guard files.reduce(text.utf8.count, { $0 + $1.text.utf8.count }) <= Self.largest else {
            throw UsageError(
                "the files have more than \(ByteCount(UInt64(Self.largest))) together",
                hint: "Give fewer files, or the parts that matter.")
        }
        files.append(OutsideText(source: "file \(path.lastComponent)", text: text))
    }

    /// The text of a file, as the page reads it. Blocks.
    private static func text(of path: Path, named name: String) throws -> String {
        guard try DocumentReader.isPacked(path) else {
            return try TextFile.read(path, named: name, limit: largestFile)
        }
        let document = try DocumentReader().read(path, named: path.lastComponent)
        guard !document.isScanned else {
            throw UsageError(
                "\(name.quotedForTerminal) has no text: its pages are pictures", hint: "Give its pages with --image.")
        }
        guard document.text.utf8.count <= largestFile else {
            throw UsageError(
                "the text of \(name.quotedForTerminal) has \(ByteCount(UInt64(document.text.utf8.count))), "
                    + "a file for a message at most \(ByteCount(UInt64(largestFile)))",
                hint: "Give the part that matters.")
        }
        return document.text
    }

    /// What is attached, in words; `nil` for nothing.
    var names: String? {
        let pictures = images.isEmpty ? [] : [images.count == 1 ? "a picture" : "\(images.count) pictures"]
        let all = files.map { TerminalText.singleLine($0.source) } + pictures
        return all.isEmpty ? nil : all.joined(separator: ", ")
    }

    /// The message with the texts of the files before it.
    func message(_ text: String) -> String {
        (files.map { PromptMarks.marked($0.text, as: "file", source: $0.source) } + [text])
            .joined(separator: "\n\n")
    }

    /// The files at the beginning of a message with their marks, and the words after them.
    static func parts(of message: String) -> (files: String, words: String) {
        let bytes = Array(message.utf8)
        var end = 0
        for section in PromptMarks.sections(in: message) {
            guard section.name == "file", section.source != nil, section.range.lowerBound == end else { break }
            end = section.range.upperBound
            while end < bytes.count, bytes[end] == UInt8(ascii: "\n") { end += 1 }
        }
        return (String(decoding: bytes[..<end], as: UTF8.self), String(decoding: bytes[end...], as: UTF8.self))
    }
}

/// Reads files whose text becomes part of a message.
enum TextFile {
    /// The text of a file. Blocks.
    /// - Parameter name: the file in messages.
    /// - Throws: ``UsageError`` for a folder, a file that is no text, and one that is empty or too long; `FileError`.
    static func read(_ path: Path, named name: String, limit: Int) throws -> String {
        let (files, shown) = (LocalFileSystem(), name.quotedForTerminal)
        if let status = try files.status(at: path) {
            // A pipe or a device may never end.
            guard status.kind == .file else {
                throw UsageError("\(shown) is no file", hint: "Give a text file, or pipe the text in.")
            }
            guard status.size <= limit else {
                throw UsageError(
                    "\(shown) has \(ByteCount(status.size)), a file for a message at most \(ByteCount(UInt64(limit)))",
                    hint: "Give the part that matters.")
            }
        }
        let data = try files.contents(ofFile: path, limit: limit)
        guard !data.isEmpty else { throw UsageError("\(shown) is empty", hint: "Give a file with text.") }
        guard let text = String(validating: data, as: UTF8.self), !text.utf8.contains(0) else {
            throw UsageError("\(shown) is no text: \(kind(of: data))", hint: hint(for: data))
        }
        return text
    }

    private static let kinds: [(beginning: [UInt8], kind: String)] = [
        ([0xFF, 0xD8, 0xFF], "picture"), ([0x89, 0x50, 0x4E, 0x47], "picture"), (Array("BM".utf8), "picture"),
        (Array("GIF8".utf8), "picture"),
        (Array("GGUF".utf8), "model"), ([0xFF, 0xFE], "UTF-16"), ([0xFE, 0xFF], "UTF-16"),
    ]

    private static func name(of data: Data) -> String? {
        kinds.first { data.starts(with: $0.beginning) }?.kind
    }

    private static func kind(of data: Data) -> String {
        switch name(of: data) {
        case "picture": "it is a picture"
        case "model": "it is a model"
        case "UTF-16": "it has the encoding UTF-16"
        default: "it has bytes that are not UTF-8"
        }
    }

    private static func hint(for data: Data) -> String {
        switch name(of: data) {
        case "picture": "Pictures go with --image, in a conversation with /image."
        case "model": "Talk with it: `hearth chat FILE`."
        case "UTF-16": "Make UTF-8 of it first: `iconv -f UTF-16 -t UTF-8 FILE`."
        default: "Give a text file in UTF-8."
        }
    }
}
