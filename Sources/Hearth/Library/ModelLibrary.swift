import HearthBase
import HearthDelivery
import Observation

/// The models an app offers and has: what a list of models shows, and what its buttons do.
///
/// For a SwiftUI view, a web page and a terminal alike: every property can be observed. Downloads run side by side, one for
/// each model, and go on without anybody watching; when the library goes away they end, and keep what has come. All
/// decisions are ``LibraryState``'s; this class carries them out.
///
/// ```swift
/// let library = ModelLibrary(delivery: manager, defaultModel: .configuration(home: home))
/// await library.refresh()
/// for row in library.rows { print(row.model.displayName, row.model.sizeText, row.state) }
/// try library.download(row.id)
/// ```
@MainActor @Observable public final class ModelLibrary {
    /// One row for each model, in a lasting order.
    public private(set) var rows: [LibraryRow] = []
    /// The model that is used, `nil` while there is none.
    public private(set) var selectedModel: ModelInfo?
    /// The model of the settings, as the user wrote it: `family[@version][:variant]`.
    public private(set) var defaultModel: String?
    /// Whether what there is is being looked up.
    public private(set) var isRefreshing = false
    /// Why the sources could not be asked; what is here works all the same.
    public private(set) var offerProblem: DownloadFailure?
    /// The sources that did not answer: what they offer is what their last good lists say.
    public private(set) var keptLists: [KeptList] = []
    /// Why what is here, or the settings, could not be read.
    public private(set) var homeProblem: DownloadFailure?

    /// What to do on a network whose bytes cost money, for downloads begun from now on. Those that are refused there fail with
    /// `metered-network`: an app that may ask the person does, sets ``MeteredUse/allow`` and begins again.
    public var metered = MeteredUse.deny

    @ObservationIgnored private var state: LibraryState
    @ObservationIgnored private let delivery: any ModelDelivering
    @ObservationIgnored private let work: LibraryWork
    @ObservationIgnored private let setting: DefaultModelSetting
    @ObservationIgnored private var listeners: [Family: [@MainActor (Ending) -> Void]] = [:]
    @ObservationIgnored private var refreshes = 0
    @ObservationIgnored private var hasAskedSources = false
    @ObservationIgnored private var localChanges: UInt64 = 0
    @ObservationIgnored private var watching: CancellingTask?

    /// How a download ended.
    public enum Ending: Sendable, Hashable {
        case completed
        case failed(DownloadFailure)
        case cancelled
    }

