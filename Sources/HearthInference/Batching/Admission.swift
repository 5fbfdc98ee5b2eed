import HearthBase

/// Decides which requests an engine starts that answers several together.
///
/// Requests start in the order of their arrival, so that each one starts at some time; only while one lacks room, some
/// smaller ones may start before it. A request begins when a sequence
/// is free and the context has room for its prompt and its longest answer beside the running requests. So a running
/// answer never runs out of room because of another. A request alone always fits.
package struct Admission: Sendable, Hashable {
    /// The requests answered together.
    package let sequences: Int
    /// The tokens of the context, shared by all requests.
    package let cells: Int
    /// The most waiting requests.
    package let queueLimit: Int

    /// The default number of requests answered together by a model that keeps a state for each token. A single request
    /// then pays only for the logits of the others' next tokens, 4 bytes for each word of the vocabulary.
    package static let defaultSequences = 8

    /// The most requests that begin before an earlier one which has no room yet.
    package static let maximumOvertakings = 8

    /// Makes an admission with the given limits.
    package init(sequences: Int, cells: Int, queueLimit: Int = 64) {
        self.sequences = max(1, sequences)
        self.cells = max(1, cells)
        self.queueLimit = max(0, queueLimit)
    }

    /// The most tokens of the context that a request can use.
    /// - Parameters:
    ///   - prompt: the tokens of the prompt.
    ///   - newTokens: the most tokens of the answer.
    ///   - closing: the tokens that end the thinking, which count as new but may be written beyond the limit.
    package func need(prompt: Int, newTokens: Int, closing: Int = 0) -> Int {
        let (longest, overflows) = max(0, newTokens, closing + 1).addingReportingOverflow(prompt)
        return overflows ? cells : min(cells, longest)
    }

    /// Whether a request may begin now.
    /// - Parameters:
    ///   - need: see ``need(prompt:newTokens:closing:)``.
    ///   - running: the needs of the running requests.
    package func admits(_ need: Int, beside running: [Int]) -> Bool {
        running.isEmpty || (running.count < sequences && running.reduce(need, +) <= cells)
    }

    /// The reason to refuse one more request; `nil` to accept it.
    /// - Parameters:
    ///   - waiting: the requests that have not begun.
    ///   - running: the running requests.
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
