import HearthBase
import HearthHTTP
import HearthInference

/// One answer of a cloud model: reads its body, and measures.
struct CloudPass: Sendable {
    private let settings: CloudSettings
    private let onEvent: @Sendable (GenerationEvent) -> Void
    private let started = ContinuousClock.now
    /// The longest time of the pass.
    let limit: Duration
    /// The conversation was too long once.
    var hasCut = false
    private var firstToken: Duration?

    init(settings: CloudSettings, limit: Duration, onEvent: @escaping @Sendable (GenerationEvent) -> Void) {
        self.settings = settings
        self.limit = limit
        self.onEvent = onEvent
    }

    private var elapsed: Duration { started.duration(to: .now) }
    var left: Duration { limit - elapsed }

    /// How long the end of a body may take after the model's last piece.
    private static let endTimeout = Duration.seconds(2)

    /// Reads a body to its end and reports its events.
    mutating func read(
        _ body: CloudBody, request: CloudRequest
    ) async throws -> GenerationSummary {
        var reader = CloudReader(settings, request: request)
        var hasTimedOut = false
        do {
            var chunk = body.first
            while let bytes = chunk, !reader.hasEnded {
                emit(try reader.append(bytes))
                // The fragments of a call are no events, and yet an answer.
                if reader.hasBegun { begin() }
                if reader.hasEnded { break }
                if reader.answer.reason == nil {
                    var rest = body.rest
                    chunk = try await rest.next()
                } else {
                    // Usage may follow the reason. A server that never ends the body must not hold up the answer.
                    chunk = try await Self.end(of: body)
                }
            }
            if !reader.hasEnded { emit(try reader.flush()) }
            emit(try reader.finish())
        } catch let error as HTTPError {
            if reader.answer.reason != nil {
                emit(reader.rest())
            } else if error.code == .timedOut, left <= .zero, reader.hasBegun {
                hasTimedOut = true
                emit(reader.rest())
            } else {
                throw CloudFailure(settings: settings).transport(error, hasBegun: reader.hasBegun)
            }
        }
        let reason = hasTimedOut ? .timedOut : reader.answer.reason ?? .endOfGeneration
        if reason.isComplete {
            for call in reader.answer.toolCalls { onEvent(.toolCall(call)) }
        }
        return summary(reason, reader.answer.usage)
    }

    /// The next bytes after the reason; `nil` if none come soon.
    private static func end(of body: CloudBody) async throws -> [UInt8]? {
        try await within(endTimeout) {
            var rest = body.rest
            return try await rest.next()
        } ?? nil
    }

    private mutating func emit(_ events: [GenerationEvent]) {
        for event in events {
            begin()
            onEvent(event)
        }
    }

    /// Notes the first token.
    private mutating func begin() {
        guard firstToken == nil else { return }
        firstToken = elapsed
        onEvent(.phase(.decode))
    }

    private func summary(_ reason: FinishReason, _ usage: TokenUsage) -> GenerationSummary {
        let total = elapsed
        let first = firstToken ?? total
        func rate(_ count: Int, _ time: Duration) -> Double {
            count > 0 && time > .zero ? Double(count) / time.seconds : 0
        }
        return GenerationSummary(
            reason: reason, usage: usage,
            timings: GenerationTimings(
                firstTokenSeconds: first.seconds,
                // The server does not tell the time it reads from the time it takes to send.
                prefillTokensPerSecond: rate(usage.promptTokens - usage.cachedTokens, first),
                decodeTokensPerSecond: rate(usage.generatedTokens - 1, total - first)))
    }
}
