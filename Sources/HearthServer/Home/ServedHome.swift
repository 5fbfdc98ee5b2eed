import Foundation
import Hearth
import HearthBase
import HearthCatalog
import HearthDelivery

/// Uses the models of a ``ServedHome`` under its present settings.
package protocol SettingsFollower: AnyObject, Sendable {
    /// Uses models that other settings have opened.
    func use(_ models: OpenedModels) async
    /// Reads the settings again; the models stay.
    func reread() async
}

/// A home as the resident process serves it: its models, its settings and its keys.
package final class ServedHome: Sendable {
    /// The models under one set of settings.
    private final class Generation: Sendable {
        let opened: OpenedModels
        let configuration: Configuration
        let models: HearthModels
        let routes: APIRoutes

        var hearth: Hearth { opened.hearth }

        /// - Parameter models: those of settings with the same engines, which know how long each stays in memory.
        init(
            _ opened: OpenedModels, _ configuration: Configuration, version: String, _ answers: ServedAnswers,
            models: HearthModels? = nil
        ) {
            self.opened = opened
            self.configuration = configuration
            let choices = HearthModels.Settings(configuration: configuration)
            models?.use(choices)
            self.models = models ?? HearthModels(opened.hearth, settings: choices)
            let settings = APISettings(configuration: configuration, version: version)
            let hearth = opened.hearth
            hearth.upstreams.use(configuration.usableUpstreams(environment: hearth.surroundings.environment))
            let served = ServedModels(
                self.models, hearth.upstreams, aliases: configuration.aliases, settings: settings,
                time: hearth.surroundings.time)
            routes = APIRoutes(APIService(served, settings: settings, answers: answers))
        }
    }

    private struct State {
        var generation: Generation?
        var rules: RequestGuard.Rules
        var address: String?
        /// The addresses of the listener, and whether it uses TLS.
        var listening: (addresses: [ListeningAddress], usesTLS: Bool) = ([], false)
        var follower: (any SettingsFollower)?
    }

    package let path: Path
    /// The version of the program.
    package let version: String
    package let time: TimeSource
    private let report: @Sendable (ServerEvent) -> Void
    private let started: Date
    private let answers = ServedAnswers()
    private let keys: KeyFile
    /// The sessions of browsers.
    package let sessions: BrowserSessions
    private let state: Locked<State>
    private let reloads = TurnQueue()

    /// Reads the keys and the sessions. Blocks.
    /// - Parameters:
    ///   - isOwned: whether the end of the server closes the models.
    ///   - report: takes what happens to the settings.
    /// - Throws: ``ServerError`` with `keys-unreadable`; `FileError`.
    package init(
        _ hearth: Hearth, version: String, isOwned: Bool = true,
        report: @escaping @Sendable (ServerEvent) -> Void = { _ in }
    ) throws {
        self.version = version
        self.report = report
        path = hearth.home
        time = hearth.surroundings.time
        started = time.now
        let settings = hearth.configuration
        keys = try KeyFile(home: hearth.home)
        sessions = BrowserSessions(home: hearth.home, time: hearth.surroundings.time)
        state = Locked(
            State(
                generation: Generation(
                    OpenedModels(hearth, isOwned: isOwned), settings, version: version, answers),
                rules: RequestGuard.Rules(settings)))
        for problem in settings.problems { report(.settingsRefused(problem)) }
    }

    private var generation: Generation? { state.withLock { $0.generation } }

    /// The models of the present settings.
    /// - Throws: ``ServerError`` with `not-serving` while the server ends.
    package var present: OpenedModels {
        get throws {
            guard let generation else { throw ServerError(.notServing, "the server ends", disposition: .tryLater) }
            return generation.opened
        }
    }

    /// The address under which browsers reach the process.
    package var address: String? { state.withLock { $0.address } }

    func setAddress(_ address: String?) { state.withLock { $0.address = address } }

    func setListening(_ addresses: [ListeningAddress], usesTLS: Bool) {
        state.withLock { $0.listening = (addresses, usesTLS) }
    }

    /// The sockets that other machines reach; `nil` if only this machine reaches the process.
    var networkPlace: NetworkPlace? {
        let (listening, names) = state.withLock { ($0.listening, $0.generation?.configuration.server.hosts ?? []) }
        return NetworkPlace(listening.addresses, usesTLS: listening.usesTLS, names: names)
    }

    /// A new code with the address for other machines; `nil` if only this machine reaches the process.
    package func invite(_ use: OneTimeCodes.Use) async -> PageInvitation? {
        guard let place = networkPlace else { return nil }
        let network = await blocking { NetworkAddresses.current() }
        return place.invitation(sessions.makeCode(use), network)
    }

    /// How long the end of the process takes for the sake of balancers and answers; `nil` for an end at once.
    var draining: (delay: Duration, limit: Duration)? {
        guard let settings = generation?.configuration.server, let limit = settings.drain else { return nil }
        return (.seconds(settings.drainDelay), .seconds(limit))
    }

    /// Whether other machines have a key.
    var hasKeys: Bool { !keys.current.keys.isEmpty }

    /// The present rules and keys for callers.
    var requestGuard: RequestGuard {
        RequestGuard(rules: state.withLock { $0.rules }, keys: keys.current) { [sessions] in
            sessions.use($0, page: $1)
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

    /// The description of the dialects; `nil` while the server ends.
    func description() throws -> APIDescription? { try (generation?.routes).map { try APIDescription($0) } }

    /// The right that a route of a dialect needs.
    func scope(_ method: String, _ path: String) -> ServerScope? { generation?.routes.scope(method, path) }

    /// Facts of the answers as text of Prometheus.
    var metrics: String { answers.metricsText }

    /// Whether the loaded models make tokens, and how many there are.
    func health() async -> (isWell: Bool, models: Int) {
        guard let finding = await generation?.routes.service.health.finding() else { return (true, 0) }
        return (finding.failing == 0, finding.well + finding.failing)
    }

    /// Keeps a model warm that has answered a conversation of the page.
    func used(_ family: String) async { await generation?.models.usedByPage(family) }

    /// Loads the saved text model and then the saved vision model, as far as memory permits.
    func openSavedModels() async {
        guard let generation else { return }
        var names: [String?] = [nil]
        if let seeing = await generation.hearth.savedVisionModel() { names.append(seeing.name) }
        for name in names {
            do {
                try await generation.models.open(name)
            } catch {
                Log.write(.info, "server", "\(name ?? "the default model") is not loaded at the start", [.error(error)])
            }
        }
    }

    /// Looks for newer releases of the models that this server answers with, as `serve.updates` says.
    func updateModelsInUse() async {
        guard let generation else { return }
        let (hearth, updates) = (generation.hearth, generation.configuration.server.updates)
        guard updates != .off else { return }
        for family in await hearth.modelsInUse() {
            await hearth.manager.checkInBackground(family, installs: updates == .automatic)
        }
    }

    /// The other servers whose models are served.
    var upstreams: [UpstreamRow] {
        get async { await generation?.hearth.upstreams.rows().map(UpstreamRow.init) ?? [] }
    }

    /// The models of other servers and the aliases, for the conversations of the page.
    var otherModels: [ModelChoice] {
        get async {
            guard let generation else { return [] }
            return await generation.hearth.otherModels(generation.configuration).map { ModelChoice(id: $0, name: $0) }
        }
    }

    /// The facts for `hearth ps`.
    func status() async -> JSONMembers {
        var facts: JSONMembers = [
            "started": .string(started.formatted(.iso8601)), "version": .string(version),
        ]
        facts["address"] = address.map { .string($0) }
        let loaded = await generation?.models.loaded() ?? []
        facts["models"] = .array(
            loaded.map { model in
                var entry: JSONMembers = [
                    "name": .string(model.model.name), "bytes": .integer(model.bytes),
                ]
                entry["expires"] = model.expires.map { .string($0.formatted(.iso8601)) }
                return .object(entry)
            })
        facts["upstreams"] = .array(await upstreams.map(\.json))
        return facts
    }

    // MARK: Settings

    /// Tells the native API about later settings.
    func follow(with follower: any SettingsFollower) { state.withLock { $0.follower = follower } }

    /// Uses the settings of the disk within two seconds of each change, until the task is cancelled.
    func followSettings() async {
        await SettingsFile(home: path, time: time).follow { await reload(isAsked: false) }
    }

    /// Uses the settings of the disk for later requests; answers on their way keep theirs. Invalid ones keep their values.
    /// - Parameter isAsked: whether settings without a change are reported too.
    func reload(isAsked: Bool = true) async {
        do {
            let isChanged = try await reloads.turn { try await self.readAgain() }
            if isChanged || isAsked { report(.settingsRead) }
        } catch {
            report(.settingsRefused(error))
        }
    }

    private func readAgain() async throws -> Bool {
        guard let old = generation else { return false }
        let read = try await blocking { try old.hearth.presentSettings() }
        let settings = read.replacingInvalid(with: old.configuration)
        // What was opened with an invalid value refuses its work until the value is corrected.
        let corrected = Set(old.hearth.configuration.problems.map(\.description))
            .subtracting(read.problems.map(\.description))
        guard settings != old.configuration || !corrected.isEmpty else { return false }
        for problem in read.problems { report(.settingsRefused(problem)) }
        state.withLock { $0.rules = RequestGuard.Rules(settings) }
        guard !corrected.isEmpty || settings.reopensModels(otherThan: old.configuration) else {
            refresh(settings)
            await state.withLock { $0.follower }?.reread()
            return true
        }
        let hearth = try await blocking { try old.hearth.reopened(settings) }
        let next = Generation(OpenedModels(hearth), settings, version: version, answers)
        let follower = state.withLock { state -> (any SettingsFollower)? in
            guard state.generation != nil else { return nil }
            state.generation = next
            return state.follower
        }
        await follower?.use(next.opened)
        return true
    }

    /// Uses other settings that leave the models as they are.
    func refresh(_ settings: Configuration) {
        state.withLock { state in
            guard let old = state.generation else { return }
            state.generation = Generation(old.opened, settings, version: version, answers, models: old.models)
        }
    }

    /// Ends downloads and answers, and unloads the models.
    func close() async {
        let generation = state.withLock { state in
            defer { (state.generation, state.follower) = (nil, nil) }
            return state.generation
        }
        await generation?.opened.close()
    }
}

extension RequestGuard.Rules {
    /// The rules of a home's settings.
    init(_ settings: Configuration) {
        self.init()
        hosts = Set(settings.server.hosts)
        allowedOrigins = Set(settings.server.origins)
        user = getuid()
        requiresKeys = settings.server.requireKeys == .always
    }
}
