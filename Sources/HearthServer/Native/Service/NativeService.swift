import Foundation
import Hearth
import HearthAssistant
import HearthBase
import HearthCatalog
import HearthDatabase
import HearthInference
import HearthRouting
import HearthStore

/// The native API of the resident process: the view models of the library and of the assistant behind routes and events.
package final class NativeService: Sendable {
    /// The parts under one set of settings.
    struct Current: Sendable {
        var models: OpenedModels
        var configuration: Configuration
        var cloud: NativeCloud
        var orchestrator: LLMOrchestrator

        var hearth: Hearth { models.hearth }
    }

    package let log = EventLog()
    let parts: NativeParts
    let records: AssistantHome
    let library: LibraryDesk
    let chats: ChatDesk
    let approvals = ApprovalDesk()
    private let current: Locked<Current>
    private let router: Locked<NativeRouter?> = Locked(nil)
    private let work = Locked<[Task<Void, Never>]>([])
    private let changes = TurnQueue()
    /// Whether the sources were asked for their models.
    let asked = Locked(false)

    /// Opens the user's records.
    /// - Throws: `DatabaseError`, `FileError`, `ConfigurationError`.
    package init(_ models: OpenedModels, parts: NativeParts) async throws {
        self.parts = parts
        let hearth = models.hearth
        records = try await AssistantHome(path: hearth.home, time: parts.time)
        library = await LibraryDesk(hearth, log: log, time: parts.time)
        let made = await Self.current(models, hearth.configuration, library, parts)
        current = Locked(made)
        let assistant = try await Self.assistant(made, records, library, approvals, parts)
        let (log, library) = (log, library)
        chats = ChatDesk(
            assistant, log: log, approvals: approvals, time: parts.time, engine: Self.engine(made.orchestrator),
            answered: { [parts] in
                if let family = await library.library.selectedModel?.id.name { await parts.used(family) }
                await library.tell()
            })
        approvals.tells { [weak chats] chat, card in Task { await chats?.show(card, chat) } }
        // Actions during which an earlier process ended are settled before new ones begin.
        _ = await assistant.actions.recover()
        await library.library.refreshLocal()
        await library.tell()
        router.withLock { $0 = NativeRouter(Self.routes(self)) }
        follow()
    }

    /// The parts of the present settings.
    var now: Current { current.withLock { $0 } }

    var routes: [NativeRoute] { router.withLock { $0?.routes } ?? [] }

    /// The reply to a request; `nil` for a path that no route has.
    package func reply(to request: ServerRequest) async -> ServerReply? {
        await router.withLock { $0 }?.reply(to: request)
    }

    // MARK: Settings

    /// Uses the settings of the disk, with other models if the settings of engines changed.
    package func use(_ models: OpenedModels) async {
        await changes.turn {
            let hearth = models.hearth
            let isOther = models !== now.models
            let settings: Configuration
            do {
                settings = try await SettingsFile(home: hearth.home).read()
            } catch {
                Log.write(.warning, "native", "the settings cannot be read", [.error(error)])
                settings = hearth.configuration
            }
            let next = await Self.current(models, settings, library, parts)
            do {
                let assistant = try await Self.assistant(next, records, library, approvals, parts)
                await chats.use(assistant, engine: Self.engine(next.orchestrator))
            } catch {
                Log.write(.warning, "native", "the assistant keeps its settings", [.error(error)])
            }
            let before = current.withLock { current in
                defer { current = next }
                return current
            }
            await before.orchestrator.flush()
            if isOther { await library.use(hearth) }
            follow()
            await tellRoute()
        }
    }

    /// Reads the settings again for conversations and the route; the models stay.
    package func reread() async {
        await use(now.models)
        await library.tell()
    }

    private static func current(
        _ models: OpenedModels, _ configuration: Configuration, _ library: LibraryDesk, _ parts: NativeParts
    ) async -> Current {
        let cloud = await parts.cloud(configuration)
        let local = models.hearth.localEngines { name in try await find(name, models, library) }
        let orchestrator = await LLMOrchestrator(
            local: local, cloud: cloud.engine, premium: cloud.premium, forceLocal: configuration.forceLocal,
            network: parts.network, folder: models.hearth.home.appending("routing"), time: parts.time)
        return Current(models: models, configuration: configuration, cloud: cloud, orchestrator: orchestrator)
    }

    private static func assistant(
        _ current: Current, _ records: AssistantHome, _ library: LibraryDesk, _ approvals: ApprovalDesk,
        _ parts: NativeParts
    ) async throws -> Assistant {
        let models = current.models
        let seeing = SeeingEngine(
            find: {
                guard let family = await library.visionFamily else { return nil }
                return try await models.hearth.find(
                    .family(family, version: nil, variant: nil), policy: .localOnly)
            }, usual: current.orchestrator)
        return try await records.assistant(
            current.configuration, engine: current.orchestrator, seeing: seeing, approval: approvals
        ) { $0.ringing = parts.ringing() }
    }

    /// The engine of a named model for a conversation.
    private static func engine(
        _ orchestrator: LLMOrchestrator
    ) -> @Sendable (String, Bool) -> any InferenceEngine {
        { model, isPrivate in orchestrator.conversation(RouteRequest(isPrivate: isPrivate, model: model)) }
    }

    /// Finds the local model of a request; without a name, the one in use.
    private static func find(
        _ name: String?, _ models: OpenedModels, _ library: LibraryDesk
    ) async throws -> LiveModel {
        let usual = await library.defaultModel
        guard let name = name ?? usual else {
            throw LLMError(
                .modelNotLoaded, "no model is on this device yet",
                context: ErrorContext(remedy: "Download a model first."))
        }
        do {
            let reference = try ModelReference(parsing: name)
            guard case .family = reference else {
                throw StoreError(.notInstalled, "\(name) is not installed", context: ErrorContext(model: name))
            }
            return try await models.hearth.find(reference, policy: .localOnly)
        } catch let error as StoreError where error.code == .notInstalled {
            throw LLMError(.modelNotLoaded, error.message, context: error.context, underlying: error)
        }
    }

    // MARK: Following

    /// Follows the route and, while clients listen, the transfers.
    private func follow() {
        let orchestrator = now.orchestrator
        let tasks = [
            Task { [weak self] in
                for await _ in orchestrator.decisions() { await self?.tellRoute() }
            },
            Task { [weak library, time = parts.time, log] in
                do {
                    while true {
                        try await time.sleep(for: .seconds(1))
                        if log.hasReaders { await library?.readTransfers() }
                    }
                } catch {
                    // The service ends.
                }
            },
        ]
        let before = work.withLock { work in
            defer { work = tasks }
            return work
        }
        for task in before { task.cancel() }
    }

    private func tellRoute() async { log.add("route", await route()) }

    func route() async -> RouteBody {
        let current = now
        // A setting without a value shares everything.
        let shares = (try? current.configuration.value(of: "cloud.shares")) ?? nil
        return RouteBody(
            await current.orchestrator.decision(), forceLocal: current.configuration.forceLocal,
            cloud: current.cloud, kind: current.configuration.cloud.kind?.rawValue, shares: shares)
    }

    /// Ends answers, and closes the records.
    package func close() async {
        let tasks = work.withLock { work in
            defer { work = [] }
            return work
        }
        for task in tasks { task.cancel() }
        // The routes hold the service.
        router.withLock { $0 = nil }
        await chats.stopAll()
        await now.orchestrator.flush()
        await records.database.close()
    }
}
