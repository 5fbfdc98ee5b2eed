import Foundation
import Hearth
import HearthBase
import HearthDelivery
import HearthInference
import HearthTestSupport
import Testing

/// What live models do when the app ends.
@Suite(.timeLimit(.minutes(10))) struct LiveModelsAtRestTests {
    /// Says what a test wants of the memory.
    private struct Gauge: MemoryPressureSource {
        let available = Locked<UInt64>(1 << 40)
        func read() -> MemoryReading { MemoryReading(availableBytes: available.withLock { $0 }, totalBytes: 1 << 40) }
    }

    private let folder: TemporaryFolder
    private let family: Family

    init() throws {
        folder = try TemporaryFolder()
        family = try #require(Family("quiet"))
    }

    private func manager(bundled: [BundledSource] = []) -> ModelManager {
        ModelManager(
            home: folder.path("home"), origins: [], network: UnmonitoredNetwork(), deviceMemory: 8 << 30,
            bundled: bundled)
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
        _ = await answering.result
        await #expect(throws: CancellationError.self, "no other begins") { try await answer(model) }
        #expect(marks().isEmpty)
    }
}
