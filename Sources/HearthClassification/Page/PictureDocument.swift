import HearthBase

/// A file with one picture or with pages: JPEG, PNG, BMP, or TIFF with any number of pages.
public struct PictureDocument: Sendable {
    private let bytes: [UInt8]
    private let facts: PictureFacts
    private let limits: PictureLimits

    /// Reads the header of a file in memory; no page is decoded. Blocks.
    /// - Throws: `cannot-read-picture`, `picture-too-large`; `document-unusable` for PDF.
    public init(_ bytes: [UInt8], limits: PictureLimits = PictureLimits()) throws {
        if bytes.starts(with: Array("%PDF-".utf8)) {
            throw ClassificationError(
                .unusableDocument, "PDF files are not read",
                context: ErrorContext(remedy: "Make TIFF or PNG pages of it, such as with pdftoppm -tiff."),
                disposition: .usage)
        }
        self.bytes = bytes
        self.limits = limits
        facts = try PictureFacts(bytes, limits: limits)
    }

    /// The number of pages, at least 1.
    public var pageCount: Int { facts.pages.count }

    /// Decodes a page. Blocks.
    /// - Parameters:
    ///   - number: from 0.
    ///   - isGrey: whether colours become grey.
    /// - Throws: `cannot-read-picture`, `vision-missing`.
    public func page(_ number: Int, isGrey: Bool = false) throws -> Picture {
        try Picture(file: bytes, facts, page: number, isGrey: isGrey, limits: limits)
    }
}
