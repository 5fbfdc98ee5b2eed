import Foundation
import HearthBase
import HearthInference
import Observation

/// The user's rights and credits for the cloud.
///
/// ```swift
/// let premium = PremiumManager(following: receipts, folder: folder)
/// if premium.canSendCloudMessage { ... }
/// ```
/// Observable: views that read its properties follow them, and always see the new value.
public final class PremiumManager: Sendable, Observable {
    private let file: CreditFile?
    private let time: TimeSource
    private let state: Locked<State>
    private let registrar = ObservationRegistrar()

    private struct State {
        var entitlement: Entitlement
        var book: CreditBook
        var watchers: [UInt64: AsyncStream<Rights>.Continuation] = [:]
        var nextWatcher: UInt64 = 0
        var following: Task<Void, Never>?

        /// The rights and credits that watchers see.
        var rights: Rights {
            Rights(entitlement: entitlement, credits: entitlement.monthlyCredits.map { book.left(of: $0) })
        }
    }

    /// Rights and the credits left.
    package struct Rights: Sendable, Hashable {
        package var entitlement: Entitlement
        /// `nil` if they are not counted.
        package var credits: Int?
    }

    /// Rights that ``update(_:)`` changes.
    /// - Parameter folder: keeps the count of credits for all processes; `nil` counts in memory.
    public convenience init(_ entitlement: Entitlement = Entitlement(.free), folder: Path? = nil) {
        self.init(entitlement, folder: folder, time: .system)
    }

    /// Rights that follow a stream, such as that of an app's purchases: the rights now, then each change.
    public convenience init(following entitlements: AsyncStream<Entitlement>, folder: Path? = nil) {
        self.init(Entitlement(.free), folder: folder, time: .system)
        follow(entitlements)
    }

    /// Rights with a clock and a file system.
    package init(
        _ entitlement: Entitlement, folder: Path?, time: TimeSource, fileSystem: any FileSystem = LocalFileSystem()
    ) {
        file = folder.map { CreditFile(folder: $0, fileSystem: fileSystem, time: time) }
        self.time = time
        state = Locked(State(entitlement: entitlement, book: CreditBook(at: time.now)))
    }

    deinit {
        state.withLock { state in
            state.following?.cancel()
            for watcher in state.watchers.values { watcher.finish() }
        }
    }

    // MARK: Rights

    /// The user's rights.
    public var entitlement: Entitlement {
        registrar.access(self, keyPath: \.entitlement)
        return state.withLock { $0.entitlement }
    }

    /// Whether the tier includes the cloud.
    public var canUseCloudAI: Bool { entitlement.canUseCloudAI }

    /// Whether the tier includes the cloud and a credit is left.
    public var canSendCloudMessage: Bool { canUseCloudAI && credits.map { $0 > 0 } ?? true }

    /// The credits left this month, as far as this process knows; `nil` if they are not counted.
    public var credits: Int? {
        registrar.access(self, keyPath: \.credits)
        return state.withLock { state in
            state.book.turnPage(at: time.now)
            return state.rights.credits
        }
    }

    /// Sets the rights. Equal rights are no change.
    public func update(_ entitlement: Entitlement) {
        publish(\.entitlement) { $0.entitlement = entitlement }
    }

    /// Follows a stream until it ends or this object is released.
    private func follow(_ entitlements: AsyncStream<Entitlement>) {
        let task = Task { [weak self] in
            for await entitlement in entitlements { self?.update(entitlement) }
        }
        state.withLock { $0.following = task }
    }

