import HearthBase
import HearthInference

/// Delivers the events and the end of one request to its caller.
///
/// The engine's thread delivers events. Any thread may end the reply, such as that of a cancelled caller. After the
/// end is reported, no event is delivered.
final class Reply<Value: Sendable>: Sendable {
    typealias End = Result<Value, any Error>

    private struct State {
        var end: End?
        var report: (@Sendable (End) -> Void)?
        var isDelivering = false

        /// The report and the end, once both are known and no event is being delivered.
        mutating func takeDue() -> (report: @Sendable (End) -> Void, end: End)? {
            guard !isDelivering, let end, let report = report.take() else { return nil }
            return (report, end)
        }
    }

    private let state = Locked(State())
    private let onEvent: @Sendable (GenerationEvent) -> Void

    init(_ onEvent: @escaping @Sendable (GenerationEvent) -> Void = { _ in }) { self.onEvent = onEvent }

    /// Delivers an event. Only the engine's thread calls it.
    func deliver(_ event: GenerationEvent) {
        let isOpen = state.withLock { state in
            state.isDelivering = state.end == nil
            return state.isDelivering
        }
        guard isOpen else { return }
        onEvent(event)
        change { $0.isDelivering = false }
    }

    /// Ends the reply; only the first end counts.
    func finish(_ end: End) { change { $0.end = $0.end ?? end } }

    /// Sets the function that receives the end. It is called once.
    func onEnd(_ report: @escaping @Sendable (End) -> Void) { change { $0.report = report } }

    /// Waits for the value of the reply after `begin` has queued the request. A cancelled caller stops waiting at
    /// once.
    func value(cancelling signal: StopSignal, _ begin: () -> Void) async throws -> Value {
        try Task.checkCancellation()
        begin()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                onEnd { continuation.resume(with: $0) }
            }
        } onCancel: {
            signal.cancel()
            finish(.failure(CancellationError()))
        }
    }

    private func change(_ body: (inout State) -> Void) {
        let due = state.withLock { state in
            body(&state)
            return state.takeDue()
        }
        if let due { due.report(due.end) }
    }
}

typealias GenerationReply = Reply<GenerationSummary>
