import HearthBase
import HearthCatalog
import HearthDelivery
import HearthHTTP
import HearthStore
import HearthTestSupport
import HearthTransfer
import Observation

@testable import Hearth

/// What the doubles were asked, in order, over all of them.
final class Journal: Sendable {
    private let entries = Locked<[String]>([])

    func note(_ entry: String) { entries.withLock { $0.append(entry) } }

    var all: [String] { entries.withLock { $0 } }

    func all(with prefix: String) -> [String] { all.filter { $0.hasPrefix(prefix) } }
}

/// Holds a script until the test opens it; throws `CancellationError` at once when its task is cancelled.
final class Barrier: Sendable {
    private let (stream, source) = AsyncStream.makeStream(of: Never.self)

    func open() { source.finish() }

    func pass() async throws {
        for await _ in stream {}
        try Task.checkCancellation()
    }
}

/// A delivery that follows a script, on a clock of the test's.
final class ScriptedDelivery: ModelDelivering {
    /// One step of a pull.
    enum Step: Sendable {
        case report(TransferProgress)
        case sleep(Duration)
        case wait(Barrier)
        case fail(any Error)
        /// Ends well, but not before it is cancelled.
        case arriveWhenCancelled
    }

    private struct State {
        var local: [Family: LocalModel] = [:]
        var offers: [OfferedModel] = []
        var scripts: [Family: [[Step]]] = [:]
        var offerProblem: (any Error)?
        var partialProblem: (any Error)?
        var localProblem: (any Error)?
        var removalProblem: (any Error)?
        var removalBarrier: Barrier?
        var options: [DownloadOptions] = []
        var discarded: [ReleaseIdentity] = []
        var unfinished: [ModelInfo] = []
    }

    let journal: Journal
    let clock: ManualClock
    private let state = Locked(State())
    private let (stream, source) = AsyncStream.makeStream(of: LibraryChange.self)

    init(journal: Journal = Journal(), clock: ManualClock = ManualClock()) {
        self.journal = journal
        self.clock = clock
    }

    // MARK: Writing the script

    /// What the next pulls of a model do, one script each; past the last one it arrives at once.
    func script(_ model: ModelInfo, _ scripts: [Step]...) { state.withLock { $0.scripts[model.id] = scripts } }

    func offer(_ offers: OfferedModel...) { state.withLock { $0.offers = offers } }

    func have(_ models: LocalModel...) {
        state.withLock { $0.local = Dictionary(models.map { ($0.model.id, $0) }, uniquingKeysWith: { $1 }) }
    }

    /// Downloads that an ended process left.
    func leave(_ models: ModelInfo...) { state.withLock { $0.unfinished = models } }

    func failOffers(_ error: (any Error)?) { state.withLock { $0.offerProblem = error } }
    func failOneSource(_ error: (any Error)?) { state.withLock { $0.partialProblem = error } }
    func failLocal(_ error: (any Error)?) { state.withLock { $0.localProblem = error } }
    func failRemovals(_ error: (any Error)?) { state.withLock { $0.removalProblem = error } }
    func holdRemovals(_ barrier: Barrier?) { state.withLock { $0.removalBarrier = barrier } }
    func tell(_ change: LibraryChange) { source.yield(change) }

    /// The permissions of the pulls, in order.
    var options: [DownloadOptions] { state.withLock { $0.options } }
    var metered: [MeteredUse] { options.map(\.metered) }
    /// The releases whose bytes were thrown away.
    var discarded: [ReleaseIdentity] { state.withLock { $0.discarded } }

    // MARK: Following it

    func localModels() async throws -> [LocalModel] {
        let (problem, models) = state.withLock { ($0.localProblem, Array($0.local.values)) }
        if let problem { throw problem }
        return models
    }

    func offeredModels(_ policy: CachePolicy) async throws -> OfferedModels {
        journal.note("ask sources")
        let (problem, offers, partial) = state.withLock { ($0.offerProblem, $0.offers, $0.partialProblem) }
        if let problem { throw problem }
        return OfferedModels(models: offers, problem: partial)
    }

