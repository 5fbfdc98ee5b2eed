import Foundation
import HearthBase
import HearthHTTP
import HearthInference

/// Another server whose models are served: its models, the requests under way, and whether it works.
package final class UpstreamServer: Sendable {
    private struct State {
        var circuit = UpstreamCircuit()
        /// The check of the server's health that runs.
        var check: Task<Bool, Never>?
        /// The key, once it was read; `.some(nil)` for a server without one.
        var key: Secret??
    }

    package let settings: UpstreamSettings
    let client: any HTTPClient
    let time: TimeSource
    private let slots: UpstreamSlots
    private let catalog: UpstreamCatalog
    private let watch: Stopwatch
    private let state = Locked(State())

    /// The longest time of a list of models.
    private static let listLimit = Duration.seconds(10)
    /// The longest wait for the check of a server's health.
    private static let checkLimit = Duration.seconds(5)

    package init(_ settings: UpstreamSettings, client: any HTTPClient, time: TimeSource = .system) {
        self.settings = settings
        self.client = client
        self.time = time
        slots = UpstreamSlots(settings.slots, of: settings.name)
        catalog = UpstreamCatalog(settings, time: time)
        watch = time.stopwatch()
    }

    package var name: String { settings.name }

    /// The requests under way and those that wait for a slot.
    package var load: (running: Int, waiting: Int) { slots.load }

    /// Whether the last requests failed, so that others take over.
    package var isFailing: Bool { state.withLock { $0.circuit.isOpen } }

    /// Why the server does not list its models; `nil` if it does, or was not asked yet.
    package var problem: LLMError? { catalog.problem }

    /// The models that are served.
    package func models() async -> [UpstreamModel] { await catalog.models { [self] in try await list() }.models }

    /// The context window of a model in tokens: that of the list, else that of the kind.
    package func contextLength(of model: UpstreamModel) -> Int? {
        // Settings that cannot be used have no window either.
        model.contextLength ?? (try? settings.cloud(model.id, key: nil, contextLength: nil))?.contextLength
    }

    /// Whether a check of the server's health runs.
    package var isChecking: Bool { state.withLock { $0.check != nil } }

    /// The engine of one of the server's models; `nil` for a model that it does not serve. If the server does not list its
    /// models, the engine is the one to say why.
    package func engine(_ model: String) async -> UpstreamEngine? {
        guard settings.serves(model) else { return nil }
        var (models, isKnown) = await catalog.models { [self] in try await list() }
        var found = models.first { $0.id == model }
        if found == nil, isKnown, settings.plainNames == nil {
            // It may be a model that the server has had for a moment only.
            (models, isKnown) = await catalog.models(isNew: true) { [self] in try await list() }
            found = models.first { $0.id == model }
        }
        guard found != nil || !isKnown else { return nil }
        return UpstreamEngine(server: self, model: model, contextLength: found?.contextLength)
    }

    private func list() async throws -> [UpstreamModel] {
        try await cloud("", contextLength: nil).listedModels(settings.kind, limit: Self.listLimit)
    }

    // MARK: Requests

    /// Performs a request when there is a slot for it and the server works, and notes its end.
    /// - Parameters:
    ///   - hasOthers: whether another model answers if this one is not asked.
    ///   - limit: the request's time, of which the wait for a slot is a part.
    ///   - body: gets the rest of the time, and calls its other argument when the server begins to answer.
    /// - Throws: ``UpstreamWithheld`` for a server that failed a moment ago or wants a pause, if another model answers; else
    ///   ``LLMError`` with `unreachable`, `rate-limited`, `busy`, or `timed-out` for one that got no slot in its time;
    ///   errors of `body`.
    func perform<Value: Sendable>(
        _ model: String, hasOthers: Bool, limit: Duration,
        _ body: (_ rest: Duration, _ answers: @escaping @Sendable () -> Void) async throws -> Value
    ) async throws -> Value {
        let began = time.stopwatch()
        try await admit(model, hasOthers: hasOthers)
        try await slots.take(within: limit, of: time)
        defer { slots.giveBack() }
        // The server may have failed while the request waited.
        try await admit(model, hasOthers: hasOthers)
        let rest = limit - began.elapsed
        guard rest > .zero else { throw slots.late }
        state.withLock { $0.circuit.begin() }
        do {
            let value = try await body(rest) { [self] in note(model, .answered) }
            note(model, .answered)
            return value
        } catch {
            let outcome = error is CancellationError ? .other : UpstreamCircuit.Outcome(error)
            // A request that waits shorter than the upstream may take tells nothing by its end.
            note(model, outcome == .silent && rest < settings.timeout ? .other : outcome)
            if (error as? LLMError)?.code == .unauthorised { state.withLock { $0.key = nil } }
            throw error
        }
    }

    private func note(_ model: String, _ outcome: UpstreamCircuit.Outcome) {
        let now = watch.elapsed
        let (before, after) = state.withLock { state in
            let before = state.circuit.isOpen
            state.circuit.end(model, outcome, at: now)
            return (before, state.circuit.isOpen)
        }
        if after != before {
            Log.write(.info, "upstream", after ? "\(name) fails: others take over" : "\(name) answers again")
        }
    }

    private func admit(_ model: String, hasOthers: Bool) async throws {
        let now = watch.elapsed
        switch state.withLock({ $0.circuit.verdict(model, hasOthers: hasOthers, at: now) }) {
        case .go: return
        case .checkFirst:
            guard await check().value else { throw failing(retryAfter: CircuitBreaker.pause) }
        case .failing(let wait, let checks):
            if checks { _ = check() }
            throw UpstreamWithheld(error: failing(retryAfter: wait))
        case .paused(let wait):
            var context = ErrorContext(model: model, remedy: "Try again later.")
            context.retryAfterSeconds = wait.seconds.rounded(.up)
            let error = LLMError(
                .rateLimited, "the upstream \(name) takes no request for now", context: context,
                disposition: .tryLater)
            throw hasOthers ? UpstreamWithheld(error: error) as any Error : error
        }
    }

    private func failing(retryAfter wait: Duration) -> LLMError {
        var context = ErrorContext(remedy: "Try again later.")
        context.retryAfterSeconds = wait.seconds.rounded(.up)
        return LLMError(
            .unreachable, "the upstream \(name) failed a moment ago", context: context, disposition: .tryLater)
    }

    /// The check of the server's health; requests at the same time share one.
    private func check() -> Task<Bool, Never> {
        state.withLock { state in
            if let check = state.check { return check }
            let check = Task { [self] in
                let isHealthy = await isHealthy()
                let now = watch.elapsed
                self.state.withLock { state in
                    state.circuit.checked(isHealthy: isHealthy, at: now)
                    state.check = nil
                }
                return isHealthy
            }
            state.check = check
            return check
        }
    }

    /// Whether the server answers a request that costs nothing; a refusal is an answer.
    private func isHealthy() async -> Bool {
        do {
            let engine = try await cloud(settings.plainNames?.first ?? "", contextLength: nil)
            let late = LLMError(.timedOut, "\(name) did not answer a check")
            try await within(Self.checkLimit, of: time, orThrow: late) { try await engine.checkHealth() }
            return true
        } catch {
            return (error as? LLMError).map { RouteFailure($0).kind != .unreachable } ?? false
        }
    }

    // MARK: Engines

    /// The engine that asks the server.
    /// - Throws: ``LLMError`` with `cloud-key-unusable`.
    func cloud(
        _ model: String, contextLength: Int?, shares: CloudShares = .all
    ) async throws -> CloudEngine {
        var cloud = try settings.cloud(model, key: await key(), contextLength: contextLength)
        cloud.shares = shares
        return CloudEngine(cloud, client: client, onCredits: nil)
    }

    private func key() async throws -> Secret? {
        if let key = state.withLock({ $0.key }) { return key }
        let key = try await blocking { [settings] in try settings.key.read() }
        state.withLock { $0.key = .some(key) }
        return key
    }
}

/// A request that was not sent, because another model can answer and the server would probably not.
struct UpstreamWithheld: Error {
    let error: LLMError
}
