import Foundation
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

/// What live models do while nothing of them is in memory, when memory gets short, and when the app ends.
@Suite(.timeLimit(.minutes(10))) struct LiveModelsAtRestTests {
    /// Says what a test wants of the memory.
    private struct Gauge: MemoryPressureSource {
        let available = Locked<UInt64>(1 << 40)
        func read() -> MemoryReading { MemoryReading(availableBytes: available.withLock { $0 }, totalBytes: 1 << 40) }
    }

    /// Answers with what its file says.
    private struct TellingEngine: ForwardingEngine {
        let engine: ScriptedEngine
        let onUnload: @Sendable () -> Void

        init(_ text: String, onUnload: @escaping @Sendable () -> Void) {
            engine = ScriptedEngine(Array(repeating: [.text(text), .finish(.endOfGeneration)], count: 100))
            self.onUnload = onUnload
        }

        func unload() async { onUnload() }
    }

    private let folder: TemporaryFolder
    private let family: Family
    private let opened = Locked<[String]>([])
    private let unloads: AsyncStream<String>
    private let unloaded: AsyncStream<String>.Continuation

    init() throws {
        folder = try TemporaryFolder()
        family = try #require(Family("quiet"))
        (unloads, unloaded) = AsyncStream.makeStream()
    }

    private func manager(bundled: [BundledSource] = []) -> ModelManager {
        ModelManager(
            home: folder.path("home"), origins: [], network: UnmonitoredNetwork(), deviceMemory: 8 << 30,
            bundled: bundled)
    }

    private func models(
        _ manager: ModelManager, _ gauge: Gauge = Gauge(), time: TimeSource = .system
    ) -> LiveModels {
        LiveModels(manager: manager, budget: 1 << 40, pressure: gauge, time: time) { [opened, unloaded] files in
            let text = try String(contentsOf: files.weights.url, encoding: .utf8)
            opened.withLock { $0.append(text) }
            if text.hasSuffix("broken") { throw LLMError(.cannotLoad, "no engine takes it") }
            return TellingEngine(text) { unloaded.yield(text) }
        }
    }

    /// Installs a release whose file says its version, or something else.
    @discardableResult
    private func install(
        _ version: String, _ text: String? = nil, with manager: ModelManager
    ) async throws -> InstalledRelease {
        let path = try folder.write("quiet-v\(version)-q4_1.gguf", Data((text ?? version).utf8))
        return try await manager.pull(.file(path)).release
    }

    private func answer(_ model: LiveModel) async throws -> String {
        var text = ""
        for try await event in model.generate([ChatMessage(.user, "?")], options: GenerationOptions()) {
            if case .text(let piece) = event { text += piece }
        }
        return text
    }

    private func isHere(_ version: String) throws -> Bool {
        try LocalFileSystem().status(at: folder.path("home/models/quiet/\(version)~q4_1")) != nil
    }

    // MARK: - Nothing is in memory

    @Test func anUpdateLoadsNothingThatNobodyUses() async throws {
        let manager = manager()
        try await install("1.0.0", with: manager)
        let models = models(manager)
        let model = try await models.model(family, policy: .localOnly)
        let ready = Locked<[String]>([])
        await manager.onReady { model in ready.withLock { $0.append(model.identity?.version.name ?? "none") } }
        // Before the first use, and after the last.
        try await install("2.0.0", with: manager)
        #expect(opened.withLock { $0 } == [])
        #expect(await model.release?.version.name == "2.0.0")
        #expect(try await answer(model) == "2.0.0")
        await models.unload(family)
        try await install("3.0.0", with: manager)
        try await install("4.0.0", with: self.manager())
        await manager.loadStored()
        _ = try await models.model(family, policy: .localOnly)
        #expect(opened.withLock { $0 } == ["2.0.0"])
        #expect(ready.withLock { $0 } == ["2.0.0", "3.0.0", "4.0.0"], "it is told all the same")
        #expect(await model.release?.version.name == "4.0.0")
        #expect(try await answer(model) == "4.0.0")
        #expect(opened.withLock { $0 } == ["2.0.0", "4.0.0"])
    }

    @Test func whatCannotBeLoadedAtItsFirstUseLeavesTheOneBeforeAnswering() async throws {
        let manager = manager()
        try await install("1.0.0", with: manager)
        let models = models(manager)
        let model = try await models.model(family, policy: .localOnly)
        #expect(try await answer(model) == "1.0.0")
        await models.unload(family)
        let newer = try await install("2.0.0", "2.0.0 broken", with: manager)
        var events = manager.events().makeAsyncIterator()
        #expect(try await answer(model) == "1.0.0")
        guard case .swapFailed(let release, _)? = await events.next() else {
            Issue.record("nothing was said of it")
            return
        }
        #expect(release.identity == newer.identity)
        #expect(try await answer(model) == "1.0.0")
        #expect(await model.release?.version.name == "1.0.0")
        #expect(opened.withLock { $0 } == ["1.0.0", "2.0.0 broken", "1.0.0"], "tried once, not at every use")
    }

    /// One model is held through everything that others do to the disk meanwhile.
    @Test func aHeldModelFollowsTheDisk() async throws {
        try folder.write("app/quiet-v0.5.0-q4_1.gguf", Data("0.5.0".utf8))
        try folder.write(
            "app/models.json",
            Data(
                #"""
                {"schemaVersion": 1, "models": [{"id": "q", "filename": "quiet-v0.5.0-q4_1.gguf", "sizeBytes": 5,
                  "sha256": "\#(SHA256Digest(hashing: Data("0.5.0".utf8)))", "downloadUrl": "quiet-v0.5.0-q4_1.gguf"}]}
                """#.utf8))
        let manager = manager(bundled: [BundledSource(folder: folder.path("app"))])
        let one = try await install("1.0.0", with: manager)
        let models = models(manager)
        let model = try await models.model(family, policy: .localOnly)
        #expect(try await answer(model) == "1.0.0")
        #expect(try isHere("1.0.0"))
        // Idle, and given up; what it was loaded from goes.
        try await models.pool.drop(one.identity)
        let other = self.manager()
        try await install("2.0.0", with: other)
        try await install("3.0.0", with: other)
        #expect(try !isHere("1.0.0"))
        #expect(try await answer(model) == "3.0.0")
        // The live one is removed, and the one before it serves.
        await models.unload(family)
        try await other.store.remove(family, version: ReleaseVersion("3.0.0"), variant: nil)
        #expect(try await answer(model) == "2.0.0")
        // No download is left.
        await models.unload(family)
        try await other.store.remove(family, version: nil, variant: nil)
        #expect(try await answer(model) == "0.5.0")
        #expect(opened.withLock { $0 } == ["1.0.0", "3.0.0", "2.0.0", "0.5.0"])
    }

    /// Whoever has a model has what keeps it fresh.
    @Test func aModelIsKeptFreshForAsLongAsItIsHeld() async throws {
        let manager = manager()
        try await install("1.0.0", with: manager)
        let model = try await models(manager).model(family, policy: .localOnly)
        #expect(try await answer(model) == "1.0.0")
        try await install("2.0.0", with: manager)
        #expect(try await answer(model) == "2.0.0")
    }

    // MARK: - Memory gets short

    @Test func idleEnginesGoWhenMemoryGetsShort() async throws {
        let clock = ManualClock()
        let gauge = Gauge()
        let manager = manager()
        try await install("1.0.0", with: manager)
        let models = models(manager, gauge, time: clock.time)
        let model = try await models.model(family, policy: .localOnly)
        let lease = try await model.lease()
        await clock.sleepers(atLeast: 1)
        gauge.available.withLock { $0 = 1 }
        clock.advance(by: .seconds(2))
        await clock.sleepers(atLeast: 1)
        #expect(models.pool.loaded.count == 1, "in use")
        lease.end()
        #expect(models.pool.loaded.count == 1, "nobody has looked yet")
        clock.advance(by: .seconds(2))
        var gone = unloads.makeAsyncIterator()
        #expect(await gone.next() == "1.0.0")
        #expect(models.pool.loaded.isEmpty)
        // And again, for as long as the app runs; what is used is loaded once more.
        await clock.sleepers(atLeast: 1)
        #expect(try await answer(model) == "1.0.0")
        clock.advance(by: .seconds(2))
        #expect(await gone.next() == "1.0.0")
        gauge.available.withLock { $0 = 1 << 40 }
        await clock.sleepers(atLeast: 1)
        #expect(try await answer(model) == "1.0.0")
        clock.advance(by: .seconds(2))
        await clock.sleepers(atLeast: 1)
        #expect(models.pool.loaded.count == 1, "there is enough again")
    }

    // MARK: - The app ends

    /// The marks that are on the disk.
    private func marks() -> [String] {
        let names = FileManager.default.enumerator(atPath: folder.path("home/marks").string)
        return (names?.compactMap { $0 as? String } ?? []).filter { $0.split(separator: "/").count == 3 }
    }

    /// An app that ends in the middle of an answer looks as if the model had ended it, unless it stops that first.
    @Test(arguments: [false, true])
    func whoStopsBeforeItEndsLeavesNoMark(_ endsInLoad: Bool) async throws {
        let manager = manager()
        try await install("1.0.0", with: manager)
        let stalling = ScriptedEngine([[.text("a"), .waitForCancellation]])
        let (loads, loading) = AsyncStream.makeStream(of: Void.self)
        let (held, gate) = AsyncStream.makeStream(of: Never.self)
        defer { gate.finish() }
        let models = LiveModels(manager: manager, pressure: Gauge()) { _ in
            guard endsInLoad else { return stalling }
            loading.yield()
            for await _ in held {}
            throw CancellationError()
        }
        let model = try await models.model(family, policy: .localOnly)
        let answering = Task { try await answer(model) }
        if endsInLoad { for await _ in loads { break } } else { await stalling.stalled() }
        #expect(marks().count == 1)
        // Asked to end by somebody who was cancelled himself.
        let end = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            await models.stop()
            return marks()
        }
        #expect(await end.value.isEmpty)
        await #expect(throws: CancellationError.self, "it is not whole") { try await answering.value }
        await #expect(throws: CancellationError.self, "no other begins") { try await answer(model) }
        #expect(marks().isEmpty)
    }
}
