import Foundation
import Hearth
import HearthAssistant
import HearthBase
import HearthDatabase
import HearthRouting

/// The native API of the resident process: the view models of the library and of the assistant behind routes and events.
package final class NativeService: SettingsFollower {
    /// The parts under one set of settings.
    struct Current: Sendable {
        var models: OpenedModels
        var configuration: Configuration
        var cloud: ServedCloud
        var orchestrator: LLMOrchestrator

        var hearth: Hearth { models.hearth }
    }

    package let log = EventLog()
    let home: ServedHome
    let records: AssistantHome
    let library: LibraryDesk
    let chats: ChatDesk
    let approvals = ApprovalDesk()
    let rings: RingDesk
    private let current: Locked<Current>
    private let router: Locked<NativeRouter?> = Locked(nil)
    private let work = Locked<[Task<Void, Never>]>([])
    private let changes = TurnQueue()
    private let preparation = Locked<Task<Void, Never>?>(nil)

    /// Opens the user's records.
    /// - Throws: `DatabaseError`, `FileError`, `ConfigurationError`.
    package init(_ home: ServedHome) async throws {
        self.home = home
        let models = try home.present
        let hearth = models.hearth
        records = try await AssistantHome(path: hearth.home, time: home.time)
        library = await LibraryDesk(hearth, log: log, time: home.time)
        // Programs on the API need no valid settings of the page.
        let made = await Self.current(models, hearth.configuration.replacingInvalidCarefully())
        current = Locked(made)
        let assistant = try await Self.assistant(made, records, approvals)
        chats = ChatDesk(
            assistant, log: log, approvals: approvals, library: library, home: home, orchestrator: made.orchestrator)
        approvals.tells { [weak chats] chat, card in Task { await chats?.show(card, chat) } }
        rings = Self.ringDesk(home, records, log, current)
        // Actions during which an earlier process ended are settled before new ones begin.
        _ = await assistant.actions.recover()
        await library.library.refreshLocal()
        await library.tell()
        await blocking {
            ModelUpload.sweep(home: hearth.home)
            DocumentRoutes.sweep(home: hearth.home)
        }
        router.withLock { $0 = NativeRouter(Self.routes(self)) }
        home.follow(with: self)
        follow()
        await rings.start()
        // The first search is as fast as later ones.
        let prepared = Task { [conversations = records.conversations] in
            do {
                try await conversations.prepareSearch()
            } catch {
                guard !Task.isCancelled else { return }
                Log.write(.warning, "native", "the index of conversations cannot be prepared", [.error(error)])
            }
        }
        preparation.withLock { $0 = prepared }
    }

    /// The rings of records whose kind the settings do not switch off.
    private static func ringDesk(
        _ home: ServedHome, _ records: AssistantHome, _ log: EventLog, _ current: Locked<Current>
    ) -> RingDesk {
        let environment = current.withLock { $0.hearth.surroundings.environment }
        let allows = { @Sendable (kind: StoreKind) -> Bool in
            // A key of the table has a value.
            let value = try? current.withLock { $0.configuration }.value(of: "stores.\(kind.rawValue)")
            return value.flatMap(\.self) != "off"
        }
        let keeper = RingKeeper(records, allows: allows)
        return RingDesk(
            keeper, desktop: ReminderTimer.isEnabled(environment: environment) ? nil : SessionDesktop.find(environment),
            words: RingWords(environment: environment), log: log,
            time: home.time
        ) { kind in
            log.add("records", ["store": kind.rawValue])
            log.add("actions", EmptyBody())
        }
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
                settings = try await blocking { try hearth.presentSettings() }
                    .replacingInvalid(with: now.configuration)
            } catch {
                Log.write(.warning, "native", "the settings cannot be read", [.error(error)])
                settings = hearth.configuration
            }
            let next = await Self.current(models, settings)
            do {
                await chats.use(
                    try await Self.assistant(next, records, approvals), orchestrator: next.orchestrator)
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

    private static func current(_ models: OpenedModels, _ settings: Configuration) async -> Current {
        let hearth = models.hearth
        let cloud = await ServedCloud(settings, of: hearth)
        let orchestrator = await hearth.orchestrator(
            settings, cloud: cloud.model, premium: cloud.premium, local: hearth.localEngines(keeping: models))
        return Current(models: models, configuration: settings, cloud: cloud, orchestrator: orchestrator)
    }

    private static func assistant(
        _ current: Current, _ records: AssistantHome, _ approvals: ApprovalDesk
    ) async throws -> Assistant {
        let hearth = current.hearth
        var settings = try await hearth.assistantSettings(current.configuration)
        settings.ringing = ReminderTimer.served(environment: hearth.surroundings.environment)
        return hearth.assistant(
            on: records, settings, engine: current.orchestrator, approval: approvals, keeping: current.models)
    }

    // MARK: Following

    /// Follows the route and, while clients listen, the transfers.
    private func follow() {
        let orchestrator = now.orchestrator
        let tasks = [
            Task { [weak self] in
                for await _ in orchestrator.decisions() { await self?.tellRoute() }
            },
            Task { [weak library, time = home.time, log] in
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
        preparation.withLock { $0 }?.cancel()
        await rings.close()
        // The routes hold the service.
        router.withLock { $0 = nil }
        await chats.stopAll()
        await now.orchestrator.flush()
        await records.database.close()
    }
}
