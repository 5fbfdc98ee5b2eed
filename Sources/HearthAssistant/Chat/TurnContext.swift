import HearthBase
import HearthInference

/// The facts of a running turn.
struct TurnContext: Sendable {
    /// The message that is answered.
    let question: AssistantMessage
    let options: SendOptions
    /// Started with the request.
    let started: Stopwatch
    /// The messages of the last generation.
    var messages: [ChatMessage] = []
    /// The name of the model that answers.
    var model = ""
    var engine: (any InferenceEngine)?
    /// Whether the engine for pictures answers.
    var isSeen = false
    var generation = GenerationOptions()
    /// The actions that the model is told of.
    var tags: [ActionTag] = []
}

/// One generation of a turn: its events in order, its time limit, and its end.
final class TurnGeneration: Sendable {
    let events: AsyncStream<Turn.Event>
    private let continuation: AsyncStream<Turn.Event>.Continuation
    private let task: Task<Void, Never>
    private let timer: Task<Void, Never>

    /// The time after the limit in which an engine may end the answer with its facts.
    private static let grace = Duration.seconds(1)

    /// Begins at once.
    /// - Parameters:
    ///   - limit: the time from the stopwatch's start on.
    ///   - body: generates; it gets the rest of the time and tells events.
    init(
        limit: Duration, since watch: Stopwatch, time: TimeSource,
        _ body:
            @escaping @Sendable (Duration, @escaping @Sendable (Turn.Event) -> Void) async throws ->
            GenerationSummary
    ) {
        let (events, continuation) = AsyncStream<Turn.Event>.makeStream()
        self.events = events
        self.continuation = continuation
        let left = limit - watch.elapsed
        let task = Task {
            do {
                guard left > .zero else { throw LLMError(.timedOut, "no time is left") }
                continuation.yield(.ended(try await body(left) { continuation.yield($0) }))
            } catch is CancellationError {
                continuation.yield(.stopped)
            } catch let error as LLMError where error.code == .timedOut {
                continuation.yield(.timedOut)
            } catch {
                continuation.yield(.failed(FailureBody(turn: error)))
            }
            continuation.finish()
        }
        self.task = task
        timer = Task {
            do { try await time.sleep(for: left + Self.grace) } catch { return }
            continuation.yield(.timedOut)
            continuation.finish()
            task.cancel()
        }
    }

    /// Ends the generation for the user. What came before is reported first.
    func stop() {
        continuation.yield(.stopped)
        halt()
    }

    /// Ends the generation because of a failure. What came before is reported first.
    func fail(_ failure: FailureBody) {
        continuation.yield(.failed(failure))
        halt()
    }

    /// Ends the generation.
    func halt() {
        continuation.finish()
        task.cancel()
        timer.cancel()
    }
}