    func pull(
        _ model: ModelInfo, options: DownloadOptions, report: @escaping @Sendable (TransferProgress) -> Void
    ) async throws -> LocalDelivery {
        journal.note("pull \(model.id)")
        let steps = state.withLock { state -> [Step] in
            state.options.append(options)
            guard state.scripts[model.id]?.isEmpty == false else { return [] }
            return state.scripts[model.id]?.removeFirst() ?? []
        }
        do {
            for step in steps {
                switch step {
                case .report(let reading): report(reading)
                case .sleep(let duration):
                    try await clock.sleep(until: clock.now.advanced(by: duration), tolerance: nil)
                case .wait(let barrier): try await barrier.pass()
                case .fail(let error): throw error
                case .arriveWhenCancelled:
                    do { try await Barrier().pass() } catch is CancellationError { return arrive(model) }
                }
            }
            try Task.checkCancellation()
        } catch {
            journal.note("\(error is CancellationError ? "left" : "failed") \(model.id)")
            throw error
        }
        return arrive(model)
    }

    private func arrive(_ model: ModelInfo) -> LocalDelivery {
        journal.note("arrived \(model.id)")
        state.withLock { $0.local[model.id] = LocalModel(model) }
        return Models.arrived(model)
    }

    func unfinishedDownloads() async throws -> [ModelInfo] { state.withLock { $0.unfinished } }

    func discardDownload(of model: ModelInfo) async throws {
        journal.note("discard \(model.id)")
        state.withLock { $0.discarded.append(model.identity) }
    }

    func remove(_ model: ModelInfo) async throws {
        journal.note("remove \(model.id)")
        let (problem, barrier) = state.withLock { ($0.removalProblem, $0.removalBarrier) }
        try await barrier?.pass()
        if let problem { throw problem }
        state.withLock { $0.local[model.id] = nil }
    }

    func rollBack(_ family: Family) async throws { journal.note("rollBack \(family)") }

    func changes() async -> AsyncStream<LibraryChange> { stream }
}

/// A loader that follows a script.
@MainActor @Observable final class ScriptedLoader: ModelLoading {
    enum Step: Sendable {
        case wait(Barrier)
        case fail(any Error)
    }

    private let journal: Journal
    private var scripts: [Family: [[Step]]] = [:]
    private(set) var loaded: [ModelRole: Family]
    private(set) var loading: Family?
    /// The most loads at a time.
    private(set) var maximumAtATime = 0
    private var underWay = 0

    init(journal: Journal = Journal(), loaded: [ModelRole: Family] = [:]) {
        self.journal = journal
        self.loaded = loaded
    }

    func script(_ model: ModelInfo, _ scripts: [Step]...) { self.scripts[model.id] = scripts }

    func load(_ model: ModelInfo) async throws {
        journal.note("load \(model.id)")
        underWay += 1
        maximumAtATime = max(maximumAtATime, underWay)
        loading = model.id
        defer {
            underWay -= 1
            loading = nil
        }
        let steps = scripts[model.id]?.isEmpty == false ? scripts[model.id]?.removeFirst() ?? [] : []
        for step in steps {
            switch step {
            case .wait(let barrier): try await barrier.pass()
            case .fail(let error): throw error
            }
        }
        try Task.checkCancellation()
        loaded[model.role] = model.id
        journal.note("loaded \(model.id)")
    }

    func loadBeside(_ model: ModelInfo) async throws { try await load(model) }

    func unload(_ family: Family) {
        journal.note("unload \(family)")
        loaded = loaded.filter { $0.value != family }
    }
}

/// A setting in memory.
final class MemorySetting: Sendable {
    private let value: Locked<String?>
    private let problem = Locked<(any Error)?>(nil)

    init(_ value: String? = nil) { self.value = Locked(value) }

    var text: String? { value.withLock { $0 } }

    func fail(_ error: (any Error)?) { problem.withLock { $0 = error } }

    var setting: DefaultModelSetting {
        DefaultModelSetting {
            self.text
        } save: { text in
            let problem = self.problem.withLock { $0 }
            if let problem { throw problem }
            self.value.withLock { $0 = text }
        }
    }
}

/// Readings in short.
extension TransferProgress {
    static func progress(_ part: Double) -> Self {
        TransferProgress(state: .downloading, completedBytes: UInt64(part * 1000), totalBytes: 1000)
    }

    static func hold(_ hold: DownloadHold) -> Self {
        TransferProgress(state: .waiting(hold), completedBytes: 500, totalBytes: 1000)
    }

    /// A connection that nothing is known of.
    static let release = TransferProgress(state: .connecting, completedBytes: 500, totalBytes: nil)
    static let received = TransferProgress(state: .verifying, completedBytes: 1000, totalBytes: 1000)
    static let mismatch = TransferProgress(
        state: .retrying(attempt: 2, limit: 3), completedBytes: 1000, totalBytes: 1000)
}
