import HearthBase
import HearthInference

/// A name for several models: each stands in for those before it that fail before their first token.
///
/// A model of an upstream is passed over while its server fails or wants a pause. If all are, each is asked in the end.
package struct AliasEngine: SendingEngine {
    /// A model of an alias.
    package struct Member: Sendable {
        package let name: String
        /// Whether the model is on a server.
        package let isRemote: Bool
        /// Finds the engine, which may load.
        let find: @Sendable () async throws -> any InferenceEngine
        /// The longest answer where none is set, from the context window; `nil` leaves it to the model.
        let limit: (@Sendable (_ window: Int) -> Int)?
        /// Called when the model has answered.
        let answered: @Sendable () async -> Void

        package init(
            _ name: String, isRemote: Bool, limit: (@Sendable (Int) -> Int)? = nil,
            find: @escaping @Sendable () async throws -> any InferenceEngine,
            answered: @escaping @Sendable () async -> Void = {}
        ) {
            (self.name, self.isRemote, self.find, self.limit) = (name, isRemote, find, limit)
            self.answered = answered
        }
    }

    package let name: String
    package let members: [Member]
    private let time: TimeSource

    package init(_ name: String, _ members: [Member], time: TimeSource = .system) {
        (self.name, self.members, self.time) = (name, members, time)
    }

    package var onThisDevice: any InferenceEngine {
        let local = members.filter { !$0.isRemote }
        return local.isEmpty ? WithheldEngine() : AliasEngine(name, local, time: time)
    }

    /// The facts of the first model that can be found.
    package var modelInformation: ModelInformation {
        get async throws {
            var information = try await first { try await $0.modelInformation }
            information.description = name
            information.isRemote = true
            return information
        }
    }

    /// What any of the models on servers can; without one, what the first model can. No local model is loaded for the
    /// question if another answers it.
    package var capabilities: EngineCapabilities {
        get async throws {
            var all = try await first { try await $0.capabilities }
            for member in members where member.isRemote {
                // A server that is not served any more can nothing.
                if let engine = try? await member.find(), let more = try? await engine.capabilities {
                    all.formUnion(more)
                }
            }
            return all
        }
    }

    /// The tokens of the first model that can be found.
    package var tokens: (any TokenReader)? { AliasTokens(alias: self) }

    fileprivate func first<Value: Sendable>(
        _ ask: (any InferenceEngine) async throws -> Value
    ) async throws -> Value {
        var failure: (any Error)?
        for member in members {
            do {
                return try await ask(try await member.find())
            } catch {
                if error is CancellationError { throw error }
                failure = failure ?? error
            }
        }
        throw failure ?? LLMError(.modelNotLoaded, "the alias \(name) names no model", disposition: .usage)
    }

    // MARK: Answers

    package func generate(
        _ messages: [ChatMessage], options: GenerationOptions, onEvent: @escaping @Sendable (GenerationEvent) -> Void
    ) async throws -> GenerationSummary {
        var attempt = Attempt(
            alias: name, first: members.first?.name, messages: messages, options: options, began: time.stopwatch(),
            onEvent: onEvent)
        var withheld: [Member] = []
        for (index, member) in members.enumerated() {
            let hasOthers = index + 1 < members.count || !withheld.isEmpty
            do {
                if let summary = try await attempt.ask(member, hasOthers: hasOthers) { return summary }
            } catch is UpstreamWithheld {
                withheld.append(member)
            }
        }
        for member in withheld {
            if let summary = try await attempt.ask(member, hasOthers: false) { return summary }
        }
        throw attempt.failure
    }

    /// One request, and the models that have failed at it.
    private struct Attempt {
        let alias: String
        /// The name of the first model.
        let first: String?
        let messages: [ChatMessage]
        let options: GenerationOptions
        let began: Stopwatch
        let onEvent: @Sendable (GenerationEvent) -> Void
        private(set) var failures: [(model: String, error: any Error)] = []

        /// The answer of a model; `nil` if it failed before its first token.
        /// - Throws: ``UpstreamWithheld``; the error of an answer that has begun; `CancellationError`.
        mutating func ask(_ member: Member, hasOthers: Bool) async throws -> GenerationSummary? {
            let gate = AnswerGate(onFirst: {}, onEvent: onEvent)
            do {
                let engine = try await member.find()
                let options = try await fitted(to: engine, member)
                let trace = AnswerTrace.current
                let pass: @Sendable (GenerationEvent) -> Void = { event in
                    if event.isAnswer { trace?.answers(member.name) }
                    gate.pass(event)
                }
                let summary =
                    if let upstream = engine as? UpstreamEngine {
                        try await upstream.generate(messages, options: options, hasOthers: hasOthers, onEvent: pass)
                    } else {
                        try await engine.generate(messages, options: options, onEvent: pass)
                    }
                trace?.answers(member.name)
                await member.answered()
                return summary
            } catch let error as UpstreamWithheld {
                note(member, error.error)
                throw error
            } catch {
                if gate.close().isVisible || error is CancellationError || Task.isCancelled { throw error }
                note(member, error)
                return nil
            }
        }

        private mutating func note(_ member: Member, _ error: any Error) {
            failures.removeAll { $0.model == member.name }
            failures.append((member.name, error))
            AnswerTrace.current?.pass(member.name, code: (error as? any HearthFailure)?.codeText ?? "failed")
            Log.write(.info, "upstream", "\(alias): \(member.name) does not answer: \(error)")
        }

        /// The options for a model, which has the rest of the time.
        /// - Throws: ``LLMError`` with `engine-missing` for a request that the model cannot answer.
        private func fitted(to engine: any InferenceEngine, _ member: Member) async throws -> GenerationOptions {
            var options = options
            options.timeout -= began.elapsed
            guard options.timeout > .zero else {
                throw LLMError(.timedOut, "no model of \(alias) answered in time", disposition: .tryLater)
            }
            if let lack = try await engine.capabilities.lack(messages, options) {
                throw LLMError(.engineMissing, "\(member.name) \(lack)", disposition: .usage)
            }
            // Tokens were counted by the first model.
            if options.promptTokens != nil || !options.sampling.logitBias.isEmpty, member.name != first {
                throw LLMError(.engineMissing, "\(member.name) has other tokens", disposition: .usage)
            }
            if options.maximumNewTokens == GenerationOptions.windowLength, let limit = member.limit {
                options.maximumNewTokens = limit(try await engine.modelInformation.contextLength)
            }
            return options
        }

        /// The error after all models have failed: one that the caller can correct, else the shortest pause, else the first.
        var failure: any Error {
            let known = failures.compactMap { $0.error as? LLMError }
            let pauses = known.filter { RouteFailure($0).kind == .rateLimited }
                .sorted { ($0.context.retryAfterSeconds ?? 1) < ($1.context.retryAfterSeconds ?? 1) }
            guard
                let chosen = known.first(where: { RouteFailure($0).kind == .request }) ?? pauses.first ?? known.first,
                failures.count > 1
            else {
                return failures.first?.error
                    ?? LLMError(.modelNotLoaded, "the alias \(alias) names no model", disposition: .usage)
            }
            let reasons = failures.map { model, error in
                "\(model): \((error as? any HearthFailure)?.message ?? "it failed")"
            }
            return LLMError(
                chosen.code, "no model of \(alias) answered. \(reasons.joined(separator: "; "))",
                context: chosen.context,
                disposition: chosen.disposition, underlying: chosen)
        }
    }
}

/// The tokens of the first model of an alias that can be found.
private struct AliasTokens: ForwardingTokenReader {
    let alias: AliasEngine

    func reading<Value: Sendable>(_ ask: (any TokenReader) async throws -> Value) async throws -> Value {
        try await alias.first { try await ask($0.reader) }
    }
}

extension EngineCapabilities {
    /// What an engine with these abilities lacks for a request, as the end of a sentence; `nil` if it lacks nothing.
    fileprivate func lack(_ messages: [ChatMessage], _ options: GenerationOptions) -> String? {
        if !contains(.vision), messages.contains(where: { !$0.images.isEmpty }) { return "reads no pictures" }
        if !contains(.tools), !options.tools.isEmpty { return "calls no tools" }
        if !contains(.rawPrompt), !options.usesChatTemplate { return "takes no raw prompt" }
        for block in options.constraint?.blocks ?? [] {
            switch block.shape {
            case .gbnf where !contains(.grammar): return "takes no grammar"
            case .jsonSchema where !contains(.schema): return "takes no schema"
            default: break
            }
        }
        return nil
    }
}
