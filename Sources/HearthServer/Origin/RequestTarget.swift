#if Server
    import HearthBase

    /// The names a request target leads through, decoded and checked; the only way from a client's text to a path.
    public struct RequestTarget: Sendable, Hashable {
        /// At least one name.
        public let components: [PathComponent]

        /// Why a target leads nowhere.
        public enum Refusal: Error, Sendable, Hashable {
            /// It is not a proper target: a bad escape, bytes that are not UTF-8, control characters, a backslash.
            case malformed
            /// It is one, but nothing is served under such a name: `..`, an empty name, hidden and unfinished files.
            case hidden
        }

        /// Reads a target in origin form (`/a/b?query`) or absolute form (`http://host/a/b`).
        ///
        /// Each name is decoded once, after the target was split, so that an escaped slash never separates.
        public init(_ target: String) throws(Refusal) {
            let path = Self.path(of: Array(target.utf8))
            guard let path, path.first == UInt8(ascii: "/") else { throw .malformed }
            var components: [PathComponent] = []
            for part in path.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
                guard let bytes = Self.decoded(part), let name = String(validating: bytes, as: UTF8.self) else {
                    throw .malformed
                }
                guard !name.isEmpty, !name.hasPrefix("."), !name.contains(Path.temporaryMark) else { throw .hidden }
                guard let component = PathComponent(name) else { throw .malformed }
                components.append(component)
            }
            self.components = components
        }

        /// The names joined by slashes.
        public var relativePath: String { components.map(\.name).joined(separator: "/") }

        /// The path of a target without scheme, host and query.
        private static func path(of target: [UInt8]) -> ArraySlice<UInt8>? {
            var rest = target[...]
            // RFC 9112, section 3.2.2: a server accepts the absolute form although only proxies need it.
            for scheme in ["http://", "https://"]
            where rest.starts(with: Array(scheme.utf8), by: { $0 | 0x20 == $1 | 0x20 }) {
                rest = rest.dropFirst(scheme.utf8.count)
                guard let slash = rest.firstIndex(of: UInt8(ascii: "/")) else { return nil }
                rest = rest[slash...]
                break
            }
            guard !rest.contains(UInt8(ascii: "#")) else { return nil }
            return rest.prefix { $0 != UInt8(ascii: "?") }
        }

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
#endif
