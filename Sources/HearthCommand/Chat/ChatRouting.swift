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

    /// The routing of a conversation; `nil` if only local models can answer it.
    /// - Parameter find: finds the local model, when it is needed.
    /// - Throws: `RoutingError` for a request that insists on a cloud where none is set up.
    static func start(
        _ request: RouteRequest, _ configuration: Configuration, format: EventFormat, in hearth: Hearth,
        _ context: CommandContext, find: @escaping @Sendable () async throws -> ChatModel
    ) async throws -> ChatRouting? {
        let insists = request.preference == .cloud
        guard let cloud = try await context.cloud(configuration) else {
            if insists { throw RouteDecision(.local, .cloudMissing).refusal }
            return nil
        }
        let folder = try context.routingFolder
        let premium = cloud.premium(configuration, folder: folder, time: context.time)
        let policy = RoutePolicy(
            forceLocal: configuration.forceLocal, cloud: cloud.engine.address, premium.rights)
        let certain = Route(policy: policy).assess(request, at: .zero)
        if certain.isLasting, !insists {
            // Without a choice there is nothing to route; the reason is worth a line, since a cloud is set up.
            context.console.say("(local: \(certain.reasonText))")
            return nil
        }
        return await ChatRouting(
            request, configuration, cloud, premium, folder: folder, format: format, in: hearth, context, find: find)
    }

    private init(
        _ request: RouteRequest, _ configuration: Configuration, _ cloud: CloudChoice, _ premium: PremiumManager,
        folder: Path, format: EventFormat, in hearth: Hearth, _ context: CommandContext,
        find: @escaping @Sendable () async throws -> ChatModel
    ) async {
        let found = Locked<ChatModel?>(nil)
        let local = hearth.localEngines { _ in
            if let model = found.withLock({ $0 }) { return model.engine }
            let model = try await Self.loadable(find)
            found.withLock { $0 = model }
            return model.engine
        }
        orchestrator = await LLMOrchestrator(
            local: local, cloud: cloud.engine, premium: premium, forceLocal: configuration.forceLocal,
            network: context.network(), folder: request.isPrivate ? nil : folder, time: context.time)
        let console = context.console
        let answering = Locked(cloud.name)
        engine = orchestrator.conversation(request) { decision in
            let name = decision.source == .cloud ? cloud.name : found.withLock { $0 }?.name ?? "local"
            answering.withLock { $0 = name }
            console.showBar(nil)
            switch format {
            // A closed output fails at the answer's first piece too.
            case .json: try? console.emit(AnsweringEvent(decision, model: name))
            case .text: console.say(decision.badge(name))
            }
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
        do {
            try await conversation()
        } catch {
            await orchestrator.flush()
            throw error
        }
        await orchestrator.flush()
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
        return source == .cloud ? "(cloud: \(model))" : "(local: \(model); \(reasonText))"
    }

    /// Whether nothing but a change of the settings or of the request changes the decision.
    fileprivate var isLasting: Bool {
        switch reason {
        case .forceLocal, .privateConversation, .localPreferred, .modelNamed, .cloudMissing, .tier: true
        case .noCredits, .offline, .settling, .checking, .unhealthy, .failing, .paused, .cloud, .tookOver: false
        }
    }
}
