import Foundation
import Hearth
import HearthBase
import HearthHTTP
import HearthInference
import HearthRouting
import HearthStore

/// The engine of a conversation that the cloud may answer, and a line before each answer that says who does.
struct ChatRouting: Sendable {
    /// The engine for the conversation's session.
    let engine: RoutedEngine
    /// Prints answers with the name of the model that gives them.
    let printer: AnswerPrinter
    private let orchestrator: LLMOrchestrator

    /// Who may answer a conversation.
    enum Choice {
        /// Local models only; the decision is worth a line where a cloud is set up.
        case local(RouteDecision?)
        case routed(ChatRouting)
    }

    /// Decides who may answer a conversation. The key of the cloud is only needed where the cloud may answer.
    /// - Parameters:
    ///   - name: a name that may be that of a model of an upstream, or of an alias.
    ///   - find: finds the local model, when it is needed.
    /// - Throws: `RoutingError` for a request that insists on a cloud where none is set up; `LLMError` with
    ///   `cloud-key-unusable`.
    static func choose(
        _ request: RouteRequest, named name: String?, _ configuration: Configuration, format: EventFormat,
        in hearth: Hearth, _ context: CommandContext, find: @escaping @Sendable () async throws -> ChatModel
    ) async throws -> Choice {
        if let name, let routing = await named(name, request, configuration, format: format, in: hearth, context) {
            return .routed(routing)
        }
        let insists = request.preference == .cloud
        func certain(_ policy: RoutePolicy) -> RouteDecision? {
            let decision = Route(policy: policy).assess(request, at: .zero)
            return decision.reason.isLasting && !insists ? decision : nil
        }
        let cloud: CloudModel?
        do {
            cloud = try await hearth.cloud(configuration)
        } catch {
            guard let decision = certain(.anyCloud(forceLocal: configuration.forceLocal)) else { throw error }
            return .local(decision)
        }
        guard let cloud else {
            if insists { throw RouteDecision(.local, .cloudMissing).refusal }
            return .local(nil)
        }
        let premium = hearth.premium(configuration, for: cloud)
        let policy = RoutePolicy(
            forceLocal: configuration.forceLocal, cloud: cloud.engine.address, premium.rights)
        if let decision = certain(policy) { return .local(decision) }
        return await .routed(
            ChatRouting(
                request, configuration, cloud, premium, format: format, in: hearth, context, find: find)
        )
    }

    /// The conversation with a model of an upstream or with an alias; `nil` if the request names neither.
    private static func named(
        _ model: String, _ request: RouteRequest, _ configuration: Configuration, format: EventFormat,
        in hearth: Hearth, _ context: CommandContext
    ) async -> ChatRouting? {
        var request = request
        request.model = model
        let local = hearth.localEngines()
        guard await hearth.namedEngine(model, configuration, local: local) != nil else { return nil }
        let orchestrator = await hearth.orchestrator(
            configuration, cloud: nil, premium: hearth.premium(configuration, for: nil), local: local, isKept: false)
        return ChatRouting(orchestrator, request, model, format: format, context.console)
    }

    private init(
        _ orchestrator: LLMOrchestrator, _ request: RouteRequest, _ name: String, format: EventFormat,
        _ console: Console
    ) {
        self.orchestrator = orchestrator
        engine = orchestrator.conversation(request) { console.announce($0, model: name, format: format) }
        printer = AnswerPrinter(console: console, format: format, model: name, answering: Locked(name))
    }

    private init(
        _ request: RouteRequest, _ configuration: Configuration, _ cloud: CloudModel, _ premium: PremiumManager,
        format: EventFormat, in hearth: Hearth, _ context: CommandContext,
        find: @escaping @Sendable () async throws -> ChatModel
    ) async {
        let found = Locked<ChatModel?>(nil)
        let local = hearth.localEngines { _ in
            if let model = found.withLock({ $0 }) { return model.engine }
            let model = try await Self.loadable(find)
            found.withLock { $0 = model }
            return model.engine
        }
        orchestrator = await hearth.orchestrator(
            configuration, cloud: cloud, premium: premium, local: local, isKept: !request.isPrivate)
        let console = context.console
        let answering = Locked(cloud.name)
        engine = orchestrator.conversation(request) { decision in
            let name = decision.source == .cloud ? cloud.name : found.withLock { $0 }?.name ?? "local"
            answering.withLock { $0 = name }
            console.announce(decision, model: name, format: format)
        }
        printer = AnswerPrinter(console: console, format: format, model: cloud.name, answering: answering)
    }

    /// Finds the local model.
    /// - Throws: `LLMError` with `model-not-loaded` if there is none.
    private static func loadable(_ find: () async throws -> ChatModel) async throws -> ChatModel {
        do {
            return try await find()
        } catch let error as CommandError where error.code == .noModel || error.code == .severalModels {
            throw LLMError(.modelNotLoaded, error.message, context: error.context, underlying: error)
        } catch let error as StoreError where error.code == .notInstalled {
            throw LLMError(.modelNotLoaded, error.message, context: error.context, underlying: error)
        }
    }

    /// Performs the conversation; afterwards, the records of its decisions are on the disk.
    func perform(_ conversation: () async throws -> Void) async throws {
        try await withEnding({ await orchestrator.flush() }, conversation)
    }
}

extension Console {
    /// Says which model gives the next answer.
    func announce(_ decision: RouteDecision, model: String, format: EventFormat) {
        showBar(nil)
        switch format {
        // A closed output fails at the answer's first piece too.
        case .json: try? emit(AnsweringEvent(decision, model: model))
        case .text: say(decision.badge(model))
        }
    }
}

/// The engine of the next answer, as an event.
private struct AnsweringEvent: Encodable {
    var event = "route"
    let source: RouteSource
    let reason: String
    let text: String
    let model: String

    init(_ decision: RouteDecision, model: String) {
        source = decision.source
        (reason, text) = (decision.reasonCode, decision.reasonText)
        self.model = model
    }
}

extension RouteDecision {
    /// The line before an answer; says why only where a person who set up a cloud gets a local answer.
    fileprivate func badge(_ name: String) -> String {
        let model = name.shownOnTerminal
        guard source == .local else { return "(cloud: \(model))" }
        return "(local: \(model); \(reasonText)" + (reason.needsRepair ? "; what to do: hearth route)" : ")")
    }
}
