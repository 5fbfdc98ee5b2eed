#if Llama
import HearthBase
import HearthInference

/// A caller's request for a generation.
///
/// Unchecked: only the engine's thread may touch `prepared`, and `timer` after the request is queued.
final class GenerationRequest: @unchecked Sendable {
    let role: EngineRole
    let messages: [ChatMessage]
    let options: GenerationOptions
    let signal: StopSignal
    /// Starts with the request: the time-out and the time to the first token include the waiting.
    let stopwatch: Stopwatch
    let reply: GenerationReply
    /// Whether the request computes only the certain part of the prompt and generates no token.
    let isPreparation: Bool
    /// The generation with a finished prompt that waits for room.
    var prepared: Generation?
    /// The requests that began before this one although they arrived later.
    var overtaken = 0
    /// The prompt as far as it is made outside the engine's thread.
    private let making = Locked(Making.never)
    private var timer: Task<Void, Never>?

    /// The state of a prompt.
    enum Making: Sendable {
        /// No thread has begun to make the prompt.
        case never
        /// Another thread makes the prompt.
        case underWay
        case made(Result<MadePrompt, any Error>)
    }

    init(
        role: EngineRole, messages: [ChatMessage], options: GenerationOptions, signal: StopSignal = StopSignal(),
        stopwatch: Stopwatch, reply: GenerationReply, isPreparation: Bool = false
    ) {
        self.role = role
        self.messages = messages
        self.options = options
        self.signal = signal
        self.stopwatch = stopwatch
        self.reply = reply
        self.isPreparation = isPreparation
    }

    /// The bytes of the texts of messages and tools, for ``TextLanes``. A picture takes as long as a long text.
    var textBytes: Int {
        messages.reduce(messages.textBytes + options.tools.textBytes) { $0 + $1.images.count << 16 }
    }

    /// The state of the prompt; a made prompt is given away.
    func takeMaking() -> Making {
        making.withLock { making in
            guard case .made = making else { return making }
            defer { making = .never }
            return making
        }
    }

    func setMaking(_ state: Making) { making.withLock { $0 = state } }

    /// Starts the time-out.
    func startTimer(_ time: TimeSource, onExpiry: @escaping @Sendable () -> Void) {
        timer = signal.expiring(after: options.timeout, time, onExpiry)
    }

    /// Ends the time-out and drops the generation.
    func close() {
        timer?.cancel()
        prepared = nil
    }
}
#endif
