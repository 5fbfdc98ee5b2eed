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

/// Vectors and tokens of installed releases, through what an app holds of them.
@Suite(.timeLimit(.minutes(10))) struct EmbeddingThroughTests {
    /// An engine that knows its text, and notes which marks were on the disk while it worked.
    private struct WordEngine: ForwardingEngine {
        let name: String
        var onEmbed: @Sendable () -> Void = {}

        let engine = ScriptedEngine([])

        func embed(_ texts: [String]) async throws -> [[Float]] {
            onEmbed()
            return texts.map { [Float($0.count), name == "one" ? 1 : 2] }
        }

        func tokenize(
            _ text: String, controlTokens: Bool, wholePrompt: Bool, limit: Int?
        ) async throws -> [TokenID] {
            text.split(separator: " ").map { TokenID($0.count) }
        }

        func count(_ messages: [ChatMessage]) async throws -> Int { messages.count }
    }

    private let folder: TemporaryFolder
    private let manager: ModelManager

    init() throws {
        folder = try TemporaryFolder()
        manager = ModelManager(
            home: folder.path("home"), origins: [], network: UnmonitoredNetwork(), deviceMemory: 8 << 30)
    }

    private func install(_ version: String, _ text: String) async throws -> ReleaseIdentity {
        let file = try folder.write("words-v\(version)-q4_1.gguf", Data(text.utf8))
        return try await manager.pull(.file(file)).release.identity
    }

    private var marks: Int {
        let names = FileManager.default.enumerator(atPath: folder.path("home/marks").string)
        return (names?.compactMap { $0 as? String } ?? []).count { $0.split(separator: "/").count == 3 }
    }

    @Test func aLiveModelEmbedsAndCountsWithTheReleaseThatIsLive() async throws {
        _ = try await install("1.0.0", "one")
        let models = LiveModels(manager: manager) { files in
            WordEngine(name: try String(contentsOf: files.weights.url, encoding: .utf8))
        }
        let model = try await models.model(#require(Family("words")))
        #expect(try await model.embed(["a", "bcd"]) == [[1, 1], [3, 1]])
        let tokens = try #require(model.tokens)
        #expect(try await tokens.tokenize("an apple") == [2, 5])
        #expect(try await tokens.count([ChatMessage(.user, "a")]) == 1)
        _ = try await install("2.0.0", "two")
        #expect(try await model.embed(["a"]) == [[1, 2]])
    }

    @Test func anEngineWithoutThemSaysSo() async throws {
        _ = try await install("1.0.0", "one")
        let models = LiveModels(manager: manager) { _ in ScriptedEngine([]) }
        let model = try await models.model(#require(Family("words")))
        var error = await #expect(throws: LLMError.self) { _ = try await model.embed(["a"]) }
        #expect(error?.code == .engineMissing)
        error = await #expect(throws: LLMError.self) { _ = try await model.tokens?.count("a") }
        #expect(error?.code == .engineMissing)
    }

    /// A process that dies in it has died of the release on probation; nothing is left once it is done, and it proves nothing.
    @Test func embeddingIsGuardedAndNotCounted() async throws {
        let release = try await install("1.0.0", "one")
        let seen = Locked<[Int]>([])
        let engine = WatchedEngine(
            WordEngine(name: "one") { [self] in seen.withLock { $0.append(marks) } }, of: release, in: manager)
        #expect(try await engine.embed(["a"]) == [[1, 1]])
        #expect(try await engine.count("one two") == 2)
        #expect(seen.withLock { $0 } == [1] && marks == 0)
        let probation = try await manager.store.state(of: release.family).probation
        #expect(probation?.answers == 0)
        await engine.stop()
        await #expect(throws: CancellationError.self) { _ = try await engine.embed(["a"]) }
        let bare = WatchedEngine(ScriptedEngine([]), of: release, in: manager)
        let error = await #expect(throws: LLMError.self) { _ = try await bare.embed(["a"]) }
        #expect(error?.code == .engineMissing)
    }
}
