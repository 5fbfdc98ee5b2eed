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

/// From the tap on "download" to the first answer, over a scripted delivery and loader.
@MainActor @Suite(.timeLimit(.minutes(10))) struct ModelDownloadViewModelTests {
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

    // MARK: One model

    @Test func fetchesThenLoads() async throws {
        let (bytes, opening) = (Barrier(), Barrier())
        delivery.script(
            Models.text, [.report(.progress(0.3)), .wait(bytes), .report(.progress(1)), .report(.received)])
        loader.script(Models.text, [.wait(opening)])
        let models = viewModel()
        #expect(models.downloadState == .idle)
        #expect(models.progress == 0)
        #expect(models.selectedModel == Models.text)
        #expect(!models.isModelLoaded && !models.isModelLoading)
        try models.startDownload()
        #expect(models.activeDownload == Models.text)
        await until { models.downloadState == .downloading(progress: 0.3) }
        #expect(models.progress == 0.3)
        bytes.open()
        await until { models.isModelLoading }
        #expect(models.downloadState == .completed(Models.weights(Models.text)))
        #expect(models.activeDownload == nil)
        #expect(models.progress == 1)
        #expect(!models.isModelLoaded)
        opening.open()
        await until { models.isModelLoaded && !models.isModelLoading }
        #expect(models.isLoaded(Models.text.id))
        #expect(journal.all == ["pull diary", "arrived diary", "load diary", "loaded diary"])
        models.resetState()
        #expect(models.downloadState == .idle)
        #expect(models.isModelLoaded)
    }

    @Test func progressStaysWhileItWaits() async throws {
        let barrier = Barrier()
        delivery.script(Models.text, [.report(.progress(0.5)), .report(.hold(.offline)), .wait(barrier)])
        let models = viewModel()
        try models.startDownload()
        await until { models.downloadState == .waiting(.offline) }
        #expect(models.progress == 0.5)
        #expect(models.library.row(of: Models.text.id)?.progress == 0.5)
        barrier.open()
        await until { models.isModelLoaded }
    }

    @Test func loadsTheModelOfTheStartWhateverIsSelectedMeanwhile() async throws {
        let bytes = Barrier()
        delivery.script(Models.text, [.wait(bytes)])
        let models = viewModel()
        try models.startDownload()
        models.selectedModel = Models.other
        bytes.open()
        await until { models.isModelLoaded }
        #expect(journal.all(with: "load") == ["load diary", "loaded diary"])
        #expect(models.selectedModel == Models.other)
    }

    @Test func aSecondStartIsNoneOrRefused() async throws {
        delivery.script(Models.text, [.wait(Barrier())])
        let models = viewModel()
        try models.startDownload()
        try models.startDownload()
        models.selectedModel = Models.other
        let error = #expect(throws: ModelLibraryError.self) { try models.startDownload() }
        #expect(error?.errorDescription == "A download is already in progress.")
        #expect(models.activeDownload == Models.text)
        // The library itself, and another view model, have no such rule.
        let second = ModelDownloadViewModel(library: models.library, loader: loader, text: Models.other)
        try second.startDownload()
        await until { second.isModelLoaded }
        #expect(models.activeDownload == Models.text)
        models.cancelDownload()
        #expect(models.activeDownload == nil)
    }

    @Test func afterAFailureTheNextStartWorks() async throws {
        delivery.script(Models.text, [.fail(lost)])
        let models = viewModel()
        try models.startDownload(then: Models.vision)
        let failure = FailureBody(code: "network-error", message: "Network error: the connection broke")
        await until { models.downloadState == .failed(failure) }
        #expect(models.pendingVisionDownload == nil)
        #expect(models.activeDownload == nil)
        #expect(models.progress == 0)
        try models.startDownload()
        await until { models.isModelLoaded }
        #expect(journal.all(with: "load ") == ["load diary"])
    }

    @Test func aLoadThatFailsIsToldAndCanBeTriedAgain() async throws {
        loader.script(Models.text, [.fail(LLMError(.cannotLoad, "the file is no model"))])
        let models = viewModel()
        try models.startDownload(then: Models.vision)
        await until { models.loadError == "the file is no model" }
        #expect(models.pendingVisionDownload == nil, "vision follows only what could be loaded")
        await until { !models.isModelLoading }
        #expect(!models.isModelLoaded)
        try models.loadModel()
        #expect(models.loadError == nil)
        await until { models.isModelLoaded }
        #expect(!journal.all.contains("pull eyes"))
    }

    @Test func withoutASelectionNothingBegins() async {
        let models = viewModel(text: nil)
        for attempt in [{ try models.startDownload() }, { try models.loadModel() }, { try models.deleteModel() }] {
            let error = #expect(throws: ModelLibraryError.self) { try attempt() }
            #expect(error?.code == .modelNotFound)
        }
        models.cancelDownload()
        models.resetState()
        #expect(models.downloadState == .idle)
    }

    @Test func aModelThatWouldNotRunIsRefused() async throws {
        delivery.offer(
            OfferedModel(Models.text, objection: .notEnoughMemory(needed: 9_000_000_000)))
        let models = viewModel()
        await models.library.refresh()
        let error = #expect(throws: ModelLibraryError.self) { try models.startDownload() }
        #expect(error?.code == .insufficientMemory)
        #expect(models.downloadState == .idle)
        models.selectedModel = Models.other
        try models.startDownload()
        await until { models.isModelLoaded }
    }

    // MARK: Text, then vision

    @Test func visionFollowsTextAndTheTextModelIsSelectedAgain() async throws {
        let (text, vision, opening) = (Barrier(), Barrier(), Barrier())
        delivery.script(Models.text, [.wait(text)])
        delivery.script(Models.vision, [.report(.progress(0.6)), .wait(vision)])
        loader.script(Models.vision, [.wait(opening)])
        let models = viewModel()
        try models.startDownload(then: Models.vision)
        #expect(models.pendingVisionDownload == Models.vision)
        text.open()
        await until { models.downloadState == .downloading(progress: 0.6) }
        #expect(models.pendingVisionDownload == nil)
        #expect(models.selectedModel == Models.vision)
        #expect(models.activeDownload == Models.vision)
        #expect(models.isModelLoaded, "the text model answers meanwhile")
        vision.open()
        await until { models.isModelLoading }
        opening.open()
        await until { models.selectedModel == Models.text }
        #expect(models.isLoaded(Models.vision.id) && models.isLoaded(Models.text.id))
        #expect(
            journal.all == [
                "pull diary", "arrived diary", "load diary", "loaded diary", "pull eyes", "arrived eyes", "load eyes",
                "loaded eyes",
            ])
    }

    @Test func visionThatFailsCanBeTriedAgainAlone() async throws {
        delivery.script(Models.vision, [.fail(lost)])
        let models = viewModel()
        try models.startDownload(then: Models.vision)
        await until { models.activeDownload == nil && models.selectedModel == Models.vision }
        #expect(models.isModelLoaded)
        try models.startDownload()
        await until { models.isLoaded(Models.vision.id) && models.selectedModel == Models.text }
        #expect(journal.all(with: "pull") == ["pull diary", "pull eyes", "pull eyes"])
    }

    @Test func visionThatWouldNotRunIsToldAndTextStays() async throws {
        delivery.offer(OfferedModel(Models.vision, objection: .notEnoughMemory(needed: 9_000_000_000)))
        let models = viewModel()
        await models.library.refresh()
        try models.startDownload(then: Models.vision)
        await until { models.loadError != nil }
        #expect(models.loadError == "This model requires 9 GB RAM. Your device may not support it.")
        #expect(models.selectedModel == Models.text)
        #expect(models.downloadState == .idle)
        await until { models.isModelLoaded }
    }

    // MARK: Cancelling

    @Test func cancellingTheDownloadForgetsWhatWasToFollow() async throws {
        delivery.script(Models.text, [.report(.progress(0.5)), .wait(Barrier())])
        let models = viewModel()
        try models.startDownload(then: Models.vision)
        await until { models.downloadState == .downloading(progress: 0.5) }
        models.cancelDownload()
        #expect(models.downloadState == .idle)
        #expect(models.pendingVisionDownload == nil)
        #expect(models.activeDownload == nil)
        try models.startDownload()
        await until { models.isModelLoaded }
        #expect(
            journal.all == [
                "pull diary", "left diary", "discard diary", "pull diary", "arrived diary", "load diary",
                "loaded diary",
            ])
    }

    @Test func cancellingWhileLoadingEndsTheLoad() async throws {
        loader.script(Models.text, [.wait(Barrier())])
        let models = viewModel()
        try models.startDownload(then: Models.vision)
        await until { models.isModelLoading }
        models.cancelDownload()
        await until { !models.isModelLoading }
        #expect(models.loadError == nil)
        #expect(!models.isModelLoaded)
        #expect(models.downloadState == .idle)
        #expect(!journal.all.contains("pull eyes"))
        try models.startDownload()
        await until { models.isModelLoaded }
    }

    @Test func cancellingVisionSelectsTheTextModelAgain() async throws {
        delivery.script(Models.vision, [.report(.progress(0.1)), .wait(Barrier())])
        let models = viewModel()
        try models.startDownload(then: Models.vision)
        await until { models.downloadState == .downloading(progress: 0.1) }
        models.cancelDownload()
        #expect(models.selectedModel == Models.text)
        #expect(models.downloadState == .idle)
        #expect(models.isModelLoaded)
        await yielding { journal.all.contains("discard eyes") }
    }

    @Test func whoCancelsInTheListCancelsHereToo() async throws {
        delivery.script(Models.text, [.report(.progress(0.5)), .wait(Barrier())])
        let models = viewModel()
        try models.startDownload(then: Models.vision)
        await until { models.progress == 0.5 }
        models.library.cancelDownload(Models.text.id)
        #expect(models.activeDownload == nil)
        #expect(models.pendingVisionDownload == nil)
        #expect(models.downloadState == .idle)
        try models.startDownload()
        await until { models.isModelLoaded }
    }

    @Test func cancellingLeavesOtherLoadsAlone() async throws {
        delivery.have(LocalModel(Models.text))
        let opening = Barrier()
        loader.script(Models.text, [.wait(opening)])
        let models = viewModel()
        await until { models.isModelLoading }
        models.cancelDownload()
        opening.open()
        await until { models.isModelLoaded }
    }

    // MARK: Life

    @Test func goesAwayInTheMiddleOfEverything() async throws {
        delivery.script(Models.text, [.report(.progress(0.5)), .wait(Barrier())])
        weak var watched: ModelDownloadViewModel?
        weak var watchedLibrary: ModelLibrary?
        do {
            let models = viewModel()
            watched = models
            watchedLibrary = models.library
            try models.startDownload(then: Models.vision)
            await until { models.progress == 0.5 }
        }
        // The tasks that end hold nothing but are still on their way out.
        for _ in 0..<1000 where watched != nil || watchedLibrary != nil { await Task.yield() }
        #expect(watched == nil)
        #expect(watchedLibrary == nil)
    }

    @Test func goesAwayWhileLoading() async throws {
        loader.script(Models.text, [.wait(Barrier())])
        weak var watched: ModelDownloadViewModel?
        do {
            let models = viewModel()
            watched = models
            try models.startDownload()
            await until { models.isModelLoading }
        }
        for _ in 0..<1000 where watched != nil { await Task.yield() }
        #expect(watched == nil)
    }

    @Test func everyPropertyCanBeObserved() async throws {
        delivery.script(Models.text, [.report(.progress(0.5))], [.fail(lost)])
        loader.script(Models.vision, [.fail(LLMError(.cannotLoad, "the file is no model"))])
        delivery.failRemovals(lost)
        let models = viewModel()
        var seen: Set<String> = []
        func observe(_ name: String, _ read: @escaping @MainActor () -> Void) {
            Task { @MainActor in
                await changesOnce(of: read)
                seen.insert(name)
            }
        }
        observe("selectedModel") { _ = models.selectedModel }
        observe("isModelLoaded") { _ = models.isModelLoaded }
        observe("isModelLoading") { _ = models.isModelLoading }
        observe("downloadState") { _ = models.downloadState }
        observe("pendingVisionDownload") { _ = models.pendingVisionDownload }
        observe("loadError") { _ = models.loadError }
        observe("deleteError") { _ = models.deleteError }
        observe("progress") { _ = models.progress }
        observe("activeDownload") { _ = models.activeDownload }
        await Task.yield()
        try models.startDownload(then: Models.vision)
        await until { models.loadError != nil }
        try models.deleteModel()
        await until { models.deleteError != nil }
        for _ in 0..<1000 where seen.count < 9 { await Task.yield() }
        #expect(seen.count == 9, "\(seen.sorted())")
    }
}
