import Foundation
import HearthBase
import HearthHTTP
import HearthInference

/// The one engine that an app speaks to: it chooses between local models and the cloud, and says why.
///
/// ```swift
/// let orchestrator = await hearth.orchestrator(cloud: CloudEngine(settings), premium: premium)
/// let chat = LanguageModelSession(model: orchestrator.conversation())
/// print(try await chat.respond(to: "Why is the sky blue?").content)
/// ```
/// Before the first visible token of a cloud answer, a local model takes over silently if the cloud fails. After it, the answer
/// ends with ``FinishReason/interrupted``, and ``RoutedEngine/continueLocally(onEvent:)`` continues it. No two engines write into one answer.
public actor LLMOrchestrator {
    let local: any LocalEngines
    private(set) var cloud: (any RemoteEngine)?
    let premium: PremiumManager
    let time: TimeSource
    /// Finds the engine of a name that no local model has.
    let named: @Sendable (String) async -> (any InferenceEngine)?
    private let journal: RouteJournal?
    private let watch: Stopwatch
    var route: Route
    /// Whether local models answer everything: the user's setting.
    public private(set) var forceLocal: Bool
    private var timer: (due: Duration, task: Task<Void, Never>)?
    private var watchers: [UInt64: AsyncStream<RouteDecision?>.Continuation] = [:]
    private var nextWatcher: UInt64 = 0
    private var eviction: Task<Void, Never>?
    /// What the local models can, by name, so that a question for it loads no evicted model.
    var localCapabilities: [String?: EngineCapabilities] = [:]
    private nonisolated let followers = Locked<[Task<Void, Never>]>([])

    /// The time in which a local model has to be loaded.
    static let loadLimit: Duration = .seconds(60)
    /// The time in which a health check has to end.
    static let healthLimit: Duration = .seconds(5)

    /// An orchestrator that follows the network and the user's rights.
    /// - Parameters:
    ///   - cloud: the engine on a server; `nil` if none is set up.
    ///   - forceLocal: the user's setting that local models answer everything.
    ///   - named: finds the engine of a model of another server, or of an alias; `nil` for other names.
    ///   - folder: keeps the last decisions and the cloud's state for later processes; `nil` keeps nothing.
    package init(
        local: any LocalEngines, cloud: (any RemoteEngine)?, premium: PremiumManager, forceLocal: Bool = false,
        network: any NetworkMonitor, named: @escaping @Sendable (String) async -> (any InferenceEngine)? = { _ in nil },
        folder: Path? = nil, time: TimeSource = .system
    ) async {
        self.named = named
        self.local = local
        self.cloud = cloud
        self.premium = premium
        self.time = time
        self.forceLocal = forceLocal
        journal = folder.map { RouteJournal(folder: $0) }
        let recorded = await blocking { folder.map { RouteJournal.read($0) } }
        await Self.read(premium)
        watch = time.stopwatch()
        route = Route(
            policy: RoutePolicy(forceLocal: forceLocal, cloud: cloud?.address, premium.rights),
            at: .zero, recorded: recorded?.endpoint, date: time.now)
        // A device that is offline sends no first request.
        if cloud != nil, !route.policy.isThisMachine, await !network.reading().isOnline {
            _ = route.handle(.network(isOnline: false), at: .zero)
        }
        follow(network)
    }

    deinit {
        timer?.task.cancel()
        followers.withLock { for task in $0 { task.cancel() } }
        for watcher in watchers.values { watcher.finish() }
    }

    /// Follows the network and the user's rights, without keeping this orchestrator alive.
    private func follow(_ network: any NetworkMonitor) {
        let rightsChanges = premium.rightsChanges()
        followers.withLock { tasks in
            tasks = [
                Task { [weak self] in
                    for await condition in network.conditions() {
                        await self?.apply(.network(isOnline: condition.isOnline))
                    }
                },
                Task { [weak self] in
                    for await _ in rightsChanges { await self?.updateActiveSource(reason: "entitlement changed") }
                },
            ]
        }
        setTimer()
    }

    // MARK: The route

    /// The engine of requests without needs of their own.
    public var activeSource: RouteSource { route.source }

    /// Decides anew which engine answers, and logs the reason of the question.
    public func updateActiveSource(reason: String) {
        let policy = RoutePolicy(forceLocal: forceLocal, cloud: cloud?.address, premium.rights)
        guard policy != route.policy else { return }
        Log.write(.debug, "routing", "the route is decided anew: \(reason)")
        apply(.policy(policy))
    }

    /// Reads the credits again, which another process or a new month may have changed.
    func readCredits() async {
        await Self.read(premium)
        updateActiveSource(reason: "credits read")
    }

    /// Without its file, the count of this process stays.
    private static func read(_ premium: PremiumManager) async {
        do {
            try await premium.refresh()
        } catch {
            Log.write(.warning, "routing", "the credits cannot be read: \(error)")
        }
    }

    /// Sets whether local models answer everything. The app keeps the setting.
    public func setForceLocal(_ isForced: Bool) {
        forceLocal = isForced
        updateActiveSource(reason: "forceLocal changed")
    }

    /// Replaces the engine on a server. Answers under way keep theirs.
    public func setCloud(_ engine: CloudEngine?) { setCloud(remote: engine) }

    /// The same with any engine on a server.
    package func setCloud(remote engine: (any RemoteEngine)?) {
        cloud = engine
        updateActiveSource(reason: "cloud changed")
    }

    /// The decision for requests without needs of their own now.
    public func decision() -> RouteDecision { assess(RouteRequest()) }

    /// The decision for a request now, without consequences.
    package func assess(_ request: RouteRequest) -> RouteDecision { route.assess(request, at: watch.elapsed) }

    /// The decision now, then after each switch of the active source.
    public nonisolated func decisions() -> AsyncStream<RouteDecision> {
        AsyncStream(bufferingPolicy: .bufferingNewest(8)) { continuation in
            let task = Task { [weak self] in
                guard let changes = await self?.changes(), let first = await self?.decision() else { return }
                continuation.yield(first)
                for await case let change? in changes { continuation.yield(change) }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    /// Returns when the records of the decisions are on the disk.
    public func flush() async { await journal?.flush() }

    /// Every change of the route from now on: a decision if the active source switched, else `nil`.
    func changes() -> AsyncStream<RouteDecision?> {
        AsyncStream { continuation in
            nextWatcher += 1
            let id = nextWatcher
            watchers[id] = continuation
            continuation.onTermination = { [weak self] _ in Task { await self?.endWatching(id) } }
        }
    }

    private func endWatching(_ id: UInt64) { watchers[id] = nil }

    /// Changes the route and performs what follows from it.
    func apply(_ event: RouteEvent) {
        var switched: RouteDecision?
        for effect in route.handle(event, at: watch.elapsed) {
            switch effect {
            case .checkHealth(let number): checkHealth(number)
            case .evictLocalModels:
                eviction = Task { [local] in await local.evictIdle() }
            case .switched(let decision):
                switched = decision
                Log.write(.info, "routing", "\(decision.source.rawValue) from now on: \(decision.reasonText)")
            }
        }
        setTimer()
        for watcher in watchers.values { watcher.yield(switched) }
    }

    /// Decides a request, and notes that a request to the cloud goes out.
    func begin(_ request: RouteRequest) -> Route.Answer { route.begin(request, at: watch.elapsed) }

    /// The wait before a failed request to the cloud is sent again; `nil` if it is not.
    func retry(after failure: RouteFailure) -> Duration? { route.retry(after: failure) }

    /// Waits for the end of an eviction, so that no model is loaded while it is freed.
    func evictionEnded() async { await eviction?.value }

    /// Records the state of the cloud, and the decision of an answer; a private one only counts for its answer.
    func note(_ decision: RouteDecision?, of request: RouteRequest) async {
        guard let journal, !request.isPrivate else { return }
        let date = time.now
        await journal.note(
            decision.map { [RouteRecord.Entry($0, at: date)] } ?? [],
            RouteRecord.Endpoint(route, at: watch.elapsed, date: date))
    }

    private func checkHealth(_ number: Int) {
        guard let cloud else { return }
        Task { [weak self, time] in
            let isHealthy: Bool
            do {
                let late = LLMError(.timedOut, "the health check took longer than \(Self.healthLimit.wholeSeconds) s")
                try await within(Self.healthLimit, of: time, orThrow: late) { try await cloud.checkHealth() }
                isHealthy = true
            } catch {
                Log.write(.info, "routing", "the health check failed: \(error)")
                isHealthy = false
            }
            await self?.apply(.health(check: number, isHealthy: isHealthy))
        }
    }

    /// Sleeps until the next change that comes without an event.
    private func setTimer() {
        let now = watch.elapsed
        let due = route.nextWake(after: now)
        guard due != timer?.due else { return }
        timer?.task.cancel()
        timer = due.map { due in
            (
                due,
                Task { [weak self, time] in
                    do { try await time.sleep(for: due - now) } catch { return }
                    await self?.wake(due)
                }
            )
        }
    }

    private func wake(_ due: Duration) {
        guard timer?.due == due else { return }
        timer = nil
        apply(.tick)
    }
}

extension RoutePolicy {
    /// The policy of the settings and rights.
    package init(forceLocal: Bool, cloud: URL?, _ rights: PremiumManager.Rights) {
        self.init(
            forceLocal: forceLocal, endpoint: cloud?.withoutQuery, isThisMachine: cloud?.isLoopback ?? false,
            tier: rights.entitlement.tier.name, canUseCloudAI: rights.entitlement.canUseCloudAI,
            credits: rights.credits)
    }
}
