import Foundation
import HearthBase

/// Reading of schemas.
extension JSONMembers {
    /// The strings of a list under a key, such as `required`.
    func strings(_ key: String) -> [String] { self[key]?.items?.compactMap(\.string) ?? [] }

    /// The object under a key; empty if there is no object.
    func members(_ key: String) -> JSONMembers { self[key]?.members ?? JSONMembers() }

    /// The number under a key, with its digits.
    func number(_ key: String) -> Decimal? { self[key]?.number }

    /// Whether the value under a key is `true`.
    func isTrue(_ key: String) -> Bool { self[key] == .boolean(true) }
}

extension JSONValue {
    var isFalse: Bool { self == .boolean(false) }

    /// The value at a reference into this document, such as `#/$defs/city`.
    func resolved(_ reference: String) -> JSONValue? {
        var place = self
        for part in reference.split(separator: "/").dropFirst() {
            let name = part.replacingOccurrences(of: "~1", with: "/").replacingOccurrences(of: "~0", with: "~")
            let item = Int(name).flatMap { index in
                place.items.flatMap { $0.indices.contains(index) ? $0[index] : nil }
            }
            guard let next = place[name] ?? item else { return nil }
            place = next
        }
        return place
    }
}
