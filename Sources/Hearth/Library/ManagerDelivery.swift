import HearthBase
import HearthCatalog
import HearthDelivery
import HearthHTTP
import HearthStore
import HearthTransfer

extension ModelManager {
    package func localModels() async throws -> [LocalModel] {
        var models: [LocalModel] = []
        for (family, availability) in try await availabilities() {
            var model: LocalModel
            switch availability {
            case .none: continue
            case .bundled(let release): model = LocalModel(ModelInfo(release.release), presence: .bundled)
            case .downloaded(let release):
                var info = ModelInfo(release)
                if let memory = await memory(of: release) { info.take(memory) }
                model = LocalModel(info, presence: .downloaded)
            }
            model.canRun = formats?.contains(model.model.format) ?? true
            let state = try await store.state(of: family)
            model.noUpdate = state.noUpdate(inUse: model.model.identity)
            model.previous = state.previous.flatMap { $0 == model.model.identity ? nil : $0 }
            (model.pinned, model.heldBack) = (state.pinned, state.heldBack)
            models.append(model)
        }
        return models
    }

    package func offeredModels(_ policy: CachePolicy) async throws -> OfferedModels {
        let found = try await offers(policy)
        return OfferedModels(
            models: found.offers.map { offer in
                OfferedModel(
                    ModelInfo(offer.release, reference: offer.reference), isUpdate: offer.isUpdate,
                    objection: offer.objection)
            }, noUpdates: found.stays, problem: found.problem, cachedLists: found.cachedLists, expiring: found.expiring)
    }

    package func changes() -> AsyncStream<LibraryChange> {
        let events = events()
        return AsyncStream { continuation in
            let task = Task {
                for await event in events { LibraryChange.changes(of: event).forEach { continuation.yield($0) } }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }
}

extension ListedDelivery {
    package func pull(
        _ model: ModelInfo, options allowed: DownloadOptions,
        report: @escaping @Sendable (TransferProgress) -> Void
    ) async throws -> LocalDelivery {
        if let there = try await delivered(model.identity) { return there }
        var options = PullOptions()
        options.metered = allowed.metered
        options.allowUnverified = allowed.allowsUnverified
        let outcome = try await manager.pull(model.reference, options: options, progress: report)
        return try Self.delivery(outcome.release)
    }

    /// Activates and returns the release if it is intact on this device; `nil` if it must be fetched.
    private func delivered(_ identity: ReleaseIdentity) async throws -> LocalDelivery? {
        if case .bundled(let release) = try await manager.availability(of: identity.family),
            release.identity == identity,
            let weights = release.weights
        {
            return LocalDelivery(local: LocalModel(ModelInfo(release.release), presence: .bundled), weights: weights)
        }
        do {
            // Under a content tag, the live release may have other bytes of that name.
            if let live = try await manager.store.active(identity.family), live.identity.published == identity.published
            {
                return try Self.delivery(live)
            }
            guard try await manager.store.installed(identity) != nil else { return nil }
            return try Self.delivery(try await manager.activate(identity))
        } catch let error as StoreError where [.releaseDamaged, .receiptDamaged].contains(error.code) {
            return nil
        }
    }

    private static func delivery(_ release: InstalledRelease) throws -> LocalDelivery {
        LocalDelivery(local: LocalModel(ModelInfo(release)), weights: try release.requireWeights())
    }

    package func discardDownload(of model: ModelInfo) async throws {
        for transfer in try await manager.transfers.list()
        where transfer.release == model.identity && !transfer.state.isHeld {
            do {
                try await manager.transfers.cancel(transfer.key)
            } catch let error as TransferError where error.code == .unknownTransfer {
                // Another process removed the transfer meanwhile.
            }
        }
    }

    package func unfinishedDownloads() async throws -> [ModelInfo] {
        var models: [ModelInfo] = []
        var releases: Set<ReleaseIdentity> = []
        // Paused transfers stay as the user left them; others have a process, no plan or wrong bytes.
        for transfer in try await manager.transfers.list().continuable {
            guard let plan = transfer.plan, let release = plan.release, releases.insert(release).inserted else {
                continue
            }
            do {
                let (offer, _) = try await manager.resolve(again: plan)
                models.append(ModelInfo(offer.release, reference: offer.reference))
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                Log.write(.info, "library", "the download of \(release) is not continued: \(error)")
            }
        }
        return models
    }
}

extension ReleaseState {
    /// The local reason why a family has no update: a pin, or a newer release that is held back.
    func noUpdate(inUse: ReleaseIdentity) -> NoUpdate? {
        if let pinned { return .pinned(pinned) }
        let newer = heldBack.last { $0.release.version.isNewer(than: inUse.version) ?? false }
        return newer.map { .notEligible($0.release, .heldBack) }
    }
}

extension LibraryChange {
    /// The changes to a list of models caused by an event.
    fileprivate static func changes(of event: ModelEvent) -> [Self] {
        switch event {
        case .installed, .activated, .removed: [.local]
        // Held back releases are no longer offered.
        case .rolledBack, .heldBack: [.local, .objections]
        case .updateFound: [.offers]
        case .noUpdate, .checkFailed, .swapFailed: []
        }
    }
}

extension ModelLibrary {
    /// A library of a manager's models, with the settings in the home's `config.json`.
    package convenience init(manager: ModelManager, home: Path, recommended: Family? = nil) {
        let delivery = ListedDelivery(manager) {
            try await blocking { try Configuration.load(home: home).library.models }
        }
        self.init(delivery: delivery, defaultModel: .configuration(home: home), recommended: recommended)
    }
}
