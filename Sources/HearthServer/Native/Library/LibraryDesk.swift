import Hearth
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthInference
import HearthStore
import HearthTransfer
import Observation

/// The library of the page: follows the view models of the library and of the downloads, and tells clients what changed.
@MainActor final class LibraryDesk {
    /// The models of the present settings.
    private(set) var hearth: Hearth
    let log: EventLog
    let time: TimeSource
    /// The transfers of all processes, as they were last.
    private(set) var transfers: [TransferSummary] = []
    /// The models of the catalog, and whether they are being read for the first time.
    private(set) var suggested: [SuggestedModel] = []
    private var isReadingCatalog = false
    /// The saved vision model and the models that the settings list.
    private var saved = SavedModels()
    private var told: (rows: [RowForm], library: LibraryBody?, activation: ActivationBody?) = ([], nil, nil)
    private var publishing: Task<Void, Never>?
    private var lastTold: Stopwatch?
    /// What the models can that were loaded, by family.
    private var abilities: [String: EngineCapabilities] = [:]
    /// Whether the sources were asked for their models.
    private var hasAsked = false

    /// The least time between two events of one row.
    private static let pace = Duration.milliseconds(100)

    init(_ hearth: Hearth, log: EventLog, time: TimeSource) {
        self.hearth = hearth
        self.log = log
        self.time = time
        observe()
    }

    var library: ModelLibrary { hearth.library }
    /// The view model of loads, once something was loaded for the page: its first use loads the selected model.
    private var shownDownloads: ModelDownloadViewModel?

    /// Goes on with the models of other settings. Downloads under way continue in the new library.
    func use(_ next: Hearth) async {
        let old = hearth
        hearth = next
        shownDownloads = nil
        observe()
        await old.library.close()
        await next.library.refreshLocal()
        await tell()
        // A source that does not answer keeps nothing waiting.
        hasAsked = false
        askSources()
    }

    /// Asks the sources once, in the background, when the first page comes.
    func askSources() {
        guard !hasAsked else { return }
        hasAsked = true
        isReadingCatalog = true
        Task {
            await readCatalog()
            isReadingCatalog = false
            await tell()
            await library.refresh()
            await tell()
        }
    }

    /// Reads the catalog; one that cannot be read leaves the models before.
    func readCatalog(_ policy: CachePolicy = .asPublished) async {
        do {
            suggested = try await hearth.manager.suggestions(policy).models
        } catch {
            Log.write(.info, "native", "the catalog is not read", [.error(error)])
        }
    }

    // MARK: Reading

    /// The rows as clients see them.
    ///
    /// Models of the catalog follow those of the library, and then models that only an unfinished transfer names.
    var rows: [RowForm] {
        let own = library.rows.map { form(of: $0) }
        let hasRecommended = own.contains { $0.badges.contains(ModelBadge.recommended.rawValue) }
        var known = Set(own.map(\.id))
        let offered = suggested.filter { known.insert($0.model.family.name).inserted }
            .map { form(of: $0, isRecommended: $0.isRecommended && !hasRecommended) }
        let others = transfers.filter { $0.release.map { known.insert($0.family.name).inserted } ?? false }
            .compactMap { LibraryRow($0) }.map { form(of: $0) }
        return own + offered + others
    }

    /// A row as clients see it.
    func form(of row: LibraryRow) -> RowForm {
        var form = RowForm(
            row, transfer: transfer(of: row.id), isLoaded: isLoaded(row.id),
            isListed: library.listed[row.id] != nil, isDefaultVision: saved.visionFamily == row.id)
        // A family that an origin offers comes from there, and is another model.
        if let found = suggestion(of: row.id), row.offer == nil || row.model.reference.isOfHub {
            form.describe(as: found)
        }
        return form
    }

    private func form(of suggested: SuggestedModel, isRecommended: Bool) -> RowForm {
        RowForm(suggested, transfer: transfer(of: suggested.model.family), isRecommended: isRecommended)
    }

    /// The model of the catalog with a short name.
    func suggestion(of family: Family) -> SuggestedModel? { suggested.first { $0.model.family == family } }

    /// An unfinished transfer of a model: one that a process works on comes first.
    func transfer(of family: Family) -> TransferSummary? {
        let all = transfers.filter { $0.release?.family == family }
        return all.first { $0.state.isHeld } ?? all.first
    }

    /// The models that can answer questions now.
    var choices: [ModelChoice] {
        let names = names
        return library.rows.filter { $0.canRun && $0.model.role == .text }
            .map { ModelChoice(id: $0.id.name, name: names[$0.id.name] ?? $0.model.displayName) }
    }

    /// The names of the models by family; those of one name with their families.
    var names: [String: String] {
        let rows = library.rows
        let counts = Dictionary(rows.map { ($0.model.displayName, 1) }, uniquingKeysWith: +)
        return Dictionary(
            rows.map { row in
                let name = row.model.displayName
                return (row.id.name, counts[name, default: 1] > 1 ? "\(name) (\(row.id.name))" : name)
            }, uniquingKeysWith: { first, _ in first })
    }

    var canSee: Bool { library.hasModel(for: .vision) }

