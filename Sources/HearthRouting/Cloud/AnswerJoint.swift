import HearthBase
import HearthInference

/// Joins the rest of an answer to its beginning. A cloud model is asked for the rest as a new message: it may repeat the
/// last words, and its first word has no white space before it.
struct AnswerJoint: Sendable {
    /// Asks for the rest of the last answer.
    static let request = """
        Your last answer was cut off. Continue it exactly where it stopped: begin with its last word, which may be \
        incomplete, and write on. Repeat nothing else, and do not comment on this.
        """

    /// The end of the answer so far, without white space at its end.
    private let end: Substring
    private let endsInSpace: Bool
    private var held = ""
    private var isJoined = false

    /// The characters of the beginning in which a repetition is looked for.
    private static let reach = 400
    /// The fewest characters before a joint that is no repetition.
    private static let least = 24

    /// - Parameter written: the answer so far.
    init(after written: String) {
        let trimmed = written.reversed().drop { $0.isWhitespace }.count
        endsInSpace = trimmed < written.count
        end = written.prefix(trimmed).suffix(Self.reach)
    }

    /// Adds a piece of the rest.
    /// - Returns: the text that is certain.
    mutating func append(_ piece: String) -> String {
        if isJoined { return piece }
        held += piece
        let rest = held.drop { $0.isWhitespace }
        guard rest.count >= Self.least, !end.contains(rest) else { return "" }
        return join()
    }

    /// Ends the rest.
    /// - Returns: the text that is left.
    mutating func finish() -> String { isJoined ? "" : join() }

    private mutating func join() -> String {
        isJoined = true
        defer { held = "" }
        let rest = held.drop { $0.isWhitespace }
        guard !end.isEmpty, let first = rest.first else { return held }
        if let repeated = repeated(in: rest) {
            let more = rest.dropFirst(repeated)
            // The white space after the repeated words is there already.
            return endsInSpace ? String(more.drop { $0.isWhitespace }) : String(more)
        }
        if endsInSpace { return String(rest) }
        if rest.count < held.count { return held }
        let isWord = first.isLetter || first.isNumber
        return isWord && end.last.map { $0.isLetter || $0.isNumber || ".,;:!?".contains($0) } == true
            ? " " + rest : String(rest)
    }

    /// The characters at the beginning of the rest that the end has already.
    private func repeated(in rest: Substring) -> Int? {
        var count = min(rest.count, end.count)
        while count > 0 {
            let start = end.index(end.endIndex, offsetBy: -count)
            let isWordStart = start == end.startIndex || end[end.index(before: start)].isWhitespace
            if isWordStart, end[start...] == rest.prefix(count) { return count }
            count -= 1
        }
        return nil
    }
}

extension [ChatMessage] {
    /// The conversation that asks for the rest of its last answer.
    private var askingForRest: [ChatMessage] {
        self + [ChatMessage(.user, AnswerJoint.request, id: (last?.id ?? "") + "-rest")]
    }

    /// Answers with a model that begins a new message each time: if the last message is to be continued, the model is asked
    /// for its rest.
    package func continuing(
        _ options: GenerationOptions, _ onEvent: @escaping @Sendable (GenerationEvent) -> Void,
        _ answer: ([ChatMessage], @escaping @Sendable (GenerationEvent) -> Void) async throws -> GenerationSummary
    ) async throws -> GenerationSummary {
        guard options.continuesLastMessage, let last, last.role == .assistant, !last.content.isEmpty else {
            return try await answer(self, onEvent)
        }
        let joint = Locked(AnswerJoint(after: last.content))
        let summary = try await answer(askingForRest) { event in
            guard case .text(let piece) = event else { return onEvent(event) }
            let text = joint.withLock { $0.append(piece) }
            if !text.isEmpty { onEvent(.text(text)) }
        }
        let rest = joint.withLock { $0.finish() }
        if !rest.isEmpty { onEvent(.text(rest)) }
        return summary
    }
}
