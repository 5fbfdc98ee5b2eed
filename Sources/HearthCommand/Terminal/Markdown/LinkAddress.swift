import Foundation
import HearthHTTP

/// The address of a link in a model's text.
enum LinkAddress {
    /// The longest address that a terminal is given, in bytes.
    private static let longest = 2000

    /// The address as a terminal may be given it; `nil` for a scheme that it must not open.
    static func clickable(_ address: String) -> String? {
        let scheme = address.prefix { $0 != ":" }.lowercased()
        guard ["http", "https", "mailto"].contains(scheme), address.utf8.count <= longest else { return nil }
        var result = ""
        for byte in address.utf8 {
            if byte > 0x20 && byte < 0x7F {
                result.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                result += "%" + (digits.count < 2 ? "0" : "") + digits
            }
        }
        return result
    }

    /// The host that a browser opens for a web address, with foreign letters as `xn--…`; `nil` where it opens none.
    ///
    /// Browsers drop tabs and line ends, take any number of slashes and backslashes after the scheme, and ignore what
    /// stands before an `@`.
    static func host(of address: String) -> String? {
        let text = String(
            String.UnicodeScalarView(address.unicodeScalars.filter { !["\t", "\n", "\r"].contains($0) }))
        let scheme = text.prefix { $0 != ":" }
        guard ["http", "https"].contains(scheme.lowercased()) else { return nil }
        let rest = text.dropFirst(scheme.count + 1).drop { $0 == "/" || $0 == "\\" }
        let authority = rest.prefix { !"/\\?#".contains($0) }
        let place = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        guard let host = URL(address: "\(scheme)://\(place)/")?.host(percentEncoded: false), !host.isEmpty,
            !host.unicodeScalars.contains(where: { $0.value <= 0x20 || "/\\?#@%<>^|".unicodeScalars.contains($0) })
        else { return nil }
        return host.lowercased()
    }

    /// Whether an address says plainly which host it leads to.
    private static func isPlain(_ address: String) -> Bool {
        let text = address.lowercased()
        if text.hasPrefix("mailto:") { return !text.contains("?") && !text.contains(",") && !text.contains("%") }
        guard let host = host(of: address), text.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value < 0x7F })
        else { return false }
        return ["https://", "http://"].contains { scheme in
            guard text.hasPrefix(scheme + host) else { return false }
            let next = text.dropFirst(scheme.count + host.count).first
            return next.map { "/?#:".contains($0) } ?? true
        }
    }

    /// The address as people should read it beside a link: with its host before it, where the address hides that.
    static func shown(_ address: String) -> String {
        let text = TerminalText.singleLine(address)
        guard !isPlain(address), let host = host(of: address) else { return text }
        return "\(host): \(text)"
    }

    /// Whether the text of a link names its address already.
    static func isNamed(_ address: String, by text: String) -> Bool {
        let bare = { (text: String) in
            var text = text.lowercased()[...]
            for prefix in ["mailto:", "https://", "http://"] where text.hasPrefix(prefix) {
                text = text.dropFirst(prefix.count)
                break
            }
            return text.hasSuffix("/") ? text.dropLast() : text
        }
        return isPlain(address) && bare(address) == bare(text)
    }

    /// Whether a text looks like an address or a host, so that it misleads if the link leads elsewhere. Dots, slashes and
    /// letters of other forms count as those that they look like.
    static func looksLikeOne(_ text: String) -> Bool {
        let visible = text.unicodeScalars.filter { !$0.properties.isDefaultIgnorableCodePoint }
        let folded = String(String.UnicodeScalarView(visible)).precomposedStringWithCompatibilityMapping.lowercased()
        var characters = folded.map { dots.contains($0) ? "." : slashes.contains($0) ? "/" : $0 }
        characters.removeAll { $0 == "\t" || $0.isNewline }
        let plain = String(characters)
        if ["://", ":/", "//", "www.", "@", "localhost", "xn--"].contains(where: plain.contains) { return true }
        // A dot between a letter or digit and another one.
        return characters.indices.dropFirst().dropLast().contains { index in
            func isPart(_ character: Character) -> Bool { character.isLetter || character.isNumber || character == "-" }
            return characters[index] == "." && isPart(characters[index - 1]) && isPart(characters[index + 1])
        }
    }

    private static let dots: Set<Character> = ["。", "․", "‧", "∙", "·", "ꓸ", "۔", "܂", "•"]
    private static let slashes: Set<Character> = ["\\", "∕", "⁄", "⧸", "⟋", "╱", "／", "＼", "∖", "⧵"]
}
