import HearthBase

/// An event of decoding a document.
public enum PageEvent: Sendable {
    /// A page was cut; its characters follow.
    case page(Int, of: Int, CutPage)
    /// So many characters of the page were classified on this device.
    case classified(Int, of: Int)
    /// A character was decided. Characters come in reading order.
    case character(DecodedCharacter, at: PageCell)
}

/// Decodes all characters of a document, page by page.
///
/// ```swift
/// for try await event in PageDecoder(proxy: proxy, decoder: decoder).decode(document) {
///     if case .character(let character, _) = event { print(character.text, terminator: "") }
/// }
/// ```
public struct PageDecoder: Sendable {
    private let proxy: ClassifierProxy
    private let decoder: RoutingDecoder
    private let options: PageOptions

    /// Decodes with a decoder of the same proxy.
    public init(proxy: ClassifierProxy, decoder: RoutingDecoder, options: PageOptions = PageOptions()) {
        self.proxy = proxy
        self.decoder = decoder
        self.options = options
    }

    /// Decodes all pages. A reader who stops ends the work; what came before counts.
    /// - Parameters:
    ///   - top: the most candidates of a character.
    ///   - consent: asked once for each page that the cloud is wanted for.
    /// - Returns: events; they end with the error of a page that cannot be read.
    public func decode(
        _ document: PictureDocument, top: Int = 5,
        consent: @escaping @Sendable (EscalationOffer) async -> Bool = { _ in false }
    ) -> AsyncThrowingStream<PageEvent, any Error> {
        AsyncThrowingStream { continuation in
            let task = Task {
                do {
                    for number in 0..<document.pageCount {
                        try await decode(document, number, top: top, consent: consent) { continuation.yield($0) }
                    }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    private func decode(
        _ document: PictureDocument, _ number: Int, top: Int,
        consent: @escaping @Sendable (EscalationOffer) async -> Bool, _ yield: (PageEvent) -> Void
    ) async throws {
        let margin = try await proxy.current().information.margin
        // Cut pages are grey, so their colours are not kept.
        let picture = try await StopFlag.blocking { _ in try document.page(number, isGrey: true) }
        let page = try await CutPage.cut(picture, margin: margin, options: options)
        yield(.page(number, of: document.pageCount, page))
        for try await event in decoder.decode(page.pictures, top: top, consent: consent) {
            switch event {
            case .classified(let count, let total): yield(.classified(count, of: total))
            case .character(let character): yield(.character(character, at: page.cells[character.index]))
            }
        }
        // A stream whose task was cancelled ends without an error.
        try Task.checkCancellation()
    }
}
