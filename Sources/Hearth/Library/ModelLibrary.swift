import HearthBase
import HearthCatalog
import HearthDelivery
import HearthHTTP
import HearthTransfer
import Observation

/// The models that an app offers and has, and the actions of a model list.
///
/// All properties are observable. Downloads of several models run in parallel and need no observer. Deinitialization
/// cancels them and keeps partial downloads. ``LibraryState`` makes all decisions.
///
/// ```swift
/// let library = hearth.library
/// await library.refresh()
/// for row in library.rows { print(row.model.displayName, row.model.sizeText, row.state) }
/// try library.download(row.id)
/// ```
@MainActor @Observable public final class ModelLibrary {
    /// One row for each model, in a stable order.
    public private(set) var rows: [LibraryRow] = []
    /// The selected model, `nil` without one.
    public private(set) var selectedModel: ModelInfo?
    /// The default model of the settings, as the user wrote it: `family[@version][:variant]`.
    public private(set) var defaultModel: String?
    /// Whether the sources are being asked for their offers.
    public private(set) var isRefreshing = false
    /// Why the sources could not be asked; installed models work all the same.
    public private(set) var offerProblem: FailureBody?
    /// The sources that did not answer; their cached lists are used instead.
    public private(set) var cachedLists: [CachedList] = []
    /// The signed sources whose signatures end soon, so that they bring no updates then.
    package private(set) var expiring: [ExpiringSignatures] = []
    /// The models that the settings list, with their references: they are shown before they were ever on the device.
    package private(set) var listed: [Family: String] = [:]
    /// Why the installed models or the settings could not be read.
    public private(set) var homeProblem: FailureBody?

    /// What to do on a metered network, for later downloads. Refused downloads fail with `metered-network`: the app
    /// may ask the user, set `MeteredUse.allow` and start again.
    public var metered = MeteredUse.deny

    /// Whether later downloads may be of models whose publisher gives no SHA-256; others are refused with
    /// `digest-missing`. Ask the user first.
    public var allowsUnverified = false

    @ObservationIgnored private var state: LibraryState
    @ObservationIgnored let delivery: any ModelDelivering
    @ObservationIgnored private let work: LibraryWork
    @ObservationIgnored private let setting: DefaultModelSetting
    @ObservationIgnored private var listeners: [Family: [@MainActor (Ending) -> Void]] = [:]
    @ObservationIgnored private var refreshes = 0
    @ObservationIgnored private var hasAskedSources = false
    @ObservationIgnored var restored = RestoredDownloads()
    @ObservationIgnored private var localChanges: UInt64 = 0
    @ObservationIgnored private var watching: CancellingTask?

    /// How a download ended.
    package enum Ending: Sendable, Hashable {
        case completed
        case failed(FailureBody)
        case cancelled
    }

    /// A library over a delivery, empty until the first ``refresh()`` or ``refreshLocal()``.
    /// - Parameters:
    ///   - delivery: in an app, the `ModelManager`.
    ///   - defaultModel: stores the model for the next start.
    ///   - recommended: the app's recommendation; by default the publisher's, else the fitting text model that needs the
    ///     most memory.
    package init(delivery: any ModelDelivering, defaultModel: DefaultModelSetting, recommended: Family? = nil) {
        self.delivery = delivery
        work = LibraryWork(delivery: delivery)
        setting = defaultModel
        state = LibraryState(recommended: recommended)
        watching = CancellingTask(
            Task { [weak self, delivery] in
                for await change in await delivery.changes() {
                    switch change {
                    case .local: await self?.refreshLocal()
                    case .offers: await self?.refreshOffers()
                    case .objections where self?.hasAskedSources == true: await self?.refreshOffers()
                    // Don't touch the network before the app asks for offers.
                    case .objections: break
                    }
                }
            })
    }

    // MARK: Models

    /// The row of a model, `nil` for one that is neither on the device nor offered.
    public func row(of family: Family) -> LibraryRow? { rows.first { $0.id == family } }

    /// The state of a model's download; `idle` without one.
    public func downloadState(of family: Family) -> DownloadState { row(of: family)?.download ?? .idle }

    /// Whether a model for that role is on the device, and an engine of this program can run it; features that need one are
    /// off otherwise.
    public func hasModel(for role: ModelRole) -> Bool {
        // Read the observable property, so that observation tracks this answer.
        _ = rows
        return state.hasModel(for: role)
    }

