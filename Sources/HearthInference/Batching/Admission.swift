import HearthBase

/// Decides which requests an engine starts that answers several together.
///
/// Requests start in the order of their arrival and none overtakes, so that none waits for ever. One begins when a
/// sequence is free and the context has room for its prompt and its longest answer beside those that run: an answer that
/// has begun never runs out of room because of another. Alone it always fits.
package struct Admission: Sendable, Hashable {
    /// The requests answered together.
    package let sequences: Int
    /// The tokens of the context that all of them share.
    package let cells: Int
    /// The requests that may wait beside those that are answered.
    package let queueLimit: Int

    /// The requests answered together by a model that keeps a state for each token, by default: one
    /// alone then pays no more than the logits of the others' next tokens, 4 bytes for each word of the vocabulary.
    package static let usualSequences = 8

    /// The given limits.
    package init(sequences: Int, cells: Int, queueLimit: Int = 64) {
        self.sequences = max(1, sequences)
        self.cells = max(1, cells)
        self.queueLimit = max(0, queueLimit)
    }

    /// The tokens of the context a request may come to need.
    /// - Parameters:
    ///   - prompt: its tokens.
    ///   - newTokens: the most its answer may have.
    ///   - closing: the tokens that end its thinking, which count as new but may be written beyond the limit.
    package func need(prompt: Int, newTokens: Int, closing: Int = 0) -> Int {
        let (longest, overflows) = max(0, newTokens, closing + 1).addingReportingOverflow(prompt)
        return overflows ? cells : min(cells, longest)
    }

    /// Whether a request may begin now.
    /// - Parameters:
    ///   - need: see ``need(prompt:newTokens:closing:)``.
    ///   - running: what those need that are answered.
    package func admits(_ need: Int, beside running: [Int]) -> Bool {
        running.isEmpty || (running.count < sequences && running.reduce(need, +) <= cells)
    }

    /// Why one more request is not taken; `nil` if it is.
    /// - Parameters:
    ///   - waiting: the requests that have not begun.
    ///   - running: the requests that are answered.
    package func refusal(waiting: Int, running: Int) -> LLMError? {
        // Requests that start at the engine's next step do not count as waiting.
        let queued = waiting - max(0, sequences - running)
        guard queued >= queueLimit else { return nil }
        return LLMError(
            .busy, "the engine answers \(running) requests and \(waiting) wait, which is as many as it takes",
            context: ErrorContext(
                expected: "at most \(queueLimit) waiting requests", found: "\(waiting) waiting requests",
                remedy: "Try again when some of them are answered."),
            disposition: .tryLater)
    }
}
