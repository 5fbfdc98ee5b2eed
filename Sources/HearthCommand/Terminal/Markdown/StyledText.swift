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
