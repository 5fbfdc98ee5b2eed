import Hearth
import HearthDelivery
import Testing

/// Who is told of an end, and what a library leaves alone.
@MainActor @Suite(.timeLimit(.minutes(2))) struct ModelLibraryEndingTests {
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
}
