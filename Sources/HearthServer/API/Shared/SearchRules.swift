import Foundation
import HearthBase
import HearthHTTP
import HearthInference

/// A page that a search of the web found.
package struct WebPage: Sendable, Hashable {
    package var title: String
    package var address: String
    package var excerpt: String

    package init(title: String, address: String, excerpt: String) {
        self.title = title
        self.address = address
        self.excerpt = excerpt
    }

    var json: JSONValue { ["title": .string(title), "url": .string(address), "text": .string(excerpt)] }

    init?(_ json: JSONValue) {
        guard let address = json["url"]?.string else { return nil }
        self.init(title: json["title"]?.string ?? address, address: address, excerpt: json["text"]?.string ?? "")
    }
}

/// Searches the web for at most so many pages.
package typealias WebSearch = @Sendable (_ query: String, _ limit: Int) async throws -> [WebPage]

/// The rules of a request for searches of the web.
package struct SearchRules: Sendable, Hashable {
    /// The model's name of the tool; `nil` if the answer searches nothing.
    private(set) var tool: String?
    /// The most searches of an answer.
    private(set) var maximumUses = 8
    private var allowedHosts: [String] = []
    private var blockedHosts: [String] = []

    package init() {}

    /// Offers the search as a tool of the model.
    /// - Parameter fields: the limits: `max_uses`, `allowed_domains` and `blocked_domains`, also in `filters`.
    mutating func offer(_ name: String, in offered: inout OfferedTools, _ fields: Fields) throws(APIFailure) {
        // A function of the client with this name comes first.
        guard tool == nil, !offered.has(name) else { return fields.leaveOut(name) }
        maximumUses = try fields.integer("max_uses", in: 0...1000).map { max(1, $0) } ?? maximumUses
        let filters = try fields.object("filters") ?? fields
        allowedHosts = try filters.strings("allowed_domains", atMost: 1000) ?? []
        blockedHosts = try filters.strings("blocked_domains", atMost: 1000) ?? []
        try offered.add(
            ClientTool(kind: .webSearch, name: name),
            description: "Searches the web. The result is a list of pages with their titles, addresses and excerpts.",
            parameters:
                #"{"type":"object","properties":{"query":{"type":"string","description":"the words to search for"}},"required":["query"],"additionalProperties":false}"#,
            field: fields.name("name"))
        tool = name
    }

    /// Uses the name that the model reads.
    mutating func use(_ names: ToolNames) { tool = tool.map { names.name($0) } }

    /// Whether a page may be a result.
    func permits(_ page: WebPage) -> Bool {
        guard let host = URL(address: page.address)?.host()?.lowercased() else { return false }
        func matches(_ domain: String) -> Bool {
            let name = domain.lowercased().split(separator: "/").first.map(String.init) ?? domain
            return host == name || host.hasSuffix("." + name)
        }
        if !allowedHosts.isEmpty, !allowedHosts.contains(where: matches) { return false }
        return !blockedHosts.contains(where: matches)
    }
}
