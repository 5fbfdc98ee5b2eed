import Foundation
import HearthBase
import HearthHTTP

/// A page as the model and the user see it.
package struct WebPage: Sendable, Hashable {
    package var url: URL
    package var title: String
    package var text: String
}

/// Reads web pages, at most 2 MB and 10 s each.
///
/// Only addresses are read that the user wrote or that are in search results. The host's name is resolved first; all of its
/// addresses have to be public, and the connection goes to these addresses. Each redirect is checked the same way.
package struct PageReader: Sendable {
    /// Decides whether a page may be read from a host's address.
    package typealias AddressRule = @Sendable (IPAddress) -> Bool

    private let client: any HTTPClient
    private let rule: AddressRule
    private let resolve: @Sendable (String) throws -> [IPAddress]
    private let time: TimeSource

    static let limit = Duration.seconds(10)
    static let maximumRedirects = 5

    /// - Parameters:
    ///   - rule: public addresses by default.
    ///   - resolve: finds the addresses of a host's name; blocks.
    package init(
        client: any HTTPClient = SystemHTTP.client(), time: TimeSource = .system,
        rule: @escaping AddressRule = { $0.isPublic },
        resolve: @escaping @Sendable (String) throws -> [IPAddress] = { try IPAddress.resolve($0) }
    ) {
        self.client = client
        self.rule = rule
        self.resolve = resolve
        self.time = time
    }

    /// The addresses of pages in a text, in order.
    package static func addresses(in text: String) -> [String] {
        text.split { $0.isWhitespace || "<>\"'()[]{}|\\^`‹›".contains($0) }.compactMap { word in
            let address = word.drop { !$0.isLetter }.reversed().drop { ".,;:!?*_".contains($0) }.reversed()
            let text = String(address)
            let lower = text.lowercased()
            return (lower.hasPrefix("https://") || lower.hasPrefix("http://")) && text.utf8.count <= 2048 ? text : nil
        }
    }

    /// Reads a page.
    /// - Throws: ``AssistantError`` with `page-refused` or `unreadable-page`; `HTTPError`; `CancellationError`.
    package func read(_ url: URL) async throws -> WebPage {
        let watch = time.stopwatch()
        var url = url
        for _ in 0...Self.maximumRedirects {
            let left = Self.limit - watch.elapsed
            guard left > .zero else { throw Self.refused(url, "it took longer than \(Int(Self.limit.seconds)) s") }
            let response = try await request(url, within: left)
            if [301, 302, 303, 307, 308].contains(response.status), let location = response.headers["Location"] {
                guard !location.isEmpty, let next = URL(address: location, relativeTo: url) else {
                    throw Self.refused(url, "it redirects to an address that cannot be used")
                }
                if url.scheme?.lowercased() == "https", next.scheme?.lowercased() == "http" {
                    throw Self.refused(url, "it redirects from https to http")
                }
                url = next
                continue
            }
            return try await page(response, url)
        }
        throw Self.refused(url, "it redirects more than \(Self.maximumRedirects) times")
    }

    private func request(_ url: URL, within limit: Duration) async throws -> HTTPResponse {
        let scheme = url.scheme?.lowercased()
        guard scheme == "https" || scheme == "http", let host = url.host(percentEncoded: false), !host.isEmpty,
            url.user() == nil, url.password() == nil
        else { throw Self.refused(url, "it is no plain web address") }
        let name = host.trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
        let addresses = try await blocking { [resolve] in try resolve(name) }
        guard !addresses.isEmpty, addresses.allSatisfy(rule) else {
            throw Self.refused(url, "its host is on this machine or in a private network")
        }
        var request = HTTPRequest(
            url, headers: ["Accept": "text/html, text/plain;q=0.8"], totalTimeout: limit, maximumRedirects: 0,
            maximumBodySize: UInt64(HTMLText.maximumSize))
        request.pinnedAddresses = addresses.map(\.description)
        return try await client.execute(request)
    }

    private func page(_ response: HTTPResponse, _ url: URL) async throws -> WebPage {
        func unreadable(_ reason: String) -> AssistantError {
            AssistantError(.unreadablePage, "the page \(Self.shown(url)) cannot be read: \(reason)")
        }
        guard response.status == 200 else { throw unreadable("the server answered \(response.status)") }
        let type = (response.headers["Content-Type"] ?? "text/html").lowercased()
        guard type.hasPrefix("text/") || type.hasPrefix("application/xhtml+xml") else {
            throw unreadable("it is no text but \(type.prefix(40))")
        }
        let data = try await response.body.collect(upTo: HTMLText.maximumSize)
        let charset = type.range(of: "charset=").map { start in
            String(type[start.upperBound...].prefix { $0 != ";" && !$0.isWhitespace })
                .trimmingCharacters(in: CharacterSet(charactersIn: "\"'"))
        }
        if type.hasPrefix("text/plain") {
            let text = String(decoding: data.prefix(HTMLText.maximumText), as: UTF8.self)
            guard !text.isEmpty else { throw unreadable("it is empty") }
            return WebPage(url: url, title: "", text: text)
        }
        let html = await blocking { HTMLText(data, charset: charset) }
        guard !html.text.isEmpty else { throw unreadable("it has no text") }
        return WebPage(url: url, title: html.title, text: html.text)
    }

    private static func refused(_ url: URL, _ reason: String) -> AssistantError {
        AssistantError(
            .pageRefused, "the page \(shown(url)) is not read: \(reason)", context: ErrorContext(url: shown(url)))
    }

    /// The address without its query, which may contain a secret.
    private static func shown(_ url: URL) -> String {
        guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return "the address" }
        (parts.query, parts.fragment, parts.user, parts.password) = (nil, nil, nil, nil)
        return parts.string ?? "the address"
    }
}
