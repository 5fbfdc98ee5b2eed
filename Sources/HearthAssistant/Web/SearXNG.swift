import Foundation
import HearthBase
import HearthHTTP

/// Searches the web with the JSON API of a SearXNG server: `GET /search?q=QUERY&format=json`.
///
/// The server has to allow the format: `search.formats` in its `settings.yml` contains `json`.
package struct SearXNG: SearchProvider {
    private let address: URL
    private let key: String?
    private let client: any HTTPClient
    private static let maximumSize = 2 << 20
    private static let limit = Duration.seconds(10)

    /// - Parameters:
    ///   - address: of the server, `https`, or `http` to this machine.
    ///   - key: sent as bearer token, for servers behind a gate.
    package init(address: URL, key: String? = nil, client: any HTTPClient = SystemHTTP.client()) {
        self.address = address
        self.key = key
        self.client = client
    }

    package var name: String { address.host() ?? "SearXNG" }

    package var isRemote: Bool { true }

    package func search(_ query: String, limit: Int) async throws -> [SearchResult] {
        guard var parts = URLComponents(url: address, resolvingAgainstBaseURL: true) else {
            throw failure("its address cannot be used")
        }
        let folder = parts.path.hasSuffix("/") ? String(parts.path.dropLast()) : parts.path
        parts.path = folder.hasSuffix("/search") ? folder : folder + "/search"
        parts.queryItems = [URLQueryItem(name: "q", value: query), URLQueryItem(name: "format", value: "json")]
        // In a query, a server reads a plus sign as a space.
        parts.percentEncodedQuery = parts.percentEncodedQuery?.replacing("+", with: "%2B")
        guard let url = parts.url else { throw failure("the query cannot be sent") }
        let request = HTTPRequest(
            url, headers: ["Accept": "application/json"], authorization: key.map { "Bearer \($0)" },
            totalTimeout: Self.limit, maximumRedirects: 3, maximumBodySize: UInt64(Self.maximumSize))
        let data: Data
        do {
            let response = try await client.execute(request)
            guard response.status == 200 else { throw failure(status: response.status) }
            data = try await response.body.collect(upTo: Self.maximumSize)
        } catch let error as HTTPError {
            throw failure("the server cannot be reached", underlying: error)
        }
        return Array(try results(data).prefix(limit))
    }

    private func results(_ data: Data) throws -> [SearchResult] {
        let document: JSONValue
        do {
            document = try JSONValue(parsing: data)
        } catch {
            throw failure("the answer is no JSON", underlying: error)
        }
        guard case .array(let items)? = document.members?["results"] else { throw failure("the answer has no results") }
        return items.compactMap { item in
            guard let members = item.members, case .string(let url)? = members["url"],
                url.hasPrefix("https://") || url.hasPrefix("http://"), url.utf8.count <= 2048
            else { return nil }
            let title = members["title"]?.line(200) ?? ""
            return SearchResult(
                title: title.isEmpty ? url : title, excerpt: members["content"]?.line(500) ?? "", url: url)
        }
    }

    private func failure(status: Int) -> AssistantError {
        switch status {
        case 403: failure("the server refuses JSON", remedy: "Add json to search.formats in the server's settings.yml.")
        case 429: failure("the server gets too many requests", remedy: "Try again later.")
        default: failure("the server answered \(status)")
        }
    }

    private func failure(
        _ reason: String, remedy: String? = nil, underlying: (any Error)? = nil
    ) -> AssistantError {
        AssistantError(
            .searchFailed, "the search at \(name) failed: \(reason)",
            context: ErrorContext(url: address.absoluteString, remedy: remedy), disposition: .tryLater,
            underlying: underlying)
    }
}

extension JSONValue {
    /// A string on one line.
    fileprivate func line(_ limit: Int) -> String? {
        guard case .string(let text) = self else { return nil }
        return text.promptLine(limit)
    }
}
