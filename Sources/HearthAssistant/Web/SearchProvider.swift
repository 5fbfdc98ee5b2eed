import Foundation

/// A result of a search.
package struct SearchResult: Sendable, Hashable, Codable {
    package var title: String
    /// The beginning or the fitting part of the text.
    package var excerpt: String
    /// The address of a web page; `nil` for the user's own texts.
    package var url: String?
    /// Identifies the user's own text in its store; empty for a web page.
    package var id = ""
    /// Where the text is from, if it is one of the user's that others wrote.
    package var source: String?
}

/// Answers the queries of `WEB_SEARCH` blocks.
package protocol SearchProvider: Sendable {
    /// The name for cards, such as `search.example.org` or `notes and conversations`.
    var name: String { get }
    /// Whether queries leave the device, and the results were written by others.
    var isRemote: Bool { get }

    /// The best results, at most `limit`.
    /// - Throws: ``AssistantError`` with `search-failed`; errors of stores; `CancellationError`.
    func search(_ query: String, limit: Int) async throws -> [SearchResult]
}
