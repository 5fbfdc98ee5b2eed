import HearthBase

/// The decoded and checked names of a request target; the only way from a client's text to a path.
struct RequestTarget: Sendable, Hashable {
    /// At least one name.
    let components: [PathComponent]

    /// Reads a target in origin form (`/a/b?query`) or absolute form (`http://host/a/b`).
    ///
    /// Refuses with `badTarget`: a bad escape, bytes that are not UTF-8, control characters, a backslash. Refuses with
    /// `notFound`: `..`, an empty name, hidden and temporary files. Each name is decoded once, after the target was split, so an escaped slash never separates names.
    init(_ target: String) throws(OriginRefusal) {
        guard let path = ServerTarget.withoutHost(Array(target.utf8))?.prefix(while: { $0 != UInt8(ascii: "?") }) else {
            throw .badTarget
        }
        var components: [PathComponent] = []
        for part in path.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            guard let bytes = Self.decoded(part), let name = String(validating: bytes, as: UTF8.self) else {
                throw .badTarget
            }
            guard !name.isEmpty, !name.hasPrefix("."), !name.contains(Path.temporaryMark) else { throw .notFound }
            guard let component = PathComponent(name) else { throw .badTarget }
            components.append(component)
        }
        self.components = components
    }

    /// The names joined by slashes.
    var relativePath: String { components.map(\.name).joined(separator: "/") }

    /// One name with its escapes decoded, `nil` if an escape is not `%` and two digits or a byte needed one.
    private static func decoded(_ part: ArraySlice<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(part.count)
        var index = part.startIndex
        while index < part.endIndex {
            let byte = part[index]
            guard byte > 0x20, byte < 0x7F, byte != UInt8(ascii: "\\") else { return nil }
            if byte == UInt8(ascii: "%") {
                guard index + 2 < part.endIndex,
                    let decoded = [UInt8](
                        hexadecimal: String(decoding: part[(index + 1)...(index + 2)], as: UTF8.self))
                else { return nil }
                bytes += decoded
                index += 3
            } else {
                bytes.append(byte)
                index += 1
            }
        }
        return bytes
    }
}