    /// Looks up the models on this device, then asks the sources. If that fails, ``offerProblem`` has the error.
    ///
    /// The first call also continues the downloads that an ended process left unfinished: they show their bytes, and
    /// ``cancelDownload(_:)`` discards them.
    /// - Parameter policy: `CachePolicy.now` asks even if the cached answers are still fresh.
    public func refresh(_ policy: CachePolicy = .asPublished) async {
        await refreshLocal()
        await refreshOffers(policy)
        await restoreDownloads()
    }

    /// Asks the sources only.
    public func refreshOffers(_ policy: CachePolicy = .asPublished) async {
        refreshes += 1
        hasAskedSources = true
        isRefreshing = true
        defer {
            refreshes -= 1
            isRefreshing = refreshes > 0
        }
        do {
            let offered = try await delivery.offeredModels(policy)
            state.list(
                offered: offered.models, noUpdates: offered.noUpdates, isComplete: offered.problem == nil)
            offerProblem = offered.problem.map { LibraryFailure.shown($0) }
            cachedLists = offered.cachedLists
            if expiring != offered.expiring { expiring = offered.expiring }
            if listed != offered.listed { listed = offered.listed }
        } catch is CancellationError {
        } catch {
            offerProblem = LibraryFailure.shown(error)
            cachedLists = []
        }
        publish()
    }

    /// Looks up the models on this device and reads the settings, without touching the network.
    public func refreshLocal() async {
        do {
            state.setDefault(try await setting.load())
            while true {
                let before = localChanges
                let models = try await delivery.localModels()
                // The list is outdated if a download or removal completed meanwhile.
                guard before == localChanges else { continue }
                state.list(local: models)
                break
            }
            homeProblem = nil
        } catch is CancellationError {
        } catch {
            homeProblem = LibraryFailure.shown(error)
        }
        publish()
    }

    // MARK: Selection

    /// Selects a model on the device for the rest of this run of the app.
    /// - Throws: ``ModelLibraryError`` with `model-not-found`; `LLMError` with `engine-missing`.
    public func select(_ family: Family) throws {
        try requireEngine(for: family)
        let isThere = state.select(family)
        publish()
        guard isThere else { throw ModelLibraryError.modelNotFound(row(of: family)?.model.displayName ?? family.name) }
    }

    /// Refuses an installed model that no engine of this program can run.
    private func requireEngine(for family: Family) throws {
        guard let local = row(of: family)?.local, !local.canRun else { return }
        throw Ineligibility.noEngine(local.model.format).failure
    }

    /// Saves the default model and selects it if it is on the device; `nil` removes the setting.
    /// - Throws: ``ConfigurationError``, `FileError`, or `LLMError` with `engine-missing`, and changes nothing.
    public func setDefaultModel(_ family: Family?) async throws {
        if let family { try requireEngine(for: family) }
        try await setting.save(family?.name)
        state.setDefault(family?.name)
        if let family { _ = state.select(family) }
        publish()
    }

    /// Performs the action of a tap: downloads or selects the model, or does nothing during a download.
    /// - Throws: as ``download(_:)`` and ``select(_:)``.
    public func performPrimaryAction(_ family: Family) throws {
        switch row(of: family)?.primaryAction {
        case .download: try download(family)
        case .select: try select(family)
        case nil: break
        }
    }

    // MARK: Downloads

    /// Downloads a model or its update. Does nothing if its download is already active.
    /// - Throws: `model-not-found` without a row; otherwise as ``download(_:onEnd:)``.
    public func download(_ family: Family) throws {
        guard let model = row(of: family)?.model else { throw ModelLibraryError.modelNotFound(family.name) }
        try download(model)
    }

    /// Downloads a model that need not be listed; a listed model's row determines the release.
    /// - Parameters:
    ///   - options: the user's permissions for this download; `nil` for ``metered`` alone.
    ///   - onEnd: called once when the download ends, also if it was already active.
    /// - Throws: ``ModelLibraryError`` with `not-enough-memory`, or `model-not-found` if the release is held back
    ///   or outside its rollout; `DeliveryError` with `app-too-old`; `LLMError` with `engine-missing`.
    package func download(
        _ model: ModelInfo, options: DownloadOptions? = nil, onEnd: @escaping @MainActor (Ending) -> Void = { _ in }
    ) throws {
        let model = row(of: model.id)?.model ?? model
        let effects = state.download(model)
        publish()
        for case .refuse(let reason) in effects { throw reason.failure }
        listeners[model.id, default: []].append(onEnd)
        carryOut(effects, model, options)
    }

