import HearthBase

/// A file with one picture or with pages: JPEG, PNG, WebP, BMP, TIFF with any number of pages, or PDF where poppler's programs are
/// installed.
package struct PictureDocument: Sendable {
    private enum Content: Sendable {
        case picture([UInt8], PictureFacts)
        case pdf(PDFPages)
    }

    private let content: Content
    private let limits: PictureLimits

    /// Reads the header of a file in memory; no page is decoded. Blocks.
    /// - Throws: `cannot-read-picture`, `picture-too-large`; `document-unusable` for a PDF file that cannot be read here.
    package init(_ bytes: [UInt8], limits: PictureLimits = PictureLimits()) throws {
        self.limits = limits
        content =
            if PDFPages.isPDF(bytes) {
                .pdf(try PDFPages(bytes, limits: limits))
            } else {
                .picture(bytes, try PictureFacts(bytes, limits: limits))
            }
    }

    /// The number of pages, at least 1.
    package var pageCount: Int {
        switch content {
        case .picture(_, let facts): facts.pages.count
        case .pdf(let pages): pages.count
        }
    }

    /// Decodes a page. Blocks.
    /// - Parameters:
    ///   - number: from 0.
    ///   - isGrey: whether colours become grey; pages of PDF files are always grey.
    /// - Throws: `cannot-read-picture`, `vision-missing`, `document-unusable`.
    package func page(_ number: Int, isGrey: Bool = false) throws -> Picture {
        switch content {
        case .picture(let bytes, let facts):
            return try Picture(file: bytes, facts, page: number, isGrey: isGrey, limits: limits)
        case .pdf(let pages): return try Picture(file: pages.page(number), isGrey: true, limits: limits)
        }
    }
}
