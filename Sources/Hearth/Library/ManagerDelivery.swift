import HearthBase
import HearthDelivery

extension ModelManager: ModelDelivering {
    public func localModels() async throws -> [LocalModel] {
        var models: [LocalModel] = []
        for (family, availability) in try await availabilities() {
            var model: LocalModel
            switch availability {
            case .none: continue
            case .bundled(let release): model = LocalModel(ModelInfo(release.release), presence: .bundled)
            case .downloaded(let release): model = LocalModel(ModelInfo(release), presence: .downloaded)
            }
            model.noUpdate = try await store.state(of: family).noUpdate(inUse: model.model.identity)
            models.append(model)
        }
        return models
    }

    public func offeredModels(_ wish: ListingWish) async throws -> OfferedModels {
        let found = try await offers(wish)
        return OfferedModels(
            found.offers.map { offer in
                OfferedModel(
                    ModelInfo(offer.release, reference: offer.reference), isUpdate: offer.isUpdate,
                    objection: offer.objection)
            }, noUpdates: found.stays, problem: found.problem, kept: found.kept)
    }

    public func pull(
        _ model: ModelInfo, metered: MeteredUse, report: @escaping @Sendable (DeliveryReport) -> Void
    ) async throws -> LocalDelivery {
        if let there = try await delivered(model.identity) { return there }
        var options = PullOptions()
        options.metered = metered
        let reports = Locked(DownloadReports())
        let outcome = try await pull(model.reference, options: options) { progress in
            for event in reports.withLock({ $0.events(for: progress) }) { report(.event(event)) }
            report(.reading(progress))
        }
        return try Self.delivery(outcome.release)
    }

    /// The release, if it is here already and whole; it is the one used afterwards. A damaged one is to be fetched again.
    private func delivered(_ identity: ReleaseIdentity) async throws -> LocalDelivery? {
        if case .bundled(let release) = try await availability(of: identity.family), release.identity == identity,
            let weights = release.weights
        {
            return LocalDelivery(LocalModel(ModelInfo(release.release), presence: .bundled), weights: weights)
        }
        do {
            guard let there = try await store.installed(identity) else { return nil }
            if there.isActive { return try Self.delivery(there) }
            return try Self.delivery(
                try await use(identity.family, version: identity.version, variant: identity.variant))
        } catch let error as StoreError where [.releaseDamaged, .receiptDamaged].contains(error.code) {
            return nil
        }
    }

    private static func delivery(_ release: InstalledRelease) throws -> LocalDelivery {
        guard let weights = release.weights else {
            throw StoreError(
                .releaseDamaged, "\(release.identity) holds no weights",
                context: ErrorContext(model: release.identity.description, file: release.folder.string))
        }
        return LocalDelivery(LocalModel(ModelInfo(release)), weights: weights)
    }

    public func discardDownload(of model: ModelInfo) async throws {
        for transfer in try await transfers.list() where transfer.release == model.identity && !transfer.state.isHeld {
            do {
                try await transfers.cancel(transfer.key)
            } catch let error as TransferControlError where error.code == .unknownTransfer {
                // Gone meanwhile.
            }
        }
    }

    public func remove(_ model: ModelInfo) async throws {
        try await remove(model.id)
    }

    public func changes() async -> AsyncStream<LibraryChange> {
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

extension ReleaseState {
    /// Why a family stays as it is, as far as that is known without asking anybody.
    func noUpdate(inUse: ReleaseIdentity) -> NoUpdate? {
        if let pinned { return .pinned(pinned) }
        let newer = heldBack.last { $0.release.version.isNewer(than: inUse.version) ?? false }
        return newer.map { .notEligible($0.release, .heldBack) }
    }
}

extension LibraryChange {
    /// What an event changes in a list of models.
    fileprivate static func changes(of event: ModelEvent) -> [Self] {
        switch event {
        case .installed, .activated, .removed: [.local]
        // What is held back is no offer any more.
        case .rolledBack, .heldBack: [.local, .objections]
        case .updateFound: [.offers]
        case .noUpdate, .checkFailed, .swapFailed: []
        }
    }
}

extension ModelLibrary {
    /// The library of a home folder: what its manager delivers, and the settings in its `config.json`.
    public convenience init(manager: ModelManager, home: Path, recommended: Family? = nil) {
        self.init(delivery: manager, defaultModel: .configuration(home: home), recommended: recommended)
    }
}
