import Foundation
import HearthBase
import HearthHTTP
import HearthInference

/// One model of an upstream as an engine.
///
/// A conversation that is too long for the model is refused, and never shortened if the request forbids it. The answer has to
/// begin within the upstream's time-out, however often the server says that it still works.
package struct UpstreamEngine: RemoteEngine {
    let server: UpstreamServer
    /// The server's name of the model.
    let model: String
    package let contextLength: Int?
    /// The sections of a conversation that are sent.
    private var shares = CloudShares.all

    init(server: UpstreamServer, model: String, contextLength: Int?) {
        (self.server, self.model, self.contextLength) = (server, model, contextLength)
    }

    /// The engine that sends these sections alone.
    package func sharing(_ shares: CloudShares) -> UpstreamEngine {
        var engine = self
        engine.shares = shares
        return engine
    }

    /// The name under which the model is served.
    package var name: String { "\(server.name)/\(model)" }

    /// The upstream's name.
    package var upstream: String { server.name }

    package var address: URL { server.settings.url }

    package var modelInformation: ModelInformation {
        get async throws {
            let settings = try facts
            var information = ModelInformation(description: name, contextLength: settings.contextLength)
            information.isRemote = true
            information.parallelAnswers = server.settings.slots
            return information
        }
    }

    package var capabilities: EngineCapabilities {
        get async throws {
            var all = try facts.dialect.capabilities
            if server.settings.kind == .openai { all.insert(.embeddings) }
            return shares.sections.contains(.pictures) ? all : all.subtracting(.vision)
        }
    }

    package var tokens: (any TokenReader)? { UpstreamTokens(server: server, model: model, shares: shares) }

    private var facts: CloudSettings {
        get throws { try server.settings.cloud(model, key: nil, contextLength: contextLength) }
    }

    package func checkHealth() async throws {
        try await server.cloud(model, contextLength: contextLength).checkHealth()
    }

    package func generate(
        _ messages: [ChatMessage], options: GenerationOptions, onEvent: @escaping @Sendable (GenerationEvent) -> Void
    ) async throws -> GenerationSummary {
        try await generate(messages, options: options, hasOthers: false, onEvent: onEvent)
    }

    /// - Parameter hasOthers: whether another model answers if this one is not asked.
    func generate(
        _ messages: [ChatMessage], options: GenerationOptions, hasOthers: Bool,
        onEvent: @escaping @Sendable (GenerationEvent) -> Void
    ) async throws -> GenerationSummary {
        try await server.perform(model, hasOthers: hasOthers, limit: options.timeout) { left, answers in
            let engine = try await server.cloud(model, contextLength: contextLength, shares: shares)
            var rest = options
            rest.timeout = left
            let hasBegun = Locked(false)
            let limit = server.settings.timeout
            return try await withThrowingTaskGroup(of: GenerationSummary?.self) { group in
                group.addTask { [rest] in
                    try await engine.generate(messages, options: rest) { event in
                        if event.isAnswer,
                            !hasBegun.withLock({ was in
                                defer { was = true }
                                return was
                            })
                        {
                            answers()
                        }
                        onEvent(event)
                    }
                }
                group.addTask { [time = server.time] in
                    try await time.sleep(for: limit)
                    guard hasBegun.withLock({ $0 }) else {
                        throw CloudFailure(settings: engine.settings).timedOut(after: limit)
                    }
                    return nil
                }
                defer { group.cancelAll() }
                while let result = try await group.next() { if let result { return result } }
                throw CancellationError()
            }
        }
    }
}

extension GenerationEvent {
    /// Whether the server has begun to answer.
    var isAnswer: Bool {
        switch self {
        case .phase(.decode), .thinking, .text, .toolCall: true
        case .phase, .truncated, .picturesLeftOut, .token, .toolResult, .finish: false
        }
    }
}
