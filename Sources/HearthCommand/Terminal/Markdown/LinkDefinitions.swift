import Foundation

/// The link definitions of finished blocks, which later blocks may use.
struct LinkDefinitions: Sendable, Hashable {
    /// The most bytes of definitions.
    private static let longest = 8 << 10
    private static let longestLabel = 200

    /// The definitions as Markdown, followed by a blank line; empty without one.
    private(set) var text = ""

    /// Adds the definitions of a finished part of the source.
    mutating func collect(from source: String) {
        guard source.contains("]:") else { return }
        let labels = Self.labels(in: source)
        guard !labels.isEmpty else { return }
        // The parser itself decides which of them are definitions.
        let questions = labels.map { "\n\n[\($0)]" }.joined()
        let answers = MarkdownParser.blocks(source + questions).suffix(labels.count)
        guard answers.count == labels.count else { return }
        var lines = ""
        for (label, answer) in zip(labels, answers) {
            guard case .paragraph(let runs) = answer.kind, let address = runs.first?.style.address,
                !address.contains(where: { $0 == "<" || $0 == ">" || $0 == "\n" })
            else { continue }
            lines += "[\(label)]: <\(address)>\n"
        }
        guard !lines.isEmpty, text.utf8.count + lines.utf8.count < Self.longest else { return }
        if text.isEmpty { text = "\n" }
        text = String(text.dropLast()) + lines + "\n"
    }

    /// The texts in brackets before a colon.
    private static func labels(in source: String) -> [String] {
        var labels: [String] = []
        var rest = source[...]
        while labels.count < 50, let end = rest.range(of: "]:") {
            let before = rest[..<end.lowerBound].suffix(longestLabel)
            if let start = before.lastIndex(of: "[") {
                let label = before[before.index(after: start)...]
                if !label.isEmpty, !label.contains("\n") { labels.append(String(label)) }
            }
            rest = rest[end.upperBound...]
        }
        return labels
    }
}
