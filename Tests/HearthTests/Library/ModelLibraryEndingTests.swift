import Hearth
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthStore
import HearthTransfer
import Testing

/// Who is told of an end, and what a library leaves alone.
@MainActor @Suite(.timeLimit(.minutes(10))) struct ModelLibraryEndingTests {
    private let delivery = ScriptedDelivery()

    private func library() async -> ModelLibrary {
        let library = ModelLibrary(delivery: delivery, defaultModel: MemorySetting().setting)
        await library.refresh()
        return library
    }

    /// Whoever waits for a download hears once how it ended, also when it was cancelled; of a listed model the listed release
    /// comes.
    @Test func whoWaitsHearsOfTheEndOnce() async throws {
        let newer = Models.text.at("1.1.0")
        delivery.offer(OfferedModel(newer))
        let library = await library()
        let (stream, source) = AsyncStream.makeStream(of: String.self)
        var endings = stream.makeAsyncIterator()
        try library.download(Models.text) { source.yield("first \($0)") }
        library.cancelDownload(newer.id)
        #expect(await endings.next() == "first cancelled")
        try library.download(Models.text) { source.yield("second \($0)") }
        #expect(await endings.next() == "second completed")
        #expect(library.row(of: newer.id)?.local?.model == newer)
    }

    @Test func aNewDefaultIsUsedAtOnceWhateverWasChosenBefore() async throws {
        delivery.have(LocalModel(Models.text), LocalModel(Models.other))
        let library = await library()
        try library.select(Models.text.id)
        try await library.setDefaultModel(Models.other.id)
        #expect(library.selectedModel == Models.other)
    }

    @Test func whatIsNotHereIsNotRemoved() async throws {
        delivery.offer(OfferedModel(Models.text))
        let library = await library()
        try await library.delete(Models.text.id)
        #expect(delivery.journal.all(with: "remove").isEmpty)
        #expect(library.row(of: Models.text.id)?.state == .notDownloaded)
    }

    /// As at the end of the program: what is under way ends and keeps what has come, and that is waited for.
    @Test func closingKeepsWhatHasComeAndWaitsForIt() async throws {
        let barrier = Barrier()
        delivery.have(LocalModel(Models.other))
        delivery.holdRemovals(barrier)
        delivery.offer(OfferedModel(Models.text))
        delivery.script(Models.text, [.report(.progress(0.5)), .wait(Barrier())])
        let library = await library()
        var endings: [ModelLibrary.Ending] = []
        try library.download(Models.text) { endings.append($0) }
        await until { library.downloadState(of: Models.text.id) == .downloading(progress: 0.5) }
        async let removal: Void = library.delete(Models.other.id)
        await until { library.row(of: Models.other.id)?.isBeingDeleted == true }
        var isClosed = false
        let closing = Task {
            await library.close()
            isClosed = true
        }
        await yielding { delivery.journal.all.contains("left diary") }
        for _ in 0..<1000 { await Task.yield() }
        #expect(!isClosed, "a removal is under way")
        barrier.open()
        try await removal
        await closing.value
        #expect(!delivery.journal.all.contains("discard diary"))
        guard case .failed(let failure)? = endings.first, endings.count == 1 else {
            Issue.record("\(endings)")
            return
        }
        #expect(failure.code == "interrupted" && failure.disposition == .tryLater)
        #expect(library.downloadState(of: Models.text.id) == .failed(failure))
    }

    /// An app that goes to the background closes its library, and uses it again when it comes back.
    @Test func whatWasClosedIsUsedOn() async throws {
        delivery.offer(OfferedModel(Models.text), OfferedModel(Models.other))
        delivery.script(Models.text, [.report(.progress(0.5)), .wait(Barrier())])
        let library = await library()
        let models = ModelDownloadViewModel(
            library: library, loader: ScriptedLoader(journal: delivery.journal), text: Models.text)
        try models.startDownload()
        await until { library.downloadState(of: Models.text.id) == .downloading(progress: 0.5) }
        await library.close()
        #expect(models.activeDownload == nil)
        guard case .failed = models.downloadState else {
            Issue.record("\(models.downloadState)")
            return
        }
        #expect(!delivery.journal.all.contains("discard diary"))
        try models.startDownload()
        await until { library.row(of: Models.text.id)?.state == .downloaded }
    }

    /// Who is told that one of them has ended, and begins another anew, is told how that one ends and not how it ended.
    @Test func whatBeginsWhileEndsAreToldIsNoneOfThem() async throws {
        delivery.offer(OfferedModel(Models.text), OfferedModel(Models.other))
        for model in [Models.text, Models.other] {
            delivery.script(model, [.report(.progress(0.5)), .wait(Barrier())])
        }
        let library = await library()
        let (first, second) =
            Models.text.id < Models.other.id ? (Models.text, Models.other) : (Models.other, Models.text)
        var endings: [ModelLibrary.Ending] = []
        try library.download(first) { _ in try? library.download(second) { endings.append($0) } }
        try library.download(second)
        for model in [first, second] {
            await until { library.downloadState(of: model.id) == .downloading(progress: 0.5) }
        }
        await library.close()
        await until { library.row(of: second.id)?.state == .downloaded }
        #expect(endings == [.completed])
    }

    @Test func figuresOfADownloadAreShownWhileItRuns() async throws {
        let reading = TransferProgress(
            state: .downloading, completedBytes: 42, totalBytes: 100, bytesPerSecond: 29, connections: 4)
        let barrier = Barrier()
        delivery.offer(OfferedModel(Models.text))
        delivery.script(Models.text, [.report(.progress(0.42)), .report(reading), .wait(barrier)])
        let library = await library()
        try library.download(Models.text.id)
        await until { library.row(of: Models.text.id)?.reading == reading }
        #expect(library.row(of: Models.text.id)?.stateText == "downloading 42%, 29 B/s, 2 s left")
        barrier.open()
        await until { library.row(of: Models.text.id)?.state == .downloaded }
        #expect(library.row(of: Models.text.id)?.reading == nil)
    }
}
