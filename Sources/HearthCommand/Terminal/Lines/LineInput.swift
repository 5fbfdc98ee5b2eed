/// What a person gave at a prompt.
enum LineInput: Sendable, Hashable {
    case line(String)
    /// Ctrl-C: the line is given up.
    case cancelled(hadText: Bool)
    /// Ctrl-D, or the end of the input.
    case end
}

/// Reads what a person types, one line after the other.
protocol LineReader: Sendable {
    /// Whether the person edits the line, so that keys such as Tab have an effect.
    var canEdit: Bool { get }
    /// Reads the next line.
    /// - Parameter initial: the text that stands there to be changed.
    func line(prompt: String, initial: String) async -> LineInput
    /// Tells the text of the line after each key, where it is edited.
    func watch(_ typed: @escaping @Sendable (String) -> Void)
    /// Gives up the line that is being read.
    func cancel()
    /// Adds a text to the history.
    /// - Parameter isKept: whether the history on the disk gets it too.
    func remember(_ text: String, isKept: Bool)
}

extension LineReader {
    func watch(_ typed: @escaping @Sendable (String) -> Void) {}
}

/// Collects the lines of one message: a line goes on after a backslash at its end and within a fence of code.
struct MessageLines: Sendable, Hashable {
    private var lines: [String] = []
    private var fence: Substring?

    /// Whether a message has begun.
    var isOpen: Bool { !lines.isEmpty }

    /// Adds a line.
    /// - Returns: the message, once it is complete.
    mutating func append(_ text: String) -> String? {
        // A pasted text is one line of input with several lines of text.
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) { follow(line) }
        if fence == nil, text.hasSuffix("\\"), !text.hasSuffix("\\\\") {
            lines.append(String(text.dropLast()))
            return nil
        }
        lines.append(text)
        return fence == nil ? take() : nil
    }

    /// Ends the message as it is.
    mutating func take() -> String {
        defer { self = MessageLines() }
        return lines.joined(separator: "\n")
    }

    private mutating func follow(_ line: Substring) {
        let mark = line.drop { $0 == " " }
        if let open = fence {
            if mark.hasPrefix(open), mark.drop(while: { $0 == open.first }).allSatisfy(\.isWhitespace) { fence = nil }
        } else if mark.hasPrefix("```") {
            let ticks = mark.prefix { $0 == "`" }
            // Not `code` in a line of text.
            if !mark.dropFirst(ticks.count).contains("`") { fence = ticks }
        }
    }
}
