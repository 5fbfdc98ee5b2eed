import HearthBase
import HearthDelivery
import Observation

/// One model at a time, from the tap on "download" to the first answer: fetched, loaded, and a vision model after it.
///
/// What it decides is ``DownloadFlow``'s; downloads are those of its ``ModelLibrary``, where they are shown too; engines are its
/// loader's. When it goes away, what it loads ends, and what it fetches goes on in the library.
///
/// ```swift
/// let models = ModelDownloadViewModel(library: library, loader: loader, text: saved)
/// try models.startDownload(then: vision)
/// // … models.progress, then models.isModelLoaded
/// ```
@MainActor @Observable public final class ModelDownloadViewModel {
    /// The list its downloads are part of.
    public let library: ModelLibrary
    private var flow: DownloadFlow
    private var loads = LoadState()

    @ObservationIgnored private let loader: any ModelLoading
    @ObservationIgnored private var work = Work()

    /// The tasks of the view model, which end with it.
    private struct Work {
        var watching: CancellingTask?
        var launching: CancellingTask?
        var loading: (family: Family, task: CancellingTask, end: Task<Void, Never>)?
    }

    /// A view model over a library, with a model selected to begin with.
    ///
    /// If the text model is on this device and none is loaded, it is loaded, and then the vision model if that is here too.
    /// - Parameters:
    ///   - library: fetches and removes.
    ///   - loader: loads.
    ///   - text: the saved text model; unless given, the library's selected one.
    ///   - vision: the saved vision model.
    public init(library: ModelLibrary, loader: any ModelLoading, text: ModelInfo? = nil, vision: ModelInfo? = nil) {
        self.library = library
        self.loader = loader
        flow = DownloadFlow(selected: text ?? library.selectedModel)
        work.watching = CancellingTask(
            Task { [weak self] in
                for await state in await loader.loadStates() { self?.hear(state) }
            })
        work.launching = CancellingTask(
            Task { [weak self] in
                await library.refreshLocal()
                let state = await loader.loadState()
                guard !Task.isCancelled else { return }
                self?.hear(state)
                self?.launch(vision: vision, whileLoaded: state)
            })
    }

    // MARK: What it shows

    /// The model that is fetched, loaded or deleted next. While a vision model follows its text model it is that one, and
    /// afterwards the text model again.
    public var selectedModel: ModelInfo? {
        get { flow.selected }
        set { if let newValue { take(.select(newValue)) } }
    }

    /// Whether a model for text is in memory and can be asked.
    public var isModelLoaded: Bool { loads.loaded[.text] != nil }

    /// Whether a model is being loaded, or waits for its turn.
    public var isModelLoading: Bool { loads.loading != nil || flow.loading != nil }

    /// Whether a certain model is in memory.
    public func isLoaded(_ family: Family) -> Bool { loads.loaded.values.contains(family) }

    /// The life of the download under way, or of the last one until ``resetState()``.
    public var downloadState: DownloadState { flow.subject.map { library.downloadState(of: $0.id) } ?? .idle }

    /// The part of the download under way that is done, in [0, 1]; 0 without one and while the total is unknown.
    public var progress: Double {
        switch downloadState {
        case .downloading(let progress): progress ?? 0
        case .verifying, .extracting, .completed: 1
        case .idle, .waiting, .retrying, .failed: 0
        }
    }

    /// The model whose bytes are on their way.
    public var activeDownload: ModelInfo? { flow.fetching }

    /// The vision model that will be fetched once the text model is loaded.
    public var pendingVisionDownload: ModelInfo? { flow.pendingVision }

    /// Why the last load failed, in a sentence.
    public var loadError: String? { flow.loadError }

    /// Why the last removal failed, in a sentence.
    public var deleteError: String? { flow.deleteError }

    // MARK: What people ask

    /// Fetches the selected model and loads it; then fetches the vision model, loads it, and selects the first again. A model
    /// that is on its way already goes on.
    /// - Throws: ``ModelLibraryError`` with `download-in-progress` while another model is on its way, `insufficient-memory`,
    ///   `model-not-found` if none is selected. What happens later is ``downloadState``'s to tell.
    public func startDownload(then vision: ModelInfo? = nil) throws {
        try carryOutThrowing(flow.take(.start(then: vision)))
    }

