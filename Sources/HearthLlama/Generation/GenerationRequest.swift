#if Llama
    import HearthBase
    import HearthInference

    /// A generation asked for.
    struct GenerationRequest: Sendable {
        let role: EngineRole
        let messages: [ChatMessage]
        let options: GenerationOptions
        let signal: StopSignal
        /// Counts from the request, to tell how long the first token took.
        let stopwatch: Stopwatch
        let continuation: AsyncThrowingStream<GenerationEvent, any Error>.Continuation

        /// Requests are told apart by their signals.
        func isSame(as other: GenerationRequest) -> Bool { signal === other.signal }

        func yield(_ event: GenerationEvent) { continuation.yield(event) }
    }
#endif