    /// A library over a delivery. It is empty until the first ``refresh()`` or ``refreshLocal()``.
    /// - Parameters:
    ///   - delivery: the `ModelManager`, in an app.
    ///   - defaultModel: where the model for the next start is kept.
    ///   - recommended: what the app recommends; unless given, the text model that needs the most memory of those that fit.
    public init(delivery: any ModelDelivering, defaultModel: DefaultModelSetting, recommended: Family? = nil) {
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
                    // An app may be used without a network on purpose.
                    case .objections: break
                    }
                }
            })
    }

    // MARK: What there is

    /// The row of a model, `nil` for one that is neither here nor on offer.
    public func row(of family: Family) -> LibraryRow? { rows.first { $0.id == family } }

    /// The life of a model's download; `idle` for a model without one.
    public func downloadState(of family: Family) -> DownloadState { row(of: family)?.download.state ?? .idle }

    /// Whether a model for that purpose is on the device. What needs one is off otherwise; everything else works.
    public func hasModel(for role: ModelRole) -> Bool {
        // The property, not the state behind it: whoever asks is told when the answer changes.
        _ = rows
        return state.hasModel(for: role)
    }

    /// Looks up what is here, then asks the sources. Offline, what is here stays listed and ``offerProblem`` says why there
    /// is no more.
    /// - Parameter wish: ``ListingWish/now`` asks them even where their last answer is still good.
    public func refresh(_ wish: ListingWish = .asPublished) async {
        await refreshLocal()
        await refreshOffers(wish)
    }

    /// Asks the sources alone.
    public func refreshOffers(_ wish: ListingWish = .asPublished) async {
        refreshes += 1
        hasAskedSources = true
        isRefreshing = true
        defer {
            refreshes -= 1
            isRefreshing = refreshes > 0
        }
        do {
            let offered = try await delivery.offeredModels(wish)
            state.list(
                offered: offered.models, noUpdates: offered.noUpdates, isComplete: offered.problem == nil)
            offerProblem = offered.problem.map { LibraryFailure.shown($0) }
            keptLists = offered.kept
        } catch is CancellationError {
        } catch {
            offerProblem = LibraryFailure.shown(error)
            keptLists = []
        }
        publish()
    }

    /// Looks up what is here and what the settings say, without touching the network.
    public func refreshLocal() async {
        do {
            state.setDefault(try await setting.load())
            while true {
                let before = localChanges
                let models = try await delivery.localModels()
                // A list that was made before something came or went says nothing any more.
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

    // MARK: Choosing

    /// Makes a model that is here the one that is used, until the app ends.
    /// - Throws: ``ModelLibraryError`` with `model-not-found`.
    public func select(_ family: Family) throws {
        let isThere = state.select(family)
        publish()
        guard isThere else { throw ModelLibraryError.modelNotFound(row(of: family)?.model.displayName ?? family.name) }
    }

    /// Makes a model the one for every start to come, and selects it if it is here; `nil` forgets the setting.
    /// - Throws: ``ConfigurationError``, `FileError`; then nothing has changed.
    public func setDefaultModel(_ family: Family?) async throws {
        try await setting.save(family?.name)
        state.setDefault(family?.name)
        if let family { _ = state.select(family) }
        publish()
    }

    /// Does what a tap on a model means: fetches it, or selects it; nothing while it is on its way.
    /// - Throws: as ``download(_:)`` and ``select(_:)``.
    public func performPrimaryAction(_ family: Family) throws {
        switch row(of: family)?.primaryAction {
        case .download: try download(family)
        case .select: try select(family)
        case nil: break
        }
    }

    // MARK: Fetching

    /// Begins to bring a model over, or its update. One that is on its way already goes on.
    /// - Throws: ``ModelLibraryError`` with `model-not-found`, `insufficient-memory`.
    public func download(_ family: Family) throws {
        guard let model = row(of: family)?.model else { throw ModelLibraryError.modelNotFound(family.name) }
        try download(model)
    }

    /// Begins to bring a model over that need not be listed; of one that is, the release listed.
    /// - Parameter onEnd: called once, when the download has ended, also one that was under way already.
    /// - Throws: ``ModelLibraryError`` with `insufficient-memory`; ``DeliveryError`` with `app-too-old`; `LLMError` with
    ///   `engine-missing`.
    public func download(_ model: ModelInfo, onEnd: @escaping @MainActor (Ending) -> Void = { _ in }) throws {
        let model = row(of: model.id)?.model ?? model
        let effects = state.download(model)
        publish()
        for case .refuse(let reason) in effects { throw reason.failure }
        listeners[model.id, default: []].append(onEnd)
        carryOut(effects, model)
    }

    /// Ends a model's download and throws away what has come; after a failure, throws away what that has kept.
    public func cancelDownload(_ family: Family) {
        guard let row = row(of: family) else { return }
        let effects = state.take(.cancel, of: family)
        publish()
        carryOut(effects, row.wanted ?? row.model)
    }

    /// Forgets how a model's last download ended; what a failure has kept stays for the next one.
    public func reset(_ family: Family) {
        state.take(.reset, of: family)
        publish()
    }

    /// Takes a model off the device, with everything that belongs to it; ends its download first. A model that is being
    /// deleted, or is not here, is left alone.
    /// - Throws: what the store throws; then the model is still here.
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

    /// Ends the downloads under way as the end of the program would: what has come is kept, and the next download goes on from
    /// there. Their rows have failed with ``DownloadFailure/interrupted`` then, and whoever waits for them is told.
    /// Returns once what has come is recorded and removals are complete. The library can be used on.
    public func close() async {
        let ended = work.end()
        for family in ended { state.take(.failed(.interrupted), of: family) }
        publish()
        // All of them first: one that is told may begin another's download anew, and waits for that.
        for listener in ended.flatMap({ listeners.removeValue(forKey: $0) ?? [] }) { listener(.failed(.interrupted)) }
        await work.finish()
    }

    // MARK: Carrying out

    private func carryOut(_ effects: [LibraryRowEffect], _ model: ModelInfo) {
        for effect in effects {
            switch effect {
            case .fetch:
                let family = model.id
                work.fetch(model, metered: metered) { [weak self] report in
                    switch report {
                    case .event(let event): self?.state.take(.report(event), of: family)
                    case .reading(let reading): self?.state.take(.reading(reading), of: family)
                    }
                    self?.publish()
                } end: { [weak self] result in
                    self?.end(model, result)
                }
            case .stop:
                work.stop(model.id)
                tell(.cancelled, model.id)
            case .discard:
                // It may have arrived before it heard that nobody wants it.
                work.discard(model) { [weak self] in await self?.refreshLocal() }
            case .remove, .refuse: break  // whoever asked does it, and is told
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
        case .failure(let error as TransferControlError) where error.code == .cancelled:
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
        // Whoever watches is told of changes, not of readings that say the same.
        if rows != state.rows { rows = state.rows }
        selectedModel = state.selectedModel
        defaultModel = state.defaultModel
    }
}
