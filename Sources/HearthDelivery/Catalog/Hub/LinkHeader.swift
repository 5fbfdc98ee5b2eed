import Foundation

/// The `Link` header (RFC 8288), as far as paging needs it: `<https://…?cursor=…>; rel="next"`.
enum LinkHeader {
    /// The target of the link with a relation, `nil` if the header has none.
    static func target(_ relation: String, in header: String) -> String? {
        var rest = Substring(header.prefix(16 << 10))
        while let open = rest.firstIndex(of: "<"), let close = rest[open...].firstIndex(of: ">") {
            let target = rest[rest.index(after: open)..<close]
            let after = rest[rest.index(after: close)...]
            // A comma inside quotation marks does not end a link's parameters.
            var isQuoted = false
            let end = after.firstIndex { character in
                if character == "\"" { isQuoted.toggle() }
                return character == "," && !isQuoted
            }
            if names(relation, after[..<(end ?? after.endIndex)]) { return String(target) }
            guard let end else { return nil }
            rest = after[after.index(after: end)...]
        }
        return nil
    }

    private static func names(_ relation: String, _ parameters: Substring) -> Bool {
        parameters.split(separator: ";").contains { parameter in
            let parts = parameter.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, parts[0].trimmingCharacters(in: .whitespaces).lowercased() == "rel" else {
                return false
            }
            return parts[1].trimmingCharacters(in: CharacterSet(charactersIn: " \t\""))
                .split(separator: " ").contains { $0.lowercased() == relation }
        }
    }
}
