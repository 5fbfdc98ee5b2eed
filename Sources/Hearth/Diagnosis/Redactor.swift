import Foundation

/// Removes data that identifies the user: user names, home folders, host names, addresses, tokens.
package struct Redactor: Sendable {
    /// The home folder of models; `nil` if unknown.
    private let modelHome: String?
    private let homeSign: String
    /// The user's home folder, shown as `~`.
    private let userHome: String?
    private let userName: String?
    private let hostName: String?

    package init(modelHome: String?, shownAs homeSign: String, userHome: String?, userName: String?, hostName: String?)
    {
        (self.modelHome, self.homeSign, self.userHome) = (modelHome, homeSign, userHome)
        (self.userName, self.hostName) = (userName, hostName)
    }

    /// Redacts a text.
    package func redacted(_ text: String) -> String {
        var text = Self.addressesRemoved(text)
        // Replace the longer path first: one may contain the other.
        let paths = [(modelHome, homeSign), (userHome, "~")]
            .compactMap { path, sign in path.flatMap { $0.count > 1 ? ($0, sign) : nil } }
            .sorted { $0.0.count > $1.0.count }
        for (path, sign) in paths { text = Self.replacing(path, in: text, with: sign, isBoundary: Self.endsPath) }
        text = Self.ownersRemoved(text)
        if let hostName { text = Self.replacing(hostName, in: text, with: "<host>", isBoundary: Self.endsWord) }
        if let userName { text = Self.replacing(userName, in: text, with: "<user>", isBoundary: Self.endsWord) }
        return text.split(separator: " ", omittingEmptySubsequences: false).map(Self.tokenRemoved).joined(
            separator: " ")
    }

    /// Keeps only the scheme of an address: the host identifies the user, path and query may contain secrets.
    private static func addressesRemoved(_ text: String) -> String {
        text.replacing(/([\p{L}\p{N}+.\-]+):\/\/[^\s'"<>()\]]+/) { match in
            match.1.lowercased() == "file" ? String(match.0) : "\(match.1)://<host>"
        }
    }

    /// Replaces user names in other home folders.
    private static func ownersRemoved(_ text: String) -> String {
        text.replacing(/(\/home\/|\/Users\/)[^\/\s']+/) { "\($0.1)<user>" }
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
