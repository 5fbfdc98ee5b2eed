import HearthBase

/// The target of a request, split into path and query.
package struct ServerTarget: Sendable, Hashable, CustomStringConvertible {
    /// One pair of a query, decoded.
    package struct QueryItem: Sendable, Hashable {
        package let name: String
        package let value: String
    }

    /// The target as sent: escapes not decoded, query included.
    package let raw: String
    /// The path with escapes decoded, without scheme and host; it begins with a slash. Empty for a target that is no
    /// path or has a broken escape: no route matches it.
    package let path: String
    /// The pairs of the query in order, with escapes and `+` decoded.
    package let query: [QueryItem]

    /// Reads a target in origin form (`/a/b?query`) or absolute form (`http://host/a/b`).
    package init(_ raw: String) {
        self.raw = raw
        let bytes = Self.withoutHost(Array(raw.utf8))
        let path = bytes?.prefix { $0 != UInt8(ascii: "?") }
        self.path = path.flatMap { Self.decoded($0, plusIsBlank: false) } ?? ""
        let query = bytes.flatMap { bytes in
            bytes.firstIndex(of: UInt8(ascii: "?")).map { bytes[bytes.index(after: $0)...] }
        }
        self.query = query.map(Self.items) ?? []
    }

    /// The first value of a name in the query.
    package func value(_ name: String) -> String? { query.first { $0.name == name }?.value }

    package var description: String { raw }

    /// The bytes from the path's first slash, `nil` for a target of another form.
    static func withoutHost(_ target: [UInt8]) -> ArraySlice<UInt8>? {
        var rest = target[...]
        // RFC 9112, section 3.2.2: a server accepts the absolute form although only proxies need it.
        for scheme in ["http://", "https://"]
        where rest.starts(with: Array(scheme.utf8), by: { $0 | 0x20 == $1 | 0x20 }) {
            rest = rest.dropFirst(scheme.utf8.count)
            guard let slash = rest.firstIndex(of: UInt8(ascii: "/")) else { return nil }
            rest = rest[slash...]
            break
        }
        guard rest.first == UInt8(ascii: "/"), !rest.contains(UInt8(ascii: "#")) else { return nil }
        return rest
    }

    /// At most 256 pairs; a pair with a broken escape is left out.
    private static func items(_ query: ArraySlice<UInt8>) -> [QueryItem] {
        query.split(separator: UInt8(ascii: "&")).prefix(256).compactMap { pair in
            let parts = pair.split(
                separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = parts.first.flatMap({ decoded($0, plusIsBlank: true) }) else { return nil }
            let value = parts.count > 1 ? decoded(parts[1], plusIsBlank: true) : ""
            return value.map { QueryItem(name: name, value: $0) }
        }
    }

    /// Text with its escapes decoded; `nil` for a broken escape, a control character or bytes that are not UTF-8.
    private static func decoded(_ part: ArraySlice<UInt8>, plusIsBlank: Bool) -> String? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(part.count)
        var index = part.startIndex
        while index < part.endIndex {
            var byte = part[index]
            index += 1
            if byte == UInt8(ascii: "%") {
                guard index + 1 < part.endIndex,
                    let value = [UInt8](hexadecimal: String(decoding: part[index...(index + 1)], as: UTF8.self))
                else { return nil }
                byte = value[0]
                index += 2
            } else if byte == UInt8(ascii: "+"), plusIsBlank {
                byte = UInt8(ascii: " ")
            }
            guard byte != 0, plusIsBlank || byte >= 0x20 && byte != 0x7F else { return nil }
            bytes.append(byte)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