    /// What a model can, once it was loaded; `nil` before.
    func capabilities(of family: String) async -> EngineCapabilities? {
        guard let family = Family(family) else { return nil }
        let name = family.name
        guard isLoaded(family) else { return abilities[name] }
        // A model that was removed meanwhile can nothing.
        let found = try? await hearth.find(.family(family, version: nil, variant: nil), policy: .localOnly).capabilities
        if let found { abilities[name] = found }
        return found
    }

    /// The family of the model that answers when a conversation names none; `nil` if none is chosen.
    var inUse: String? { library.selectedModel?.id.name }

    private func isLoaded(_ family: Family) -> Bool {
        hearth.models.pool.loaded.contains { $0.release?.family == family }
    }

    /// Counts tokens with the selected model, if it is in memory; otherwise `nil`.
    func tokens(in text: String) async -> Int? {
        guard let family = library.selectedModel?.id, isLoaded(family) else { return nil }
        // An engine that counts nothing is estimated.
        return try? await hearth.models.model(family, policy: .localOnly).tokens?.count(text)
    }

    func body(of family: Family) -> RowForm? { rows.first { $0.id == family.name } }

    var libraryBody: LibraryBody {
        let library = library
        return LibraryBody(
            isRefreshing: library.isRefreshing || isReadingCatalog, offerProblem: library.offerProblem,
            homeProblem: library.homeProblem, notices: library.cachedLists.map(\.sentence),
            selected: library.selectedModel?.id.name, defaultModel: library.defaultModel, visionModel: saved.vision,
            metered: library.metered.rawValue,
            canAnswer: library.hasModel(for: .text) || library.hasModel(for: .vision),
            canSee: library.hasModel(for: .vision))
    }

    var activation: ActivationBody {
        func active(_ family: Family?) -> ActiveModelBody? {
            guard let family, let row = library.row(of: family), row.canRun else { return nil }
            return ActiveModelBody(
                id: family.name, name: row.model.displayName, isLoaded: isLoaded(family))
        }
        return ActivationBody(
            text: active(library.selectedModel?.id), vision: active(visionFamily),
            isLoading: shownDownloads?.isModelLoading ?? false, loadError: shownDownloads?.loadError,
            deleteError: shownDownloads?.deleteError)
    }

    /// The model that answers questions with pictures: the saved one, else one on this device.
    var visionFamily: Family? { library.visionFamily(saved: saved.visionFamily) }

    // MARK: Following

    /// Follows the observable properties. The closure is called before the next change.
    private func observe() {
        let (library, downloads) = (library, shownDownloads)
        let watched = self.watched
        withObservationTracking {
            _ = (library.rows, library.selectedModel, library.defaultModel, library.isRefreshing)
            _ = (library.offerProblem, library.cachedLists, library.homeProblem)
            _ = (downloads?.isModelLoading, downloads?.isModelLoaded, downloads?.loadError, downloads?.deleteError)
        } onChange: { [weak self] in
            Task { @MainActor [weak self] in
                guard let self, watched == self.watched else { return }
                self.observe()
                self.changed()
            }
        }
    }

    private var watched: [ObjectIdentifier?] {
        [ObjectIdentifier(library), shownDownloads.map { ObjectIdentifier($0) }]
    }

    /// Loads a model; the view model of the downloads tells how that ends.
    func load(_ family: Family) {
        guard let model = library.row(of: family)?.local?.model else { return }
        let downloads = hearth.downloads
        if shownDownloads !== downloads {
            shownDownloads = downloads
            observe()
        }
        downloads.selectedModel = model
        do {
            try downloads.loadModel()
        } catch {
            Log.write(.info, "native", "\(family) is not loaded", [.error(error)])
        }
    }

    /// Tells clients soon.
    private func changed() {
        guard publishing == nil else { return }
        let wait = lastTold.map { Self.pace - $0.elapsed } ?? .zero
        publishing = Task { [time] in
            // A cancelled sleep tells at once.
            if wait > .zero { try? await time.sleep(for: wait) }
            publishing = nil
            await tell()
        }
    }

    /// Reads the saved models, then tells clients what changed.
    func tell() async {
        saved = await SavedModels.read(home: hearth.home, or: saved)
        lastTold = time.stopwatch()
        let (rows, library, activation) = (rows, libraryBody, activation)
        let before = Dictionary(told.rows.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        for row in rows where before[row.id] != row { log.add("row", RowReply(row: row)) }
        let present = Set(rows.map(\.id))
        for id in before.keys.sorted() where !present.contains(id) { log.add("row-removed", IDBody(id: id)) }
        if library != told.library { log.add("library", library) }
        if activation != told.activation { log.add("engine", activation) }
        told = (rows, library, activation)
    }

    /// Reads the transfers of all processes; tells clients if they changed.
    func readTransfers() async {
        do {
            let now = try await hearth.manager.transfers.list()
            guard now != transfers else { return }
            transfers = now
            log.add("transfer", EmptyBody())
            changed()
        } catch {
            Log.write(.info, "native", "the transfers cannot be listed", [.error(error)])
        }
    }
}

extension ModelReference {
    /// Whether the model lies in a repository of the Hub.
    fileprivate var isOfHub: Bool { if case .hub = self { true } else { false } }
}
