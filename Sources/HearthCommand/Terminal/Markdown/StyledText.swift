/// The look of a piece of text on a terminal.
struct TextStyle: Sendable, Hashable {
    /// Independent properties of the look.
    struct Traits: OptionSet, Sendable, Hashable {
        let rawValue: UInt16

        static let bold = Traits(rawValue: 1)
        static let italic = Traits(rawValue: 2)
        static let underlined = Traits(rawValue: 4)
        static let struck = Traits(rawValue: 8)
        static let dim = Traits(rawValue: 16)
        static let code = Traits(rawValue: 32)
        /// A mark that Hearth draws, such as a bullet or a border: no part of the text.
        static let drawn = Traits(rawValue: 64)
        static let warning = Traits(rawValue: 128)
        /// The address after a link, which terminals with links need not show.
        static let address = Traits(rawValue: 256)
    }

    var traits: Traits = []
    /// The target of a link.
    var address: String?

    static let plain = TextStyle()
    static let frame = TextStyle(traits: [.dim, .drawn])
}

/// A piece of text with one look, on one line.
struct StyledRun: Sendable, Hashable {
    var text: String
    var style: TextStyle = .plain

    init(_ text: String, _ style: TextStyle = .plain) {
        self.text = text
        self.style = style
    }

    init(_ text: String, _ traits: TextStyle.Traits) { self.init(text, TextStyle(traits: traits)) }
}

/// One line of a terminal.
struct StyledLine: Sendable, Hashable {
    var runs: [StyledRun] = []

    init(_ runs: [StyledRun] = []) { self.runs = runs }

    /// The characters, with drawn marks.
    var text: String { runs.map(\.text).joined() }

    /// The characters of the text, without drawn marks.
    var content: String { runs.filter { !$0.style.traits.contains(.drawn) }.map(\.text).joined() }

    /// The number of columns.
    var width: Int { runs.reduce(0) { $0 + TerminalText.columns(of: $1.text) } }

    /// The line with the escape sequences of its styles.
    /// - Parameter links: whether the terminal makes links of OSC 8.
    func escaped(links: Bool) -> String {
        var result = ""
        for run in runs where !run.text.isEmpty {
            let text = TerminalText.singleLine(run.text)
            let codes = run.style.traits.codes
            let body = codes.isEmpty ? text : "\u{1B}[\(codes)m\(text)\u{1B}[0m"
            if links, let address = run.style.address.flatMap(LinkAddress.clickable) {
                result += "\u{1B}]8;;\(address)\u{1B}\\\(body)\u{1B}]8;;\u{1B}\\"
            } else {
                result += body
            }
        }
        return result
    }
}

extension TextStyle.Traits {
    /// The numbers of the escape sequence, such as `1;4`.
    fileprivate var codes: String {
        let table: [(Self, String)] = [
            (.bold, "1"), (.dim, "2"), (.italic, "3"), (.underlined, "4"), (.struck, "9"), (.warning, "33"),
            (.code, "36"),
        ]
        return table.filter { contains($0.0) }.map(\.1).joined(separator: ";")
    }
}

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

    /// Whether the text of a link names its address already.
    static func isNamed(_ address: String, by text: String) -> Bool {
        let bare = { (text: String) in
            var text = text.lowercased()[...]
            for prefix in ["mailto:", "https://", "http://"] where text.hasPrefix(prefix) {
                text = text.dropFirst(prefix.count)
            }
            return text.hasSuffix("/") ? text.dropLast() : text
        }
        return bare(address) == bare(text)
    }

    /// Whether a text looks like an address, so that it misleads if the link leads elsewhere.
    static func looksLikeOne(_ text: String) -> Bool {
        let text = text.lowercased()
        if text.hasPrefix("http:") || text.hasPrefix("https:") || text.hasPrefix("www.") { return true }
        return !text.contains(" ") && text.dropFirst().dropLast(2).contains(".")
    }
}
