import Foundation
import HearthBase

/// The text of a PDF file by poppler's programs, each of which runs apart from this process with limits of its own.
struct PDFText: Sendable {
    let file: Path
    let limits: DocumentLimits

    /// The longer side of a page's picture in pixels: small print can be read.
    private static let side = 1400
    private static let maximumPicture = 32 << 20

    /// Reads the text of the first pages. Blocks.
    func document(named name: String, bytes: Int) throws -> Document {
        let pages = try pageCount()
        let read = min(pages, limits.pages)
        // Each character of a page needs at most a few bytes; the rest of a longer text is not shown.
        let words = ["pdftotext", "-enc", "UTF-8", "-f", "1", "-l", "\(read)", file.string, "-"]
        let data = try run(words, maximumOutput: max(limits.text * 16, 32 << 20))
        let parts = String(decoding: data, as: UTF8.self).split(separator: "\u{0C}", omittingEmptySubsequences: false)
            .prefix(read)
        var text = ""
        var isCut = read < pages
        for (index, part) in parts.enumerated() {
            let words = part.trimmingCharacters(in: .whitespacesAndNewlines)
            guard !words.isEmpty else { continue }
            let page = "[page \(index + 1)]\n\(words)\n\n"
            guard text.utf8.count + page.utf8.count <= limits.text else {
                isCut = true
                break
            }
            text += page
        }
        text = text.replacing("\u{0}", with: " ").trimmingCharacters(in: .newlines)
        return Document(
            name: name, kind: .pdf, bytes: bytes, pages: pages, pagesRead: read, isCut: isCut, text: text)
    }

    /// A page as a PNG file. Blocks.
    func picture(ofPage number: Int) throws -> [UInt8] {
        [UInt8](
            try run(
                [
                    "pdftoppm", "-png", "-singlefile", "-scale-to", "\(Self.side)", "-f", "\(number)", "-l",
                    "\(number)", file.string,
                ], maximumOutput: Self.maximumPicture))
    }

    private func pageCount() throws -> Int {
        let facts = String(decoding: try run(["pdfinfo", file.string], maximumOutput: 1 << 20), as: UTF8.self)
        let line = facts.split(separator: "\n").first { $0.hasPrefix("Pages:") }
        guard let digits = line?.split(separator: " ").last, let count = Int(digits), count > 0 else {
            throw DocumentReader.unreadable("the PDF file has no pages")
        }
        return count
    }

    private func run(_ words: [String], maximumOutput: Int) throws -> Data {
        do {
            return try LimitedProgram(words, maximumOutput: maximumOutput).run()
        } catch {
            switch error {
            case .missing, .notStarted:
                throw AssistantError(
                    .missingProgram,
                    "PDF files are read by \(words[0]) of the package poppler-utils, which is not on this machine",
                    context: ErrorContext(found: words[0], remedy: "Install poppler-utils."))
            case .outputTooLarge: throw DocumentReader.unreadable("the PDF file unpacks to too much")
            case .failed(let report) where report.contains("ncorrect password"): throw DocumentReader.encrypted
            case .failed: throw DocumentReader.unreadable("the PDF file is cut off or damaged")
            }
        }
    }
}
