import Hearth
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthHTTP
import HearthStore
import HearthTestSupport
import HearthTransfer
import Testing

/// What ``ModelDownloadViewModelTests`` passes over.
@MainActor @Suite(.timeLimit(.minutes(10))) struct ModelDownloadDetailTests {
    private let journal: Journal
    private let delivery: ScriptedDelivery
    private let loader: ScriptedLoader

    init() {
        journal = Journal()
        delivery = ScriptedDelivery(journal: journal)
        loader = ScriptedLoader(journal: journal)
    }

    private func library() -> ModelLibrary {
        ModelLibrary(delivery: delivery, defaultModel: MemorySetting().setting)
    }

    @Test func theLibrarysModelIsTheOneToBeginWith() async {
        delivery.have(LocalModel(Models.text))
        let library = library()
        await library.refreshLocal()
        let models = ModelDownloadViewModel(library: library, loader: loader)
        #expect(models.selectedModel == Models.text)
    }

    @Test func aLaunchLoadsOnlyWhatIsHere() async {
        delivery.have(LocalModel(Models.text))
        let models = ModelDownloadViewModel(library: library(), loader: loader, text: Models.text) { Models.vision.id }
        await until { models.isModelLoaded && !models.isModelLoading }
        #expect(journal.all(with: "load") == ["load diary", "loaded diary"])
    }

    @Test func aResetForgetsTheFailureInTheListToo() async throws {
        delivery.offer(OfferedModel(Models.text))
        delivery.script(Models.text, [.fail(HTTPError(.connectionLost, "the connection broke"))])
        let library = library()
        await library.refresh()
        let models = ModelDownloadViewModel(library: library, loader: loader, text: Models.text)
        try models.startDownload()
        await until { if case .failed = models.downloadState { true } else { false } }
        models.resetState()
        #expect(library.row(of: Models.text.id)?.state == .notDownloaded)
    }

    /// From the moment somebody asks, not only once the loader has begun.
    @Test func aLoadIsShownAtOnce() async throws {
        let models = ModelDownloadViewModel(library: library(), loader: loader, text: Models.text)
        try models.loadModel()
        #expect(models.isModelLoading)
        await until { models.isModelLoaded && !models.isModelLoading }
    }
}
