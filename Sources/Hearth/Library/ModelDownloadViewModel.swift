import HearthBase
import HearthCatalog
import HearthDelivery
import HearthInference
import Observation

/// Downloads and loads one model at a time, optionally followed by a vision model.
///
/// ``DownloadFlow`` makes the decisions, the ``ModelLibrary`` downloads, and the loader loads engines.
/// Deinitialization cancels loads; downloads continue in the library.
///
/// ```swift
/// let downloads = hearth.downloads
/// downloads.selectedModel = hearth.library.rows.first?.model
/// try downloads.startDownload(then: vision)
/// // … downloads.progress, then downloads.isModelLoaded
/// ```
@MainActor @Observable public final class ModelDownloadViewModel {
    /// The library that downloads and removes models.
    public let library: ModelLibrary
    private var flow: DownloadFlow

    @ObservationIgnored private let loader: any ModelLoading
    @ObservationIgnored private var work = Work()

    /// The tasks of the view model, cancelled when it is released.
    private struct Work {
        var launching: CancellingTask?
        var loading: (family: Family, task: CancellingTask, end: Task<Void, Never>)?
    }

    /// A view model over a library, with a model selected.
    ///
    /// If the text model is on this device and no text model is loaded, it is loaded, followed by the vision model if
    /// that is on this device. Then a download that an ended process left unfinished continues as a download of this
    /// view model: with its state and its progress, and loaded at its end.
    /// - Parameters:
    ///   - library: downloads and removes models.
    ///   - loader: loads and unloads models.
    ///   - text: the saved text model; by default the library's selected model.
    ///   - vision: reads the saved vision model.
    package init(
        library: ModelLibrary, loader: any ModelLoading, text: ModelInfo? = nil,
        vision: @escaping @Sendable () async -> Family? = { nil }
    ) {
        self.library = library
        self.loader = loader
        flow = DownloadFlow(selected: text ?? library.selectedModel)
        work.launching = CancellingTask(
            Task { [weak self] in
                await library.refreshLocal()
                let vision = await vision()
                guard !Task.isCancelled else { return }
                self?.launch(vision: vision)
                await library.restoreDownloads()
            })
        library.whenRestored { [weak self] in self?.adopt($0) }
    }

    // MARK: Display

    /// The model of the next action. The vision model while it follows its text model, then the text model again.
    public var selectedModel: ModelInfo? {
        get { flow.selected }
        set { if let newValue { take(.select(newValue)) } }
    }

    /// Whether a text model is in memory and can answer.
    public var isModelLoaded: Bool { loader.loaded[.text] != nil }

    /// Whether a model is loading or waits to be loaded.
    public var isModelLoading: Bool { loader.loading != nil || flow.loading != nil }

    /// Whether a model is in memory.
    public func isLoaded(_ family: Family) -> Bool { loader.loaded.values.contains(family) }

    /// The state of the current download, or of the last one until ``resetState()``.
    public var downloadState: DownloadState { flow.subject.map { library.downloadState(of: $0.id) } ?? .idle }

    /// The completed part of the download, 0...1, also while it waits; 0 without a download or a known total.
    public var progress: Double {
        switch downloadState {
        case .downloading(let progress): progress ?? 0
        case .waiting: flow.subject.flatMap { library.row(of: $0.id)?.progress } ?? 0
        case .verifying, .extracting, .completed: 1
        case .idle, .retrying, .failed: 0
        }
    }

    /// The model being downloaded.
    public var activeDownload: ModelInfo? { flow.fetching }

    /// The vision model to download once the text model is loaded.
    public var pendingVisionDownload: ModelInfo? { flow.pendingVision }

    /// Why the last load failed, in a sentence.
    public var loadError: String? { flow.loadError }

    /// Why the last removal failed, in a sentence.
    public var deleteError: String? { flow.deleteError }

    // MARK: Actions

