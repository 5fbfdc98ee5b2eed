import Foundation
import HearthBase

/// The kind of a document, by its bytes and the ending of its name.
package enum DocumentKind: String, Sendable, Hashable, CaseIterable, Codable {
    case text, markdown, code, csv, pdf, word
}

/// The text of a file that goes with a message, and the facts of the file. Its author may be another person, so that the text
/// counts as text from outside.
package struct Document: Sendable, Hashable, Codable {
    /// The file's name without folders, on one line, at most 120 characters.
    package var name: String
    package var kind: DocumentKind
    /// The bytes of the file.
    package var bytes: Int
    /// The pages of a PDF file.
    package var pages: Int?
    /// The pages of a PDF file whose text was read.
    package var pagesRead: Int?
    /// Whether the text ends before the document does.
    package var isCut: Bool
    package let text: String
    /// The characters of the text.
    package let characters: Int

    package init(
        name: String, kind: DocumentKind, bytes: Int, pages: Int? = nil, pagesRead: Int? = nil, isCut: Bool = false,
        text: String
    ) {
        self.name = name
        self.kind = kind
        self.bytes = bytes
        self.pages = pages
        self.pagesRead = pagesRead
        self.isCut = isCut
        self.text = text
        characters = text.count
    }

    /// Whether the document has pages and no text on them: pictures of paper.
    package var isScanned: Bool { kind == .pdf && !text.contains { $0.isLetter || $0.isNumber } }

    /// The source in the marks of a prompt.
    package var source: String { "file \(name)" }
}

/// The limits of documents.
package struct DocumentLimits: Sendable, Hashable {
    /// The most bytes of a file.
    package var bytes = 50 << 20
    /// The most bytes of a document's text; what follows is left out.
    package var text = 2 << 20
    /// The most pages of a PDF file that are read.
    package var pages = 200
    /// The most pages of a scanned PDF file that become pictures.
    package var pictures = 4

    package init() {}

    /// The error for a file of so many bytes.
    package func tooLarge(_ count: UInt64) -> AssistantError {
        AssistantError(
            .largeDocument,
            "the document has \(ByteCount(count)), and at most \(ByteCount(UInt64(bytes))) are read",
            context: ErrorContext(
                expected: "\(bytes)", found: "\(count)", remedy: "Attach the part that matters."),
            disposition: .usage)
    }
}

/// The name of a file as it is kept: the last part of its path, on one line.
enum DocumentName {
    private static let limit = 120

    static func plain(_ name: String) -> String {
        let last = name.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last.map(String.init) ?? ""
        let kept = last.unicodeScalars.map { scalar -> Character in
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: " "
            default: Character(scalar)
            }
        }
        let line = String(kept).split(whereSeparator: \.isWhitespace).joined(separator: " ")
        guard !line.isEmpty, line != ".", line != ".." else { return "file" }
        // A few signs can have any number of marks.
        let scalars = line.unicodeScalars
        guard scalars.count > limit else { return line }
        let ending = ending(of: line)
        let room = limit - 1 - (ending.isEmpty ? 0 : ending.unicodeScalars.count + 1)
        return String(String.UnicodeScalarView(scalars.prefix(room))) + "…" + (ending.isEmpty ? "" : "." + ending)
    }

    /// The ending in lower case, without the dot; empty for none or a long one.
    static func ending(of name: String) -> String {
        guard let dot = name.lastIndex(of: ".") else { return "" }
        let ending = name[name.index(after: dot)...].lowercased()
        return ending.utf8.count <= 12 ? ending : ""
    }
}
