import Foundation

/// Properties of an open file that decide the reply.
struct FileFacts: Sendable, Hashable {
    /// The length in bytes.
    var size: UInt64
    /// A strong entity tag with its quotation marks: it changes whenever the bytes may have changed.
    var entityTag: String
    /// Seconds since 1970.
    var modified: Int64

    /// Whether `*` or a list of entity tags contains the file's, by the weak or the strong comparison (RFC 9110,
    /// section 8.8.3).
    func hasTag(in list: String, weakly: Bool) -> Bool {
        // The tags of this server contain no comma.
        list.trimmed == "*"
            || list.split(separator: ",").map(\.trimmed).contains { tag in
                tag == entityTag || weakly && tag == "W/" + entityTag
            }
    }
}

extension StringProtocol {
    /// Without the blanks around it.
    var trimmed: String { trimmingCharacters(in: .whitespaces) }
}
