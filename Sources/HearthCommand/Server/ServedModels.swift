import Foundation
import Hearth
import HearthBase
import HearthServer

/// The models of the resident process under its present settings.
final class ServedModels: Sendable {
    /// The models under one set of settings.
    private final class Generation: Sendable {
        let opened: OpenedModels
        let configuration: Configuration
        let models: HearthModels
        let routes: APIRoutes

        var hearth: Hearth { opened.hearth }

        /// - Parameter models: those of settings with the same engines, which know how long each stays in memory.
        init(
            _ opened: OpenedModels, _ configuration: Configuration, _ answers: ServedAnswers,
            models: HearthModels? = nil
        ) {
            self.opened = opened
            self.configuration = configuration
            let choices = HearthModels.Settings(configuration: configuration)
            models?.use(choices)
            self.models = models ?? HearthModels(opened.hearth, settings: choices)
            let settings = APISettings(configuration: configuration, version: HearthCommand.version)
            routes = APIRoutes(APIService(self.models, settings: settings, answers: answers))
        }
    }

    private struct State {
        var generation: Generation?
        var address: String?
        /// The native API, which follows the settings.
        var native: NativeService?
        var reload: (@Sendable () async -> Void)?
    }

    /// The context of the process, with the transfers that its jobs share.
    let context: CommandContext
    private let started: Date
    private let answers = ServedAnswers()
    private let state: Locked<State>

    /// Reads the settings, and recovers what ended processes left.
    init(context: CommandContext) async throws {
        started = context.time.now
        let hearth = try await context.hearth()
        _ = try await context.recovered(hearth)
        var context = context
        context.queue = hearth.manager.transfers
        self.context = context
        state = Locked(State(generation: Generation(OpenedModels(hearth), hearth.configuration, answers)))
    }

    private var generation: Generation? { state.withLock { $0.generation } }

    func setAddress(_ address: String?) { state.withLock { $0.address = address } }

    /// The address under which browsers reach the process.
    var address: String? { state.withLock { $0.address } }

    /// The models of the present settings.
    var present: OpenedModels? { generation?.opened }

    /// Tells the native API about later settings.
    func follow(_ native: NativeService) { state.withLock { $0.native = native } }

    /// Keeps a model warm that has answered.
    func used(_ family: String) async {
        guard let provider = generation?.models else { return }
        do {
            await provider.used(try await provider.model(family), keepAlive: nil)
        } catch {
            // A model that was removed meanwhile needs no warmth.
        }
    }

    // MARK: Requests

    /// The reply of a dialect; `nil` for a path that none has.
    func reply(to request: ServerRequest) async -> ServerReply? {
        guard let generation else { return .failure(503, "ending", "the server ends") }
        guard var reply = await generation.routes.reply(to: request) else { return nil }
        if case .stream(let make) = reply.body {
            // A reload does not close the models of an answer on its way.
            reply.body = .stream { writer in
                defer { withExtendedLifetime(generation) {} }
                try await make(writer)
            }
        }
        return reply
    }

    /// The right that a route of a dialect needs.
    func scope(_ method: String, _ path: String) -> ServerScope? { generation?.routes.scope(method, path) }

    /// Facts of the answers as text of Prometheus.
    var metrics: String { answers.metricsText }

    /// Whether the loaded models make tokens, and how many there are.
    func health() async -> (isWell: Bool, models: Int) {
        guard let finding = await generation?.routes.service.health.finding() else { return (true, 0) }
        return (finding.failing == 0, finding.well + finding.failing)
    }

    /// The facts for `hearth ps`.
    func status() async -> [String: JSONValue] {
        var facts: [String: JSONValue] = [
            "started": .string(started.formatted(.iso8601)), "version": .string(HearthCommand.version),
        ]
        facts["address"] = state.withLock { $0.address }.map { .string($0) }
        let loaded = await generation?.models.loaded() ?? []
        facts["models"] = .array(
            loaded.map { model in
                var entry: [String: JSONValue] = [
                    "name": .string(model.model.name), "bytes": .integer(model.bytes),
                ]
                entry["expires"] = model.expires.map { .string($0.formatted(.iso8601)) }
                return .object(entry)
            })
        return facts
    }

    // MARK: Life

    /// Continues the transfers of ended processes.
    /// - Returns: an exit status.
    func restoreTransfers() async -> Int32 {
        guard let manager = generation?.hearth.manager else { return 0 }
        do {
            for outcome in try await manager.restoreTransfers() {
                guard let error = outcome.error, !(error is CancellationError) else { continue }
                context.console.complain("\(outcome.plan.label) was not continued: \(error)")
            }
            return 0
        } catch {
            context.console.complain("Unfinished transfers were not continued: \(error)")
            return 1
        }
    }

    /// Sets what reads settings and keys again.
    func reloads(_ body: @escaping @Sendable () async -> Void) { state.withLock { $0.reload = body } }

    func reloadNow() async { await state.withLock { $0.reload }?() }

    /// Uses the present settings for later requests; answers on their way keep theirs.
    func reload() async throws {
        let hearth = try await context.hearth()
        guard let old = generation, old.configuration != hearth.configuration else { return await hearth.close() }
        guard hearth.configuration.shapesEngines(otherThan: old.configuration) else {
            await hearth.close()
            refresh(hearth.configuration)
            await state.withLock { $0.native }?.reread()
            return
        }
        let next = Generation(OpenedModels(hearth), hearth.configuration, answers)
        let native = state.withLock { state -> NativeService? in
            guard state.generation != nil else { return nil }
            state.generation = next
            return state.native
        }
        await native?.use(next.opened)
    }

    /// Uses other settings that leave the models as they are.
    func refresh(_ configuration: Configuration) {
        state.withLock { state in
            guard let old = state.generation else { return }
            state.generation = Generation(old.opened, configuration, answers, models: old.models)
        }
    }

    /// Ends downloads and answers, and unloads the models.
    func close() async {
        let generation = state.withLock { state in
            defer { state.generation = nil }
            return state.generation
        }
        await generation?.hearth.close()
    }
}