    /// Downloads and loads the selected model; then downloads and loads the vision model and selects the first model
    /// again. Does nothing if the selected model is already downloading.
    /// - Throws: ``ModelLibraryError`` with `download-in-progress` during another model's download or
    ///   `model-not-found` without a selected model; otherwise as ``ModelLibrary/download(_:onEnd:)``. Later, see
    ///   ``downloadState``.
    public func startDownload(then vision: ModelInfo? = nil) throws {
        try carryOutThrowing(flow.take(.start(then: vision)))
    }

    /// Cancels the download, or the load after it, deletes the partial download and forgets the vision model. Loads
    /// that belong to no download continue.
    public func cancelDownload() { take(.cancel) }

    /// Loads the selected model after earlier loads.
    /// - Throws: ``ModelLibraryError`` with `model-not-found` without a selected model. Later, see ``loadError``.
    public func loadModel() throws { try carryOutThrowing(flow.take(.load)) }

    /// Unloads the selected model and deletes it with all its files, after its download or load has stopped.
    /// - Throws: ``ModelLibraryError`` with `model-not-found` without a selected model. Later, see ``deleteError``.
    public func deleteModel() throws { try carryOutThrowing(flow.take(.delete)) }

    /// Makes the release of the selected model before the present one live again.
    /// - Throws: ``ModelLibraryError`` with `model-not-found` without a selected model; as ``ModelLibrary/rollBack(_:)``.
    public func rollBack() async throws {
        guard let model = flow.selected else { throw ModelLibraryError.modelNotFound("none is selected") }
        try await library.rollBack(model.id)
    }

    /// Clears the results of the last download, load and removal. Does nothing during a download.
    public func resetState() { take(.reset) }

    // MARK: Effects

    private func launch(vision: Family?) {
        if flow.selected == nil, let model = library.selectedModel { take(.select(model)) }
        guard loader.loaded[.text] == nil, loader.loading == nil else { return }
        guard let text = flow.selected, library.row(of: text.id)?.canRun == true else { return }
        let seeing = vision.flatMap { library.row(of: $0) }.flatMap { $0.canRun ? $0.local?.model : nil }
        take(.launch([text] + (seeing.map { $0.id == text.id ? [] : [$0] } ?? [])))
    }

    /// Follows a restored download: that of the selected model, else the first.
    private func adopt(_ models: [ModelInfo]) {
        guard let model = models.first(where: { $0.id == flow.selected?.id }) ?? models.first else { return }
        take(.restored(model))
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
                // The fetch was not started by a call that could throw; report through `loadError`.
                take(.fetched(run: run, .refused(LibraryFailure.presented(error, model: model).sentence)))
            }
        case .stop(let model): library.cancelDownload(model.id)
        case .load(let model): load(model)
        case .loadBeside(let model): load(model, besideOthers: true)
        case .stopLoading(let model):
            if work.loading?.family == model.id { work.loading?.task.cancel() }
        case .delete(let model): delete(model)
        case .forget(let model): library.reset(model.id)
        case .refuse: break  // only throwing calls are refused
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

    private func load(_ model: ModelInfo, besideOthers: Bool = false) {
        let end = Task { [weak self, loader] in
            let ending: DownloadFlowEvent.Loaded
            do {
                if besideOthers { try await loader.loadBeside(model) } else { try await loader.load(model) }
                ending = .loaded
            } catch is CancellationError {
                ending = .stopped
            } catch let error as LLMError where besideOthers && error.code == .doesNotFit {
                // A launch loads what memory permits.
                ending = .stopped
            } catch {
                ending = .failed(LibraryFailure.presented(error, model: model).sentence)
            }
            self?.work.loading = nil
            self?.take(.loaded(model.id, ending))
        }
        work.loading = (model.id, CancellingTask(end), end)
    }

    private func delete(_ model: ModelInfo) {
        let load = work.loading.flatMap { $0.family == model.id ? $0.end : nil }
        // This task is not cancelled with the view model: a removal always runs to its end.
        Task { [weak self, library, loader] in
            // An engine that is still opening would hold the files.
            await load?.value
            await loader.unload(model.id)
            do {
                try await library.delete(model.id)
                self?.take(.deleted(model.id, nil))
            } catch {
                self?.take(.deleted(model.id, LibraryFailure.presented(error, model: model).sentence))
            }
        }
    }
}
