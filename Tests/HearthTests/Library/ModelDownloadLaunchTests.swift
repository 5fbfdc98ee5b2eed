import Hearth
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthHTTP
import HearthInference
import HearthStore
import HearthTestSupport
import HearthTransfer
import Testing

/// Loading at launch and deleting, over a scripted delivery and loader.
@MainActor @Suite(.timeLimit(.minutes(10))) struct ModelDownloadLaunchTests {
    private let journal: Journal
    private let delivery: ScriptedDelivery
    private let loader: ScriptedLoader
    private let lost = HTTPError(.connectionLost, "the connection broke")

    init() {
        journal = Journal()
        delivery = ScriptedDelivery(journal: journal)
        loader = ScriptedLoader(journal: journal)
    }

    private func viewModel(
        text: ModelInfo? = Models.text, vision: ModelInfo? = nil, loader: ScriptedLoader? = nil
    ) -> ModelDownloadViewModel {
        let library = ModelLibrary(delivery: delivery, defaultModel: MemorySetting().setting)
        return ModelDownloadViewModel(library: library, loader: loader ?? self.loader, text: text) { vision?.id }
    }

    // MARK: Launch

    @Test func loadsTheSavedModelsAtLaunchOneAfterTheOther() async throws {
        delivery.have(LocalModel(Models.text), LocalModel(Models.vision))
        let opening = Barrier()
        loader.script(Models.text, [.wait(opening)])
        let models = viewModel(vision: Models.vision)
        await until { models.isModelLoading }
        #expect(journal.all == ["load diary"])
        // What the user asks for waits its turn.
        models.selectedModel = Models.vision
        try models.loadModel()
        opening.open()
        await until { models.isLoaded(Models.vision.id) && !models.isModelLoading }
        #expect(journal.all == ["load diary", "loaded diary", "load eyes", "loaded eyes"])
        let most = loader.maximumAtATime
        #expect(most == 1)
    }

    @Test(arguments: [[], ["eyes"], ["diary"]])
    func loadsAtLaunchOnlyWhatIsHere(_ here: [String]) async throws {
        let all = [Models.text, Models.vision]
        if here == ["diary"] { delivery.have(LocalModel(Models.text)) }
        if here == ["eyes"] { delivery.have(LocalModel(Models.vision)) }
        let models = viewModel(vision: Models.vision)
        // Once the user's own request is done, the launch is over too.
        try models.startDownload()
        await until { models.isModelLoaded && !models.isModelLoading }
        #expect(all.contains { $0.id == models.selectedModel?.id })
        #expect(!journal.all.contains("load eyes"), "vision follows text or nothing")
    }

    /// A download that an ended process left is the view model's own: its state, its progress, and the load at its end.
    @Test(arguments: [nil, Models.text])
    func goesOnWithADownloadOfAnEndedProcess(selected: ModelInfo?) async throws {
        delivery.leave(Models.other, Models.text)
        let bytes = Barrier()
        delivery.script(Models.text, [.report(.progress(0.5)), .wait(bytes)])
        delivery.script(Models.other, [.report(.progress(0.25)), .wait(bytes)])
        let models = viewModel(text: selected)
        let model = selected ?? Models.other
        let fraction = selected == nil ? 0.25 : 0.5
        await until { models.downloadState == .downloading(progress: fraction) }
        #expect(models.activeDownload == model && models.progress == fraction)
        #expect(models.selectedModel == model)
        bytes.open()
        await until { models.isModelLoaded && !models.isModelLoading }
        #expect(models.isLoaded(model.id))
        #expect(journal.all(with: "pull").count == 2, "none is fetched twice")
    }

    /// The same where the library had continued it before the view model came.
    @Test func takesOverWhatTheLibraryContinued() async throws {
        delivery.leave(Models.text)
        let bytes = Barrier()
        delivery.script(Models.text, [.report(.progress(0.5)), .wait(bytes)])
        let library = ModelLibrary(delivery: delivery, defaultModel: MemorySetting().setting)
        await library.refresh()
        let models = ModelDownloadViewModel(library: library, loader: loader)
        #expect(models.activeDownload == Models.text)
        models.cancelDownload()
        #expect(models.downloadState == .idle)
        await library.close()
        #expect(delivery.discarded == [Models.text.identity])
    }

    @Test func noEngineForASavedModelLoadsNothing() async throws {
        delivery.have(LocalModel(Models.text, canRun: false), LocalModel(Models.vision))
        let models = viewModel(vision: Models.vision)
        await until { !models.library.rows.isEmpty }
        models.selectedModel = Models.vision
        try models.loadModel()
        await until { models.isLoaded(Models.vision.id) }
        #expect(journal.all(with: "load") == ["load eyes", "loaded eyes"])
    }

    @Test func leavesALoadedModelAlone() async throws {
        delivery.have(LocalModel(Models.text))
        let loaded = ScriptedLoader(journal: journal, loaded: [.text: Models.text.id])
        let models = viewModel(loader: loaded)
        await until { models.isModelLoaded && !models.library.rows.isEmpty }
        try models.deleteModel()
        await until { models.library.rows.isEmpty }
        #expect(journal.all == ["unload diary", "remove diary"])
    }

    @Test func theLibrarysModelIsSelectedWithoutASavedOne() async throws {
        delivery.have(LocalModel(Models.other))
        let models = viewModel(text: nil)
        await until { models.isModelLoaded }
        #expect(models.selectedModel == Models.other)
    }

    // MARK: Deleting

    @Test func deletingUnloadsTheEngineFirst() async throws {
        let models = viewModel()
        try models.startDownload()
        await until { models.isModelLoaded }
        try models.deleteModel()
        try models.deleteModel()
        await until { !models.isModelLoaded && models.downloadState == .idle }
        #expect(journal.all.suffix(2) == ["unload diary", "remove diary"])
        #expect(models.selectedModel == Models.text)
        #expect(models.deleteError == nil)
        try models.startDownload()
        await until { models.isModelLoaded }
    }

    @Test func deletingWhileLoadingWaitsForItsEnd() async throws {
        loader.script(Models.text, [.wait(Barrier())])
        let models = viewModel()
        try models.startDownload()
        await until { models.isModelLoading }
        try models.deleteModel()
        await until { models.library.rows.isEmpty && !models.isModelLoading }
        #expect(journal.all.suffix(3) == ["load diary", "unload diary", "remove diary"])
        #expect(!models.isModelLoaded)
    }

    @Test func deletingWhileDownloadingDiscards() async throws {
        delivery.script(Models.text, [.report(.progress(0.5)), .wait(Barrier())])
        let models = viewModel()
        try models.startDownload()
        await until { models.progress == 0.5 }
        try models.deleteModel()
        #expect(models.downloadState == .idle)
        try models.startDownload()
        await until { models.isModelLoaded }
        let (discarded, pulled) = (journal.all.firstIndex(of: "discard diary"), journal.all.lastIndex(of: "pull diary"))
        #expect(try #require(discarded) < #require(pulled))
    }

    @Test func aRemovalThatFailsIsTold() async throws {
        delivery.have(LocalModel(Models.text))
        delivery.failRemovals(StoreError(.homeBusy, "another process is changing the home folder"))
        let models = viewModel()
        await until { models.isModelLoaded }
        try models.deleteModel()
        await until { models.deleteError == "another process is changing the home folder" }
        delivery.failRemovals(nil)
        try models.deleteModel()
        #expect(models.deleteError == nil)
        await until { models.library.rows.isEmpty }
    }
}