    /// The rights and credits now, then each change, without repetitions.
    package func rightsChanges() -> AsyncStream<Rights> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let id = state.withLock { state in
                state.nextWatcher += 1
                state.watchers[state.nextWatcher] = continuation
                continuation.yield(state.rights)
                return state.nextWatcher
            }
            continuation.onTermination = { [weak self] _ in
                self?.state.withLock { _ = $0.watchers.removeValue(forKey: id) }
            }
        }
    }

    /// Rights and credits now.
    package var rights: Rights { state.withLock { $0.rights } }

    // MARK: Credits

    /// Takes one credit at once, before the server has confirmed it; for apps that send requests of their own.
    /// - Throws: `LLMError` with `not-entitled` or `no-credits`; ``RoutingError``, `FileError`.
    public func recordCloudMessageSent() async throws {
        let id = UUID().uuidString
        try await take(turn: id)
        await settle(turn: id)
    }

    /// Reads the count of the other processes.
    package func refresh() async throws {
        guard let file else { return }
        let now = time.now
        var book = try await blocking { try file.read() }
        book.turnPage(at: now)
        publish(\.credits) { [book] in $0.book = book }
    }

    /// Pays for a turn before its request, unless it has been paid for.
    /// - Throws: `LLMError` with `not-entitled` or `no-credits`; ``RoutingError``, `FileError`.
    package func take(turn: String) async throws {
        let entitlement = state.withLock { $0.entitlement }
        guard entitlement.canUseCloudAI else {
            throw LLMError(
                .notEntitled, "the tier \(entitlement.tier) does not include the cloud",
                context: ErrorContext(
                    found: entitlement.tier.name, remedy: "Use a local model, or choose a tier with the cloud."))
        }
        guard let allowance = entitlement.monthlyCredits else { return }
        let now = time.now
        guard try await change({ $0.take(turn, of: allowance, at: now) }) else {
            throw LLMError(
                .noCredits, "the \(allowance) credits of this month are spent",
                context: ErrorContext(
                    expected: "\(allowance)", found: "0",
                    remedy: "Use a local model until the next month begins (UTC), or choose a tier with more."))
        }
    }

    /// Notes that a turn has brought a token.
    package func settle(turn: String) async {
        let now = time.now
        await changeWhatIsCounted("settle a credit") { book, _ in book.settle(turn, at: now) }
    }

    /// Gives the credit of a turn back if none of its requests has brought a token.
    package func giveBack(turn: String) async {
        await changeWhatIsCounted("give a credit back") { book, _ in book.giveBack(turn) }
    }

    /// Takes over the server's count of the credits left, which came with the answer to a turn.
    package func correct(left: Int, turn: String) async {
        let now = time.now
        await changeWhatIsCounted("correct the credits") { book, allowance in
            book.correct(left: left, of: allowance, answering: turn, at: now)
        }
    }

    /// Changes the book after a request; also in a cancelled task, whose credit is still to be given back.
    private func changeWhatIsCounted(
        _ doing: String, _ change: @escaping @Sendable (inout CreditBook, Int) -> Void
    ) async {
        guard let allowance = state.withLock({ $0.entitlement.monthlyCredits }) else { return }
        let task = Task {
            do {
                try await self.change { change(&$0, allowance) }
            } catch {
                Log.write(.warning, "entitlement", "could not \(doing): \(error)")
            }
        }
        await task.value
    }

    @discardableResult
    private func change<Result: Sendable>(
        _ change: @escaping @Sendable (inout CreditBook) -> Result
    ) async throws -> Result {
        guard let file else { return publish(\.credits) { change(&$0.book) } }
        let (result, book) = try await file.change(change)
        publish(\.credits) { $0.book = book }
        return result
    }

    /// Changes the state and tells watchers about a new value; they read it after the change.
    @discardableResult
    private func publish<Member, Result: Sendable>(
        _ keyPath: KeyPath<PremiumManager, Member>, _ change: (inout State) -> Result
    ) -> Result {
        let (result, isNew) = state.withLock { state in
            let old = state.rights
            let result = change(&state)
            let isNew = state.rights != old
            // With the lock held, so that watchers get the values in the order of the changes.
            if isNew { for watcher in state.watchers.values { watcher.yield(state.rights) } }
            return (result, isNew)
        }
        // Observers are told after the change, so that they read the new value.
        if isNew { registrar.withMutation(of: self, keyPath: keyPath) {} }
        return result
    }
}
