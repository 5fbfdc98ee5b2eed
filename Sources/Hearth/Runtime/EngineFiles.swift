import HearthBase
import HearthCatalog
import HearthDelivery
import HearthInference
import HearthStore
import HearthWorkers

/// Prepares sources for their engines, and claims the files of releases while an engine may read them.
final class EngineFiles: Sendable {
    private let manager: ModelManager
    private let engines: EngineRegistry
    private let configuration: Configuration
    private let memory: EngineMemory
    /// Bundled releases, which are used in place.
    let bundled = Locked<[ReleaseIdentity: BundledRelease]>([:])
    /// Loads, answers and artifact builds of installed releases. One that is cut short counts as a crash.
    private let work = WorkUnderWay()
    private let deaths = ReleaseDeaths()

    init(manager: ModelManager, engines: EngineRegistry, configuration: Configuration, memory: EngineMemory) {
        self.manager = manager
        self.engines = engines
        self.configuration = configuration
        self.memory = memory
    }

    /// Finds the files of a source.
    func prepare(_ source: EngineSource) async throws -> PreparedEngine {
        switch source {
        case .files(let files): return engine(of: files, estimate: await manager.memoryEstimate(of: files))
        case .release(let identity):
            guard let release = bundled.withLock({ $0[identity] }) else { return try await prepare(identity) }
            // The files of a bundled release are never removed.
            guard let files = ReleaseFiles(try await manager.checked(release)) else {
                throw StoreError(
                    .releaseDamaged, "\(identity) holds no weights", context: ErrorContext(model: identity.description))
            }
            return engine(of: files, identity.family, estimate: await manager.memoryEstimate(of: .bundled(release)))
        }
    }

    private func prepare(_ identity: ReleaseIdentity) async throws -> PreparedEngine {
        // Leased before its files are read, until the engine is unloaded.
        let lease = try await manager.store.lease(identity)
        do {
            guard let release = try await manager.store.installed(identity) else {
                throw StoreError(
                    .notInstalled, "\(identity) is not installed", context: ErrorContext(model: identity.description))
            }
            // Building an artifact may take minutes.
            let weights = try await work.perform { [manager] in
                try await manager.weightsToOpen(of: release, under: lease)
            }
            let files = ReleaseFiles(opening: weights, of: release)
            await ModelPageCacheWarmer.hint(file: files.weights, below: manager.store.layout.home)
            let estimate = await manager.memoryEstimate(of: .downloaded(release), opening: weights)
            let plain = engine(of: files, identity.family, estimate: estimate)
            return released(plain, release, lease)
        } catch {
            lease.release()
            throw error
        }
    }

    /// The engine of an installed release: deaths are counted, and the claim on its files ends with it.
    private func released(
        _ engine: PreparedEngine, _ release: InstalledRelease, _ lease: ReleaseLease, isWidened: Bool = false
    ) -> PreparedEngine {
        let identity = release.identity
        let hasWorkers = engines.workerProgram != nil
        let deaths = hasWorkers ? deaths : nil
        var prepared = engine
        prepared.open = { [manager, work] occupied, progress in
            do {
                let opened = try await work.perform {
                    try await manager.store.guarding(identity, .load, marks: !hasWorkers) {
                        try await engine.open(occupied, progress)
                    }
                }
                return WatchedEngine(
                    engine: opened, manager: manager, release: identity, answers: work, deaths: deaths)
            } catch let error as LLMError where error.isOwnDeath {
                // A release is not to blame for the length of a prompt.
                if !isWidened { await deaths?.died(identity, .load, manager) }
                throw error
            }
        }
        prepared.isVision = engine.isVision || release.receipt.role == .vision
        prepared.close = { lease.release() }
        if let widened = engine.widened {
            prepared.widened = { [self] window, isPlain in
                released(widened(window, isPlain), release, lease, isWidened: true)
            }
        }
        return prepared
    }

    /// - Parameters:
    ///   - estimate: the engine's memory in bytes if its format has no memory plan.
    ///   - window: the context window in place of the configured one.
    ///   - isPlain: whether the cache has 16 bits unless another one is configured.
    private func engine(
        of files: ReleaseFiles, _ family: Family? = nil, estimate: UInt64, window: Int? = nil, isPlain: Bool = false
    ) -> PreparedEngine {
        var configuration = configuration.engine(of: family)
        let isConfigured = configuration.contextLength != nil
        configuration.contextLength = window ?? configuration.contextLength
        if isPlain { configuration.cacheType = configuration.cacheType ?? .f16 }
        var request = EngineRegistry.Request(
            files: files, configuration: configuration, deviceMemory: memory.deviceMemory)
        request.instructionStates = manager.store.layout.instructionStates
        var engine = PreparedEngine(isVision: files.projector != nil) {
            [engines, memory, configuration, request] occupied in
            try configuration.require(.engines)
            var request = request
            request.occupied = occupied
            if let planned = try engines.memory(of: request) { return planned }
            guard occupied > 0, !configuration.ignoresMemory, occupied.addingSaturating(estimate) > memory.budget else {
                return estimate
            }
            throw LLMError(
                .doesNotFit, "\(files.weights.lastComponent) does not fit beside the models in use",
                context: ErrorContext(
                    file: files.weights.string,
                    expected: "at most \(memory.budget - min(memory.budget, occupied)) bytes",
                    found: "\(estimate) bytes", remedy: "Ask again when they have answered."))
        } open: { [engines, request] occupied, progress in
            var request = request
            request.occupied = occupied
            request.progress = progress
            // Calls of tools are told from answers, also where the model writes them in its text.
            return TextToolEngine(try await engines.open(request))
        }
        if !isConfigured {
            engine.widened = { [self] window, isPlain in
                self.engine(of: files, family, estimate: estimate, window: window, isPlain: isPlain)
            }
        }
        return engine
    }

    /// Stops loads and answers of installed releases and background updates; no other starts.
    func stop(within limit: Duration, _ time: TimeSource) async {
        let updates = Task { [manager] in await manager.stopBackgroundUpdates() }
        await work.stop(within: limit, time, "a load, an answer or an update", besides: updates)
    }

    /// Waits for the unloading of engines, after ``stop(within:_:)``.
    func finish(_ unloading: Task<Void, Never>, within limit: Duration, _ time: TimeSource) async {
        await work.stop(within: limit, time, "an engine", besides: unloading)
    }
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
        return size.addingSaturating(size / 8)
    }

    /// The same for files; 0 for files that cannot be read, whose load reports the error.
    func memoryEstimate(of files: ReleaseFiles) async -> UInt64 {
        let paths = [files.weights, files.projector].compactMap(\.self)
        let sizes = try? await blocking { try paths.map { try LocalFileSystem().status(at: $0)?.size ?? 0 } }
        let size = (sizes ?? []).saturatedSum
        return size.addingSaturating(size / 8)
    }
}
