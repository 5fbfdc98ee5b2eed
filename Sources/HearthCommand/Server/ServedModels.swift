#if Server
    import Foundation
    import Hearth
    import HearthBase
    import HearthServer

    /// The models of the resident process under its present settings.
    final class ServedModels: Sendable {
        /// Models that leave memory with the last request that uses them.
        private final class Opened: Sendable {
            let hearth: Hearth

            init(_ hearth: Hearth) { self.hearth = hearth }

            deinit {
                let hearth = hearth
                Task { await hearth.close() }
            }
        }

        /// The models under one set of settings.
        private final class Generation: Sendable {
            let opened: Opened
            let configuration: Configuration
            let routes: APIRoutes

            var hearth: Hearth { opened.hearth }

            init(_ opened: Opened, _ configuration: Configuration) {
                self.opened = opened
                self.configuration = configuration
                let hearth = opened.hearth
                let models = HearthModels(hearth, settings: HearthModels.Settings(configuration: configuration))
                let settings = APISettings(configuration: configuration, version: HearthCommand.version)
                routes = APIRoutes(APIService(models, settings: settings))
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
        private let state: Locked<State>

        /// Reads the settings, and recovers what ended processes left.
        init(context: CommandContext) async throws {
            started = context.time.now
            let hearth = try await context.hearth()
            _ = try await context.recovered(hearth)
            var context = context
            context.queue = hearth.manager.transfers
            self.context = context
            state = Locked(State(generation: Generation(Opened(hearth), hearth.configuration)))
        }

        private var generation: Generation? { state.withLock { $0.generation } }

        func setAddress(_ address: String?) { state.withLock { $0.address = address } }

        /// The address under which browsers reach the process.
        var address: String? { state.withLock { $0.address } }

        /// The models of the present settings, with what keeps them open.
        var present: (hearth: Hearth, owner: any Sendable)? { generation.map { ($0.hearth, $0) } }

        /// Tells the native API about later settings.
        func follow(_ native: NativeService) { state.withLock { $0.native = native } }

        /// Keeps a model warm that has answered.
        func used(_ family: String) async {
            guard let provider = generation?.routes.service.provider else { return }
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
        var metrics: String { generation?.routes.service.metricsText ?? "" }

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
            let loaded = await generation?.routes.service.provider.loaded() ?? []
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
            let next = Generation(Opened(hearth), hearth.configuration)
            let native = state.withLock { state -> NativeService? in
                guard state.generation != nil else { return nil }
                state.generation = next
                return state.native
            }
            await native?.use(hearth, owner: next)
        }

        /// Uses other settings that leave the models as they are.
        func refresh(_ configuration: Configuration) {
            state.withLock { state in
                guard let old = state.generation else { return }
                state.generation = Generation(old.opened, configuration)
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
#endif
