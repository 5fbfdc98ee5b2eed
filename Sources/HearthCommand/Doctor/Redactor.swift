import Foundation

/// Removes data that identifies the user: user names, home folders, host names, addresses, tokens.
struct Redactor: Sendable {
    /// The home folder of models, shown as `$HEARTH_HOME`; `nil` if unknown.
    var modelHome: String?
    /// The user's home folder, shown as `~`.
    var userHome: String?
    var userName: String?
    var hostName: String?

    /// Redacts a text.
    func redacted(_ text: String) -> String {
        var text = addressesRemoved(text)
        // Replace the longer path first: one may contain the other.
        let paths = [(modelHome, "$HEARTH_HOME"), (userHome, "~")]
            .compactMap { path, sign in path.flatMap { $0.count > 1 ? ($0, sign) : nil } }
            .sorted { $0.0.count > $1.0.count }
        for (path, sign) in paths { text = Self.replacing(path, in: text, with: sign, isBoundary: Self.endsPath) }
        text = Self.replacingOwners(in: text)
        if let hostName { text = Self.replacing(hostName, in: text, with: "<host>", isBoundary: Self.endsWord) }
        if let userName { text = Self.replacing(userName, in: text, with: "<user>", isBoundary: Self.endsWord) }
        return text.split(separator: " ", omittingEmptySubsequences: false).map(Self.tokenRemoved).joined(
            separator: " ")
    }

    /// Keeps only the scheme of an address: the host identifies the user, path and query may contain secrets.
    private func addressesRemoved(_ text: String) -> String {
        var result = ""
        var rest = Substring(text)
        while let mark = rest.range(of: "://") {
            let before = rest[..<mark.lowerBound]
            let scheme = before.reversed().prefix { $0.isLetter || $0.isNumber || "+-.".contains($0) }
            let after = rest[mark.upperBound...]
            let address = after.prefix { !$0.isWhitespace && !"'\"<>[]()".contains($0) || $0 == "[" }
            result += before
            if scheme.isEmpty || address.isEmpty {
                result += "://"
                rest = after
            } else if scheme.count == 4 && String(scheme.reversed()).lowercased() == "file" {
                result += "://" + address
                rest = after.dropFirst(address.count)
            } else {
                result += "://<host>"
                rest = after.dropFirst(address.count)
            }
        }
        return result + rest
    }

    /// Replaces user names in other home folders.
    private static func replacingOwners(in text: String) -> String {
        var text = text
        for root in ["/home/", "/Users/"] {
            var parts = text.components(separatedBy: root)
            for index in parts.indices.dropFirst() {
                let name = parts[index].prefix { $0 != "/" && !$0.isWhitespace && $0 != "'" }
                if !name.isEmpty { parts[index] = "<user>" + parts[index].dropFirst(name.count) }
            }
            text = parts.joined(separator: root)
        }
        return text
    }

    /// Removes long runs of letters and digits: keys, tokens or digests.
    private static func tokenRemoved(_ word: Substring) -> String {
        let isTokenLike = word.split { !($0.isLetter || $0.isNumber || $0 == "_") }.contains { run in
            run.hasPrefix("hf_") && run.count > 8
                || run.count >= 32 && run.contains(where: \.isNumber) && run.contains(where: \.isLetter)
        }
        return isTokenLike ? "<removed>" : String(word)
    }

    private static func endsPath(_ character: Character) -> Bool {
        character == "/" || !(character.isLetter || character.isNumber || "._-".contains(character))
    }

    private static func endsWord(_ character: Character) -> Bool {
        !(character.isLetter || character.isNumber || character == "_")
    }

    /// Replaces whole occurrences only.
    private static func replacing(
        _ target: String, in text: String, with sign: String, isBoundary: (Character) -> Bool
    ) -> String {
        guard !target.isEmpty else { return text }
        var result = ""
        var rest = Substring(text)
        while let range = rest.range(of: target) {
            let startsWell = (result + rest[..<range.lowerBound]).last.map(isBoundary) ?? true
            let endsWell = rest[range.upperBound...].first.map(isBoundary) ?? true
            result += rest[..<range.lowerBound]
            result += startsWell && endsWell ? sign : target
            rest = rest[range.upperBound...]
        }
        return result + rest
    }
}
