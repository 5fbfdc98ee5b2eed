import HearthBase
import HearthDelivery
import HearthInference

/// Opens engines for releases, and keeps their files where they are for as long as an engine may read them.
final class EngineFiles: Sendable {
    private let manager: ModelManager
    private let open: @Sendable (ReleaseFiles) async throws -> any InferenceEngine
    private let leases = Locked<[ReleaseIdentity: ReleaseLease]>([:])
    /// Loads and answers of installed releases, with what is made for them: what counts as a crash if the program ends in it.
    private let work = WorkUnderWay()

    init(manager: ModelManager, open: @escaping @Sendable (ReleaseFiles) async throws -> any InferenceEngine) {
        self.manager = manager
        self.open = open
    }

    /// The engine of an installed release.
    func load(_ identity: ReleaseIdentity) async throws -> LoadedEngine<any InferenceEngine> {
        // Taken before the files are looked at, and held until the engine is gone.
        let lease = try await manager.store.lease(identity)
        guard let release = try await manager.store.installed(identity) else {
            throw StoreError(
                .notInstalled, "\(identity) is not installed", context: ErrorContext(model: identity.description))
        }
        let (weights, engine) = try await work.perform { [manager, open] in
            // What was prepared for this device, where there is something; it may be made now, for minutes.
            let weights = try await manager.weightsToOpen(of: release, under: lease)
            let files = ReleaseFiles(opening: weights, of: release)
            await ModelPageCacheWarmer.hint(file: files.weights, below: manager.store.layout.home)
            return (weights, try await manager.store.guarding(identity, .load) { try await open(files) })
        }
        leases.withLock { $0[identity] = lease }
        let watched = WatchedEngine(engine, of: identity, in: manager, answers: work)
        return LoadedEngine(watched, bytes: await manager.memoryEstimate(of: .downloaded(release), opening: weights))
    }

    /// The engine of a release that came with the app, which nobody removes.
    func load(_ release: BundledRelease) async throws -> LoadedEngine<any InferenceEngine> {
        let checked = try await manager.checked(release)
        guard let files = ReleaseFiles(checked) else {
            throw StoreError(
                .releaseDamaged, "\(release.identity) holds no weights",
                context: ErrorContext(model: release.identity.description))
        }
        return LoadedEngine(try await open(files), bytes: await manager.memoryEstimate(of: .bundled(release)))
    }

    /// Stops the loads and answers of installed releases and the updates that came behind, and begins no other.
    func stop(within limit: Duration, _ time: TimeSource) async {
        let updates = Task { [manager] in await manager.stopBackgroundUpdates() }
        await work.stop(within: limit, time, "a load, an answer or an update", besides: updates)
    }

    /// The engine of a release is gone.
    func unloaded(_ identity: ReleaseIdentity) { leases.withLock { $0.removeValue(forKey: identity) }?.release() }
}

extension ModelManager {
    /// About what the engine of a model takes in memory, in bytes: the files it opens, what was prepared in place of those it was
    /// made from, and an eighth for the context and the engine itself.
    /// - Parameter weights: what `weightsToOpen` gave; `nil` before it was asked.
    func memoryEstimate(of model: ModelAvailability, opening weights: Path? = nil) async -> UInt64 {
        let size: UInt64 =
            switch model {
            case .none: 0
            case .bundled(let release): release.release.totalSize
            case .downloaded(let release): await openedSize(of: release, opening: weights)
            }
        return size > .max / 2 ? .max / 2 : size + size / 8
    }
}
