import Foundation
import HearthBase
import HearthInference

/// Draws the pages of a PDF file with poppler's programs `pdfinfo` and `pdftoppm`, which run apart from this process with limits of
/// their own. Without them, PDF files are refused.
final class PDFPages: Sendable {
    /// The number of pages.
    let count: Int
    private let file: URL

    /// The longer side of a drawn page in pixels: A4 with 300 dots an inch.
    private static let side = 3508
    /// The most bytes of a drawn page.
    private static let maximumBytes = 64 << 20

    static func isPDF(_ bytes: [UInt8]) -> Bool { bytes.starts(with: Array("%PDF-".utf8)) }

    /// Counts the pages of a file in memory. Blocks.
    /// - Throws: `document-unusable` for a file that cannot be read, or without poppler.
    init(_ bytes: [UInt8], limits: PictureLimits) throws {
        guard bytes.count <= limits.maximumBytes else {
            throw ImageLimits.tooLarge(
                "its file has \(bytes.count) bytes", limit: "at most \(limits.maximumBytes) bytes")
        }
        let name = "hearth-\(UUID().uuidString).pdf"
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(name)
        let isWritten = FileManager.default.createFile(
            atPath: file.path, contents: Data(bytes), attributes: [.posixPermissions: 0o600])
        guard isWritten else { throw Self.unusable("no temporary file can be written") }
        do {
            let facts = String(decoding: try Self.run(["pdfinfo", file.path]), as: UTF8.self)
            let line = facts.split(separator: "\n").first { $0.hasPrefix("Pages:") }
            guard let digits = line?.split(separator: " ").last, let found = Int(digits), found > 0 else {
                throw Self.unusable("it has no pages")
            }
            guard found <= limits.maximumPages else {
                throw ImageLimits.tooLarge(
                    "it has more than \(limits.maximumPages) pages", limit: "\(limits.maximumPages) pages")
            }
            count = found
        } catch {
            Self.remove(file)
            throw error
        }
        self.file = file
    }

    deinit { Self.remove(file) }

    /// A page as a PNG file, grey. Blocks.
    /// - Throws: `document-unusable`.
    func page(_ number: Int) throws -> [UInt8] {
        let page = "\(number + 1)"
        return [UInt8](
            try Self.run([
                "pdftoppm", "-gray", "-png", "-singlefile", "-scale-to", "\(Self.side)", "-f", page, "-l", page,
                file.path,
            ]))
    }

    /// Runs a program of poppler, and returns its output.
    private static func run(_ words: [String]) throws -> Data {
        do {
            return try LimitedProgram(words, maximumOutput: maximumBytes).run()
        } catch {
            switch error {
            case .missing:
                throw unusable("\(words[0]) of poppler is not on this machine", remedy: "Install poppler-utils.")
            case .notStarted: throw unusable("no program can be started")
            case .outputTooLarge: throw unusable("a page is too large")
            case .failed: throw unusable("poppler cannot read it")
            }
        }
    }

    private static func remove(_ file: URL) {
        // The system clears its temporary folder later.
        try? FileManager.default.removeItem(at: file)
    }

    private static func unusable(
        _ reason: String, remedy: String = "Check the file, or make PNG or TIFF pages of it."
    ) -> ClassificationError {
        ClassificationError(
            .unusableDocument, "the PDF file cannot be read: \(reason)", context: ErrorContext(remedy: remedy),
            disposition: .usage)
    }
}
