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

    /// The value at a reference into this document: a JSON pointer such as `#/$defs/city` with its escapes (RFC 6901,
    /// section 6), or the name of an `$anchor`.
    func resolved(_ reference: String) -> JSONValue? {
        let fragment = reference.drop { $0 != "#" }.dropFirst()
        if fragment.isEmpty { return self }
        guard fragment.hasPrefix("/") else { return anchored(fragment.removingPercentEncoding ?? String(fragment)) }
        // Some schemas are written without the escapes of an address.
        return [fragment.removingPercentEncoding, String(fragment)].lazy.compactMap { $0.flatMap(pointed) }.first
    }

    private func pointed(_ pointer: String) -> JSONValue? {
        var place = self
        for part in pointer.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
            let name = part.replacingOccurrences(of: "~1", with: "/").replacingOccurrences(of: "~0", with: "~")
            let item = Int(name).flatMap { index in
                place.items.flatMap { $0.indices.contains(index) ? $0[index] : nil }
            }
            guard let next = place[name] ?? item else { return nil }
            place = next
        }
        return place
    }

    /// The schema with a name.
    private func anchored(_ name: String) -> JSONValue? {
        if let members {
            if ["$anchor", "$dynamicAnchor", "$id", "id"].contains(where: {
                members[$0]?.string == name || members[$0]?.string == "#" + name
            }) {
                return self
            }
            return members.values.lazy.compactMap { $0.anchored(name) }.first
        }
        return items?.lazy.compactMap { $0.anchored(name) }.first
    }
}
