import Foundation

/// The name under which Hearth finds an event, a reminder or a contact that it made: an address in the record,
/// `hearth-record:ID?source=web%20page`.
///
/// The system names a record when it is saved, and names it anew when an account is synchronized from its beginning. The
/// address is there from the first save, so a repeated creation finds the record.
struct SystemMark: Sendable, Hashable {
    static let scheme = "hearth-record"

    var id: String
    /// Where the texts of the record are from if others wrote them.
    var source: String?

    init(id: String, source: String? = nil) { (self.id, self.source) = (id, source) }

    /// Reads an address; `nil` for those of others.
    init?(_ address: URL?) {
        guard let address, let parts = URLComponents(url: address, resolvingAgainstBaseURL: false),
            parts.scheme == Self.scheme, !parts.path.isEmpty
        else { return nil }
        id = parts.path
        source = parts.queryItems?.first { $0.name == "source" }?.value
    }

    /// The address; `nil` for an id that no address can hold.
    var address: URL? {
        var parts = URLComponents()
        parts.scheme = Self.scheme
        parts.path = id
        if let source { parts.queryItems = [URLQueryItem(name: "source", value: source)] }
        return parts.url
    }
}
