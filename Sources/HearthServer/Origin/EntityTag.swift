#if Server
    import HearthBase

    /// Facts of an open file that decide about a reply.
    public struct FileFacts: Sendable, Hashable {
        /// The length in bytes.
        public var size: UInt64
        /// A strong entity tag, with its quotes: it changes whenever the bytes may have.
        public var entityTag: String
        /// Seconds since 1970.
        public var modified: Int64

        /// Facts as they are given.
        public init(size: UInt64, entityTag: String, modified: Int64) {
            self.size = size
            self.entityTag = entityTag
            self.modified = modified
        }
    }

    /// Compares entity tags in the lists of conditional requests (RFC 9110, section 8.8.3).
    enum EntityTagList {
        /// Whether `value` (`*` or a list of tags) holds `tag`, by the weak comparison or the strong one.
        static func contains(_ tag: String, in value: String, weakly: Bool) -> Bool {
            let value = value.trimmed
            if value == "*" { return true }
            // The tags made here hold no comma, so splitting there cannot make a match out of a longer tag.
            return value.split(separator: ",").contains { candidate in
                let candidate = candidate.trimmed
                return candidate == tag || weakly && candidate == "W/" + tag
            }
        }
    }

    extension StringProtocol {
        /// Without the spaces and tabs around it.
        var trimmed: String {
            var slice = Substring(self)
            while let first = slice.first, first == " " || first == "\t" { slice.removeFirst() }
            while let last = slice.last, last == " " || last == "\t" { slice.removeLast() }
            return String(slice)
        }
    }
#endif
