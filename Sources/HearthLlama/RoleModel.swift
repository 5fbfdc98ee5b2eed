#if Llama
    import HearthInference

    /// The model of one role of an engine, as an engine by itself: what conversations about pictures talk to.
    ///
    /// ```swift
    /// try await engine.load(weights, role: .vision, projector: projector)
    /// let session = LanguageModelSession(model: engine.model(for: .vision))
    /// ```
    /// It is whichever model answers for the role when it is asked: another one once that is loaded, and for `vision` the one for
    /// text where that can see and no other is loaded.
    public struct RoleModel: InferenceEngine {
        /// Whose model it is.
        public let engine: LlamaActor
        public let role: EngineRole

        /// What is loaded for the role; answers at once, also while a generation runs.
        public var modelInformation: ModelInformation {
            get throws { try engine.modelInformation(role) }
        }

        /// The abilities of the role's model.
        public var capabilities: EngineCapabilities { get async throws { try await engine.capabilities(role) } }

        public func prepare(_ messages: [ChatMessage], options: GenerationOptions) async throws {
            _ = try await engine.generate(messages, options: options, role: role, isPreparation: true) { _ in }
        }

        public func generate(
            _ messages: [ChatMessage], options: GenerationOptions,
            onEvent: @escaping @Sendable (GenerationEvent) -> Void
        ) async throws -> GenerationSummary {
            try await engine.generate(messages, options: options, role: role, onEvent: onEvent)
        }

        public func tokenize(_ text: String, controlTokens: ControlTokenReading) async throws -> [TokenID] {
            try await engine.tokenize(text, controlTokens: controlTokens, role: role)
        }

        public func count(_ messages: [ChatMessage]) async throws -> Int {
            try await engine.count(messages, role: role)
        }

        /// Stops what the role's model is doing and gives its memory back; the other role's stays.
        public func unload() async { await engine.unload(role) }
    }

    extension LlamaActor {
        /// The model of a role, for whoever talks to one engine and knows no roles. The engine itself is the one of
        /// `EngineRole.text`.
        public nonisolated func model(for role: EngineRole) -> RoleModel { RoleModel(engine: self, role: role) }
    }
#endif
