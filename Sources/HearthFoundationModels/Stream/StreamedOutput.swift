import HearthBase
import HearthInference

/// Turns the pieces of text of another library's model into the events and facts of an answer.
final class StreamedOutput: Sendable {
    private struct State {
        var reader: AnswerReader
        var firstText: Double?
        var hasCalls = false
        var isEnded = false
    }

    private let state: Locked<State>
    private let stopStrings: [String]
    private let watch: Stopwatch
    private let onEvent: @Sendable (GenerationEvent) -> Void

    /// - Parameters:
    ///   - stopStrings: those of the request, of which the facts tell the one that ended the answer.
    ///   - watch: started with the request.
    init(
        _ reader: AnswerReader, stopStrings: [String], watch: Stopwatch,
        _ onEvent: @escaping @Sendable (GenerationEvent) -> Void
    ) {
        state = Locked(State(reader: reader))
        self.stopStrings = stopStrings
        self.watch = watch
        self.onEvent = onEvent
    }

    /// Adds the next text, in whole characters.
    /// - Returns: whether the answer goes on.
    func append(_ text: String) -> Bool {
        guard !text.isEmpty else { return true }
        let now = watch.elapsed.seconds
        let (events, goesOn) = state.withLock { state -> ([GenerationEvent], Bool) in
            guard !state.isEnded else { return ([], false) }
            if state.firstText == nil { state.firstText = now }
            var events: [GenerationEvent] = []
            Array(text.utf8).withUnsafeBytes { bytes in state.reader.append(bytes) { events.append($0) } }
            state.isEnded = state.reader.matchedStop != nil
            return (events, !state.isEnded)
        }
        for event in events { onEvent(event) }
        return goesOn
    }

    /// Adds a whole answer that is not searched for stop strings.
    func appendWhole(_ text: String) {
        state.withLock { $0.firstText = $0.firstText ?? watch.elapsed.seconds }
        if !text.isEmpty { onEvent(.text(text)) }
    }

    /// Adds a call that the library has read.
    func append(_ call: ToolCall) {
        state.withLock { $0.hasCalls = true }
        onEvent(.toolCall(call))
    }

    /// Ends the answer.
    /// - Parameter reason: the reason of the end; `nil` if the model or a stop string ended it.
    /// - Returns: the facts; a count that is unknown is 0.
    func finish(_ reason: FinishReason?, _ usage: TokenUsage? = nil) -> GenerationSummary {
        let total = watch.elapsed.seconds
        let (events, stop, first, hasCalls) = state.withLock { state in
            var events: [GenerationEvent] = []
            if !state.isEnded { state.reader.finish { events.append($0) } }
            state.isEnded = true
            return (events, state.reader.matchedStop, state.firstText ?? total, state.hasCalls)
        }
        for event in events { onEvent(event) }
        let usage = usage ?? TokenUsage(promptTokens: 0, cachedTokens: 0, generatedTokens: 0)
        let asked = stop.flatMap { stopStrings.contains($0) ? $0 : nil }
        let rate = total > first ? Double(max(0, usage.generatedTokens - 1)) / (total - first) : 0
        var summary = GenerationSummary(
            reason: asked != nil ? .stopString : reason ?? (hasCalls ? .toolCalls : .endOfGeneration), usage: usage,
            timings: GenerationTimings(
                firstTokenSeconds: first, prefillTokensPerSecond: 0, decodeTokensPerSecond: rate))
        summary.stopString = asked
        return summary
    }
}
