import Foundation

/// A manual page in roff with the macros of man(7).
struct ManualText: Sendable {
    /// A piece of a line.
    enum Part: Sendable, Hashable {
        case plain(String), bold(String), italic(String)
    }

    private(set) var text: String

    init(title: String, date: String, version: String) {
        text = ".TH \(Self.argument(title.uppercased())) 1 \(date) \(Self.argument(version)) \"User Commands\"\n"
        // No hyphens and no stretched lines: options and commands stay whole.
        text += ".nh\n.ad l\n"
    }

    mutating func name(_ name: String, _ summary: String) {
        heading("name")
        add(Self.escaped("\(name) ") + "\\- " + Self.escaped(summary))
    }

    mutating func heading(_ title: String) { text += ".SH \(Self.argument(title.uppercased()))\n" }
    mutating func subheading(_ title: String) { text += ".SS \(Self.argument(title))\n" }

    mutating func paragraph(_ parts: [Part]) {
        // A paragraph below a heading needs no macro.
        if let last = text.split(separator: "\n").last, !last.hasPrefix(".SH"), !last.hasPrefix(".SS") {
            text += ".PP\n"
        }
        add(Self.line(parts))
    }

    /// A term with its meaning.
    mutating func item(_ term: [Part], _ meaning: String) {
        text += ".TP\n" + Self.guarded(Self.line(term)) + "\n"
        add(Self.escaped(meaning))
    }

    mutating func example(_ line: String, _ explanation: String) {
        if !explanation.isEmpty { paragraph([.plain(explanation)]) }
        text += ".PP\n.RS 4\n.nf\n" + Self.guarded(Self.escaped(line)) + "\n.fi\n.RE\n"
    }

    /// Adds a running text, in lines of at most 78 characters.
    private mutating func add(_ running: String) {
        var line = ""
        for word in running.split(separator: " ") {
            if !line.isEmpty, line.count + word.count > 77 {
                text += Self.guarded(line) + "\n"
                line = ""
            }
            line += (line.isEmpty ? "" : " ") + word
        }
        text += Self.guarded(line) + "\n"
    }

    private static func line(_ parts: [Part]) -> String {
        parts.map { part in
            switch part {
            case .plain(let text): escaped(text)
            case .bold(let text): "\\fB\(escaped(text))\\fR"
            case .italic(let text): "\\fI\(escaped(text))\\fR"
            }
        }
        .joined()
    }

    /// A line that roff takes as text: a full stop or an apostrophe at its beginning would make it a request.
    private static func guarded(_ line: String) -> String {
        line.hasPrefix(".") || line.hasPrefix("'") ? "\\&" + line : line
    }

    private static func argument(_ text: String) -> String { "\"\(escaped(text))\"" }

    /// A text in ASCII without what roff would read as its own.
    private static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result += "\\e"
            case "-": result += "\\-"
            case "\"": result += "\\(dq"
            case "'": result += "\\(aq"
            case "`": result += "\\(ga"
            case "~": result += "\\(ti"
            case "^": result += "\\(ha"
            case "\u{A0}": result += "\\~"
            case "…": result += "..."
            case _ where scalar.isASCII && scalar.value >= 0x20 && scalar.value != 0x7F:
                result.unicodeScalars.append(scalar)
            case _ where scalar.isASCII: result += " "
            default:
                let digits = String(scalar.value, radix: 16, uppercase: true)
                result += "\\[u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits + "]"
            }
        }
        return result
    }
}
