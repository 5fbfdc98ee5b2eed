import HearthBase
import HearthInference

/// An event of decoding a document.
public enum PageEvent: Sendable {
    /// A page was cut; its characters follow.
    case page(Int, of: Int, CutPage)
    /// So many characters of the page were classified on this device.
    case classified(Int, of: Int)
    /// A character was decided, in its square with its margin, in pixels of the page as it was cut. Characters come in
    /// reading order.
    case character(DecodedCharacter, at: PixelBox)
}

/// Decodes all characters of a document, page by page.
///
/// ```swift
/// for try await event in PageDecoder(proxy: proxy, decoder: decoder).decode(bytes) {
///     if case .character(let character, _) = event { print(character.text, terminator: "") }
/// }
/// ```
public struct PageDecoder: Sendable {
    private let proxy: ClassifierProxy
    private let decoder: RoutingDecoder
    /// By default, the direction is found.
    package var direction = ReadingDirection.automatic

    /// Decodes with a decoder of the same proxy. The direction is found, and a page is turned by at most 7 degrees.
    public init(proxy: ClassifierProxy, decoder: RoutingDecoder) {
        self.proxy = proxy
        self.decoder = decoder
    }

    /// Decodes all pages of a file in memory: JPEG, PNG, WebP, BMP, TIFF with any number of pages, or PDF where poppler's programs
    /// are installed. A reader who stops ends the work; what came before counts.
    /// - Parameters:
    ///   - top: the most candidates of a character.
    ///   - consent: asked once for each page that the cloud is wanted for.
    /// - Returns: events; they end with the error of a file or page that cannot be read: `cannot-read-picture`,
    ///   `picture-too-large`, `document-unusable`, `vision-missing`.
    public func decode(
        _ bytes: [UInt8], top: Int = 5, consent: @escaping @Sendable (EscalationOffer) async -> Bool = { _ in false }
    ) -> AsyncThrowingStream<PageEvent, any Error> {
        .running { yield in
            let document = try await blocking { try PictureDocument(bytes) }
            for number in 0..<document.pageCount {
                try await decode(document, number, top: top, consent: consent, yield)
            }
        }
    }

    private func decode(
        _ document: PictureDocument, _ number: Int, top: Int,
        consent: @escaping @Sendable (EscalationOffer) async -> Bool, _ yield: (PageEvent) -> Void
    ) async throws {
        let margin = try await proxy.current().information.margin
        // Cut pages are grey, so their colours are not kept.
        let picture = try await StopFlag.blocking { _ in try document.page(number, isGrey: true) }
        let page = try await CutPage.cut(picture, margin: margin, direction: direction)
        yield(.page(number, of: document.pageCount, page))
        for try await event in decoder.events(page.pictures, top: top, consent: consent) {
            switch event {
            case .classified(let count, let total): yield(.classified(count, of: total))
            case .character(var character):
                let cell = page.cells[character.index]
                character.line = cell.line
                yield(.character(character, at: cell.box))
            }
        }
        // A stream whose task was cancelled ends without an error.
        try Task.checkCancellation()
    }
}
