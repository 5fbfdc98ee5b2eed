import Foundation
import HearthBase

/// The parts of a release's file name: `{name}-v{major}.{minor}.{patch}[-{prerelease}][-{quantization}].{extension}`.
///
/// The version is the *last* `-vX.Y.Z`, so the name may contain an earlier one. The first word after the version is a
/// pre-release if it begins like one (`alpha`, `beta`, `rc`, `pre`, `dev`, …). The other words form the variant, joined
/// by `_`.
package struct ReleaseFileName: Sendable, Hashable {
    /// The name before the version as written; its family is that of ``WrittenName``.
    package var written: String
    /// The name before the version in lower case; it may be an invalid ``Family``.
    package var name: String { written.lowercased() }
    package var version: SemanticVersion
    /// The quantization in lower case.
    package var variant: Variant?

    /// A file name of the given parts.
    package init(family: Family, version: SemanticVersion, variant: Variant?) {
        written = family.name
        self.version = version
        self.variant = variant
    }

    /// Parses a file name; `nil` if it contains no version of that form.
    package init?(parsing fileName: String) {
        var searched = fileName[...]
        while let mark = searched.range(of: "-v", options: [.backwards, .caseInsensitive]) {
            let rest = fileName[mark.upperBound...].lowercased()
            if let parsed = Self(name: searched[..<mark.lowerBound], rest: rest[...]) {
                self = parsed
                return
            }
            searched = searched[..<mark.lowerBound]
        }
        return nil
    }

    private init?(name: Substring, rest: Substring) {
        let core = rest.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let numbers = core.split(separator: ".", omittingEmptySubsequences: false)
        // In `1.2.3.gguf`, the numbers end with the point of the extension.
        let isEndedByExtension = numbers.count == 4 && numbers[3].isEmpty
        guard !name.isEmpty, numbers.count == 3 || isEndedByExtension,
            let version = SemanticVersion(numbers.prefix(3).joined(separator: "."))
        else { return nil }
        var tail = isEndedByExtension ? "" : rest[core.endIndex...]
        guard tail.isEmpty || tail.hasPrefix("-") else { return nil }
        tail = tail.dropFirst()
        if let point = tail.lastIndex(of: ".") { tail = tail[..<point] }
        if tail.hasSuffix(".tar") { tail = tail.dropLast(4) }
        // The number of a shard does not belong to the variant.
        if let part = tail.firstMatch(of: /(^|-)[0-9]{5}-of-[0-9]{5}$/) { tail = tail[..<part.range.lowerBound] }

        written = String(name)
        self.version = version
        var words = tail.split(separator: "-")
        if let first = words.first, Self.beginsLikePrerelease(first) {
            let identifiers = first.split(separator: ".").map(String.init)
            guard let versionWithPrerelease = SemanticVersion("\(version)-\(identifiers.joined(separator: "."))") else {
                return nil
            }
            self.version = versionWithPrerelease
            words.removeFirst()
        }
        guard !words.isEmpty else { return }
        guard let variant = Variant(words.joined(separator: "_")) else { return nil }
        self.variant = variant
    }

    private static func beginsLikePrerelease(_ word: Substring) -> Bool {
        ["alpha", "beta", "rc", "pre", "preview", "dev", "canary", "nightly", "snapshot"].contains { mark in
            word.hasPrefix(mark) && word.dropFirst(mark.count).allSatisfy { $0 == "." || ($0.isASCII && $0.isNumber) }
        }
    }

    /// The file name without extension.
    package var stem: String { "\(name)-v\(version)" + (variant.map { "-\($0)" } ?? "") }
}
