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
        let reply: GenerationReply
        /// Only computes what is certain of the prompt, and generates no token.
        var isPreparation = false

        /// Requests are told apart by their signals.
        func isSame(as other: GenerationRequest) -> Bool { signal === other.signal }

        func yield(_ event: GenerationEvent) { reply.deliver(event) }
    }
#endif
