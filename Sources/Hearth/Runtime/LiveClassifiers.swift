import HearthBase
import HearthCatalog
import HearthClassification
import HearthDelivery
import HearthStore
import HearthTransfer

/// The classifiers of an app by family: each follows the live release of its family.
///
/// A new live release is loaded beside the old one and takes its place; if it cannot be loaded, the old one stays.
final class LiveClassifiers: Sendable {
    private final class Line: Sendable {
        let proxy = ClassifierProxy()
        /// Loads and exchanges of the family: one at a time.
        let turn = TurnQueue()
        let loaded = Locked<ReleaseIdentity?>(nil)
        /// Its number in the ledger of memory, in which engines count from 1.
        let number: UInt64

        init(number: UInt64) { self.number = number }
    }

    private let manager: ModelManager
    /// The program of workers; `nil` for this process.
    private let worker: Path?
    /// The ledger of all engines of the process: classifiers in memory count too.
    private let memory: EngineMemory
    private let lines = Locked<[Family: Line]>([:])
    private let registration: Locked<Task<Void, Never>?>

    init(manager: ModelManager, worker: Path?, memory: EngineMemory) {
        self.manager = manager
        self.worker = worker
        self.memory = memory
        registration = Locked(nil)
        registration.withLock { registration in
            registration = Task { [weak self] in
                await manager.onActivation { [weak self] in try await self?.becameLive($0) }
            }
        }
    }

    /// The classifier of a family, loaded.
    /// - Throws: as `ModelManager.model`; ``ClassificationError``.
    func proxy(
        _ family: Family, policy: ModelPolicy, options: PullOptions,
        progress: @escaping @Sendable (TransferProgress) -> Void
    ) async throws -> ClassifierProxy {
        await registration.withLock { $0 }?.value
        _ = try await manager.model(family, policy: policy, options: options, progress: progress)
        let line = lines.withLock { lines in
            let line = lines[family] ?? Line(number: .max - UInt64(lines.count))
            lines[family] = line
            return line
        }
        try await follow(line, family)
        return line.proxy
    }

    /// Called when a release becomes live, before that is announced.
    private func becameLive(_ model: ModelAvailability) async throws {
        guard let family = model.identity?.family, let line = lines.withLock({ $0[family] }) else { return }
        try await follow(line, family)
    }

    /// Makes the live release the classifier of its family.
    private func follow(_ line: Line, _ family: Family) async throws {
        try await line.turn.turnUnlessCancelled {
            // Read here and not before the turn: another release may have become live meanwhile.
            let live = try await manager.availability(of: family)
            guard let identity = live.identity, line.loaded.withLock({ $0 }) != identity else { return }
            await line.proxy.update(try await load(live, family))
            line.loaded.withLock { $0 = identity }
            memory.set(await manager.memoryEstimate(of: live), of: line.number)
        }
    }

    private func load(_ model: ModelAvailability, _ family: Family) async throws -> any ImageClassifier {
        switch model {
        case .downloaded(let release):
            // No process removes the files while they are read; the classifier keeps none open.
            let lease = try await manager.store.lease(release.identity)
            defer { lease.release() }
            let files = ClassifierFiles(release, weights: try release.requireWeights())
            return try await WorkerClassifier.load(files, program: worker)
        case .bundled(let release):
            guard let files = ClassifierFiles(try await manager.checked(release)) else { break }
            return try await WorkerClassifier.load(files, program: worker)
        case .none: break
        }
        throw StoreError(
            .notInstalled, "\(family) has no classifier on this device", context: ErrorContext(model: family.name))
    }
}