    /// Cancels a model's download and deletes its partial download, also after a failure.
    public func cancelDownload(_ family: Family) {
        guard let row = row(of: family) else { return }
        let effects = state.take(.cancel, of: family)
        publish()
        carryOut(effects, row.wanted ?? row.model)
    }

    /// Clears the result of a model's last download; the next download reuses a partial one.
    public func reset(_ family: Family) {
        state.take(.reset, of: family)
        publish()
    }

    /// Deletes a model from the device with all its files, after cancelling its download. Does nothing for a model
    /// that is being deleted or not on the device.
    /// - Throws: the store's errors; the model is still on the device then.
    public func delete(_ family: Family) async throws {
        guard let row = row(of: family) else { return }
        let model = row.local?.model ?? row.model
        let effects = state.take(.delete, of: family)
        publish()
        carryOut(effects, row.wanted ?? row.model)
        guard effects.contains(.remove) else { return }
        do {
            try await work.remove(model)
            localChanges += 1
            state.take(.deleted(true), of: family)
            publish()
        } catch {
            state.take(.deleted(false), of: family)
            publish()
            throw LibraryFailure.presented(error, model: model)
        }
    }

    /// Makes the release of a model before the present one live again, and holds the present one back.
    /// - Throws: the store's errors; the present release stays live then.
    public func rollBack(_ family: Family) async throws {
        do {
            try await delivery.rollBack(family)
        } catch {
            throw LibraryFailure.presented(error, model: row(of: family)?.local?.model)
        }
        await refreshLocal()
    }

    /// Cancels active downloads, as the end of the program would, and keeps partial downloads for the next attempt.
    /// Their rows and `onEnd` closures get `FailureBody.interrupted`. Returns when partial downloads are
    /// recorded and removals have ended. The library stays usable.
    public func close() async {
        let ended = work.end()
        for family in ended { state.take(.failed(.interrupted), of: family) }
        publish()
        // Take all listeners before calling one: a listener may start another download and wait for it.
        for listener in ended.flatMap({ listeners.removeValue(forKey: $0) ?? [] }) { listener(.failed(.interrupted)) }
        await work.finish()
    }

    // MARK: Effects

    private func carryOut(
        _ effects: [LibraryRowEffect], _ model: ModelInfo, _ options: DownloadOptions? = nil
    ) {
        let options = options ?? DownloadOptions(metered: metered, allowsUnverified: allowsUnverified)
        for effect in effects {
            switch effect {
            case .fetch:
                let family = model.id
                work.fetch(model, options: options) { [weak self] reading in
                    self?.state.take(.reading(reading), of: family)
                    self?.publish()
                } end: { [weak self] result in
                    self?.end(model, result)
                }
            case .stop:
                work.stop(model.id)
                tell(.cancelled, model.id)
            case .discard:
                // The download may have completed before it was cancelled.
                work.discard(model) { [weak self] in await self?.refreshLocal() }
            case .remove, .refuse: break  // the caller throws or removes
            }
        }
    }

    private func end(_ model: ModelInfo, _ result: Result<LocalDelivery, any Error>) {
        let ending: Ending
        switch result {
        case .success(let delivery):
            localChanges += 1
            state.take(.arrived(delivery), of: model.id)
            ending = .completed
        case .failure(let error as TransferError) where error.code == .cancelled:
            state.take(.cancelledElsewhere, of: model.id)
            ending = .cancelled
        case .failure(let error):
            let failure = LibraryFailure.shown(error, model: model)
            state.take(.failed(failure), of: model.id)
            ending = .failed(failure)
        }
        publish()
        tell(ending, model.id)
    }

    private func tell(_ ending: Ending, _ family: Family) {
        for listener in listeners.removeValue(forKey: family) ?? [] { listener(ending) }
    }

    private func publish() {
        // Assign only changes, so that observers are not notified of equal rows.
        if rows != state.rows { rows = state.rows }
        selectedModel = state.selectedModel
        defaultModel = state.defaultModel
    }
}
