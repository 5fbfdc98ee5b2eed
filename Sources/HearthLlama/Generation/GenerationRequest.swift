#if Llama
    import HearthBase
    import HearthInference

    /// A generation that was asked for.
    ///
    /// Unchecked: only the engine's thread may touch `prepared`, and `timer` after the request is queued.
    final class GenerationRequest: @unchecked Sendable {
        let role: EngineRole
        let messages: [ChatMessage]
        let options: GenerationOptions
        let signal: StopSignal
        /// Counts from the request: waiting counts for the time-out and for the time of the first token.
        let stopwatch: Stopwatch
        let reply: GenerationReply
        /// Only the certain part of the prompt is computed, and no token generated.
        let isPreparation: Bool
        /// The generation whose prompt is made and that waits for room.
        var prepared: Generation?
        private var timer: Task<Void, Never>?

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
