import Foundation
import HearthBase

/// Reads the text of files: text in several encodings, PDF by poppler's programs, .docx.
package struct DocumentReader: Sendable {
    package var limits: DocumentLimits

    package init(limits: DocumentLimits = DocumentLimits()) { self.limits = limits }

    /// Reads a file. Blocks.
    /// - Parameter name: the name that the user knows the file by.
    /// - Throws: ``AssistantError`` with `large-document`, `unknown-document`, `unreadable-document`, `encrypted-document`
    ///   or `missing-program`; `FileError`.
    package func read(_ file: Path, named name: String) throws -> Document {
        let files = LocalFileSystem()
        if let status = try files.status(at: file) {
            // A pipe or a device may never end.
            guard status.kind == .file else { throw Self.unknown("it is no file") }
            guard status.size <= UInt64(limits.bytes) else { throw limits.tooLarge(status.size) }
        }
        let data = try files.contents(ofFile: file, limit: limits.bytes)
        guard !data.isEmpty else { throw Self.unknown("it is empty") }
        let name = DocumentName.plain(name)
        if Self.isPDF(data) {
            return try PDFText(file: file, limits: limits).document(named: name, bytes: data.count)
        }
        if Self.isArchive(data) {
            let word = try WordText(data, limit: limits.text)
            return Document(name: name, kind: .word, bytes: data.count, isCut: word.isCut, text: word.text)
        }
        // Read as Latin-1, the beginning of a picture is text.
        let isOther =
            Self.others.contains { data.starts(with: $0.beginning) } && String(validating: data, as: UTF8.self) == nil
        guard !isOther, let text = DecodedText(data, limit: limits.text) else { throw Self.refusal(of: data) }
        return Document(
            name: name, kind: Self.kind(ofTextNamed: name), bytes: data.count, isCut: text.isCut, text: text.text)
    }

    /// Whether a file's text is within a PDF file or an archive. Blocks.
    package static func isPacked(_ file: Path) throws -> Bool {
        let files = LocalFileSystem()
        guard try files.status(at: file)?.kind == .file else { return false }
        let opened = try files.open(file, .read)
        var bytes = [UInt8](repeating: 0, count: 1024)
        let count = try bytes.withUnsafeMutableBytes { try files.read(opened, into: $0, at: 0) }
        return isPacked(Data(bytes.prefix(count)))
    }

    private static func isPacked(_ beginning: Data) -> Bool { isPDF(beginning) || isArchive(beginning) }

    /// Some programs write a line before the mark of a PDF file.
    private static func isPDF(_ data: Data) -> Bool { data.prefix(1024).range(of: Data("%PDF-".utf8)) != nil }

    private static func isArchive(_ data: Data) -> Bool { data.starts(with: Array("PK\u{3}\u{4}".utf8)) }

    /// The first pages of a scanned PDF file as PNG files. Blocks.
    package func pictures(of file: Path, pages: Int) throws -> [[UInt8]] {
        let text = PDFText(file: file, limits: limits)
        return try (1...max(1, min(pages, limits.pictures))).map { try text.picture(ofPage: $0) }
    }

    // MARK: Kinds

    private static let code: Set<String> = [
        "bash", "bat", "c", "cc", "cpp", "cs", "css", "cxx", "dart", "diff", "ex", "exs", "fish", "go", "gradle",
        "graphql",
        "groovy", "h", "hpp", "hs", "htm", "html", "ini", "java", "jl", "js", "json", "jsonl", "jsx", "kt", "kts",
        "less",
        "lua", "m", "mjs", "mm", "nix", "patch", "php", "pl", "pm", "proto", "ps1", "py", "r", "rb", "rs", "sass",
        "scala",
        "scss", "sh", "sql", "svelte", "svg", "swift", "tex", "tf", "toml", "ts", "tsx", "vue", "xml", "yaml", "yml",
        "zig",
    ]

    static func kind(ofTextNamed name: String) -> DocumentKind {
        switch DocumentName.ending(of: name) {
        case "md", "markdown", "mdown", "mkd": .markdown
        case "csv", "tsv": .csv
        case let ending: code.contains(ending) ? .code : .text
        }
    }

    private static let others: [(beginning: [UInt8], kind: String)] = [
        ([0xFF, 0xD8, 0xFF], "it is a picture"), ([0x89, 0x50, 0x4E, 0x47], "it is a picture"),
        (Array("GIF8".utf8), "it is a picture"), (Array("GGUF".utf8), "it is a model"),
        ([0x1F, 0x8B], "it is an archive"),
        (Array("7z\u{BC}".unicodeScalars.map { UInt8($0.value) }), "it is an archive"),
        (Array("Rar!".utf8), "it is an archive"),
    ]

    /// The beginning of files of Microsoft's older format, in which .docx files with a password lie too.
    private static let compound: [UInt8] = [0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1]

    private static func refusal(of data: Data) -> AssistantError {
        if data.starts(with: compound) {
            let package = Data("EncryptedPackage".utf16.flatMap { [UInt8($0), 0] })
            return data.range(of: package) != nil
                ? encrypted : unknown("it is of an older program", remedy: "Save it as .docx or PDF.")
        }
        return unknown(others.first { data.starts(with: $0.beginning) }?.kind ?? "it has bytes that are no text")
    }

    static let encrypted = AssistantError(
        .encryptedDocument, "the document needs a password", context: ErrorContext(remedy: "Save it without one."),
        disposition: .usage)

    static func unknown(
        _ reason: String, remedy: String = "Save it as text, PDF or .docx."
    ) -> AssistantError {
        AssistantError(
            .unknownDocument, "the document cannot be read: \(reason)", context: ErrorContext(remedy: remedy),
            disposition: .usage)
    }

    static func unreadable(_ reason: String) -> AssistantError {
        AssistantError(
            .unreadableDocument, "the document cannot be read: \(reason)",
            context: ErrorContext(remedy: "Open it with the program that wrote it, and save it anew."),
            disposition: .usage)
    }
}
