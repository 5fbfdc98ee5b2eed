import HearthBase
import HearthCatalog
import HearthDelivery
import HearthInference
import HearthStore

/// Opens engines for releases and leases their files while an engine may read them.
final class EngineFiles: Sendable {
    private let manager: ModelManager
    private let open: @Sendable (ReleaseFiles) async throws -> any InferenceEngine
    private let leases = Locked<[ReleaseIdentity: ReleaseLease]>([:])
    /// Loads, answers and artifact builds of installed releases. One that is cut short counts as a crash.
    private let work = WorkUnderWay()

    init(manager: ModelManager, open: @escaping @Sendable (ReleaseFiles) async throws -> any InferenceEngine) {
        self.manager = manager
        self.open = open
    }

    /// Loads the engine of an installed release.
    func load(_ identity: ReleaseIdentity) async throws -> LoadedEngine<any InferenceEngine> {
        // Leased before its files are read, until the engine is unloaded.
        let lease = try await manager.store.lease(identity)
        guard let release = try await manager.store.installed(identity) else {
            throw StoreError(
                .notInstalled, "\(identity) is not installed", context: ErrorContext(model: identity.description))
        }
        let (weights, engine) = try await work.perform { [manager, open] in
            // Building an artifact may take minutes.
            let weights = try await manager.weightsToOpen(of: release, under: lease)
            let files = ReleaseFiles(opening: weights, of: release)
            await ModelPageCacheWarmer.hint(file: files.weights, below: manager.store.layout.home)
            return (weights, try await manager.store.guarding(identity, .load) { try await open(files) })
        }
        leases.withLock { $0[identity] = lease }
        let watched = WatchedEngine(engine, of: identity, in: manager, answers: work)
        return LoadedEngine(watched, bytes: await manager.memoryEstimate(of: .downloaded(release), opening: weights))
    }

    /// Loads the engine of a bundled release, whose files are never removed.
    func load(_ release: BundledRelease) async throws -> LoadedEngine<any InferenceEngine> {
        let checked = try await manager.checked(release)
        guard let files = ReleaseFiles(checked) else {
            throw StoreError(
                .releaseDamaged, "\(release.identity) holds no weights",
                context: ErrorContext(model: release.identity.description))
        }
        return LoadedEngine(try await open(files), bytes: await manager.memoryEstimate(of: .bundled(release)))
    }

    /// Stops loads and answers of installed releases and background updates; no other starts.
    func stop(within limit: Duration, _ time: TimeSource) async {
        let updates = Task { [manager] in await manager.stopBackgroundUpdates() }
        await work.stop(within: limit, time, "a load, an answer or an update", besides: updates)
    }

    /// Ends the lease on an unloaded release's files.
    func unloaded(_ identity: ReleaseIdentity) { leases.withLock { $0.removeValue(forKey: identity) }?.release() }
}

extension ModelManager {
    /// Estimates the memory of a model's engine in bytes: the files it opens, with an artifact instead of the
    /// weights, and an eighth for the context and the engine itself.
    /// - Parameter weights: the result of `weightsToOpen`, `nil` before that call.
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
