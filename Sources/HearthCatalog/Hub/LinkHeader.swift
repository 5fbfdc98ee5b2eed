import Foundation

/// Parses the parts of the `Link` header (RFC 8288) needed for paging: `<https://…?cursor=…>; rel="next"`.
enum LinkHeader {
    /// The target of the link with that relation, `nil` if the header has none.
    package static func target(_ relation: String, in header: String) -> String? {
        var rest = Substring(header.prefix(16 << 10))
        while let open = rest.firstIndex(of: "<"), let close = rest[open...].firstIndex(of: ">") {
            let target = rest[rest.index(after: open)..<close]
            let after = rest[rest.index(after: close)...]
            let end = unquoted(",", in: after)
            if names(relation, after[..<(end ?? after.endIndex)]) { return String(target) }
            guard let end else { return nil }
            rest = after[after.index(after: end)...]
        }
        return nil
    }

    /// The first such character outside quotation marks.
    private static func unquoted(_ wanted: Character, in text: Substring) -> Substring.Index? {
        var isQuoted = false
        return text.firstIndex { character in
            if character == "\"" { isQuoted.toggle() }
            return character == wanted && !isQuoted
        }
    }

    private static func names(_ relation: String, _ parameters: Substring) -> Bool {
        var rest = parameters
        while true {
            let end = unquoted(";", in: rest)
            let parts = rest[..<(end ?? rest.endIndex)].split(separator: "=", maxSplits: 1)
            if parts.count == 2, parts[0].trimmingCharacters(in: .whitespaces).lowercased() == "rel" {
                // Only the first `rel` counts (RFC 8288, 3.3).
                return parts[1].trimmingCharacters(in: CharacterSet(charactersIn: " \t\""))
                    .split(separator: " ").contains { $0.lowercased() == relation }
            }
            guard let end else { return false }
            rest = rest[rest.index(after: end)...]
        }
    }
}