    /// Ends the download, or the load that follows it, and throws away what has come; forgets the vision model that was to
    /// follow. Does nothing to loads nobody downloaded for.
    public func cancelDownload() { take(.cancel) }

    /// Loads the selected model, after whatever is being loaded.
    /// - Throws: ``ModelLibraryError`` with `model-not-found` if none is selected. What happens later is ``loadError``'s to tell.
    public func loadModel() throws { try carryOutThrowing(flow.take(.load)) }

    /// Takes the selected model out of memory and off the device, with everything that belongs to it. Its download or load
    /// ends first.
    /// - Throws: ``ModelLibraryError`` with `model-not-found` if none is selected. What happens later is ``deleteError``'s to
    ///   tell.
    public func deleteModel() throws { try carryOutThrowing(flow.take(.delete)) }

    /// Forgets how the last download, load and removal ended. Does nothing while a download is under way.
    public func resetState() { take(.reset) }

    // MARK: Carrying out

    private func hear(_ state: LoadState) {
        if state.revision >= loads.revision { loads = state }
    }

    private func launch(vision: ModelInfo?, whileLoaded state: LoadState) {
        if flow.selected == nil, let model = library.selectedModel { take(.select(model)) }
        guard state.loaded[.text] == nil, state.loading == nil else { return }
        guard let text = flow.selected, library.row(of: text.id)?.isUsable == true else { return }
        let isVisionHere = vision.map { library.row(of: $0.id)?.isUsable == true } ?? false
        take(.launch([text] + (isVisionHere ? [vision].compactMap(\.self) : [])))
    }

    private func take(_ event: DownloadFlowEvent) {
        for effect in flow.take(event) { carryOut(effect) }
    }

    private func carryOutThrowing(_ effects: [DownloadFlowEffect]) throws {
        for effect in effects {
            switch effect {
            case .refuse(.downloadInProgress): throw ModelLibraryError.downloadInProgress
            case .refuse(.nothingSelected): throw ModelLibraryError.modelNotFound("none is selected")
            case .fetch(let model, let run):
                do {
                    try fetch(model, run)
                } catch {
                    take(.fetched(run: run, .refused(nil)))
                    throw error
                }
            default: carryOut(effect)
            }
        }
    }

    private func carryOut(_ effect: DownloadFlowEffect) {
        switch effect {
        case .fetch(let model, let run):
            do {
                try fetch(model, run)
            } catch {
                // Nobody asked just now who could be told.
                take(.fetched(run: run, .refused(LibraryFailure.presented(error, model: model).sentence)))
            }
        case .stop(let model): library.cancelDownload(model.id)
        case .load(let model): load(model)
        case .stopLoading(let model):
            if work.loading?.family == model.id { work.loading?.task.cancel() }
        case .delete(let model): delete(model)
        case .forget(let model): library.reset(model.id)
        case .refuse: break  // only what people ask is refused, and they are told
        }
    }

    private func fetch(_ model: ModelInfo, _ run: Int) throws {
        try library.download(model) { [weak self] ending in
            switch ending {
            case .completed: self?.take(.fetched(run: run, .completed))
            case .failed: self?.take(.fetched(run: run, .failed))
            case .cancelled: self?.take(.fetched(run: run, .cancelled))
            }
        }
    }

    private func load(_ model: ModelInfo) {
        let end = Task { [weak self, loader] in
            let ending: DownloadFlowEvent.Loaded
            do {
                try await loader.load(model)
                ending = .loaded
            } catch is CancellationError {
                ending = .stopped
            } catch {
                ending = .failed(LibraryFailure.presented(error, model: model).sentence)
            }
            // Nobody sees a moment in which it is neither being loaded nor loaded.
            self?.hear(await loader.loadState())
            self?.work.loading = nil
            self?.take(.loaded(model.id, ending))
        }
        work.loading = (model.id, CancellingTask(end), end)
    }

    private func delete(_ model: ModelInfo) {
        let load = work.loading.flatMap { $0.family == model.id ? $0.end : nil }
        // A removal that has begun is not left half done, whoever goes away.
        Task { [weak self, library, loader] in
            // An engine that is being opened would hold the files.
            await load?.value
            await loader.unload(model.id)
            self?.hear(await loader.loadState())
            do {
                try await library.delete(model.id)
                self?.take(.deleted(model.id, nil))
            } catch {
                self?.take(.deleted(model.id, LibraryFailure.presented(error, model: model).sentence))
            }
        }
    }
}
