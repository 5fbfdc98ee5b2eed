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

/// Several engines of one process in one memory.
@Suite(.timeLimit(.minutes(10))) struct EnginePoolTests {
    /// Opens engines whose planned size is given by family, and records loads and unloads.
    private final class Engines: Sendable {
        private struct Engine: ForwardingEngine {
            let engine = ScriptedEngine(Array(repeating: [.text("a"), .finish(.endOfGeneration)], count: 10))
            let onUnload: @Sendable () -> Void
            func unload() async { onUnload() }
        }

        let log = Locked<[String]>([])
        let requests = Locked<[EngineRegistry.Request]>([])
        let gates = Locked<[Barrier]>([])
        private let sizes: [String: UInt64]

        /// - Parameter sizes: the planned mebibytes by the weights' text.
        init(_ sizes: [String: UInt64]) { self.sizes = sizes }

        var registry: EngineRegistry {
            var registry = EngineRegistry()
            registry.register(.gguf) { [sizes] request in
                let bytes = (sizes[try Self.name(request)] ?? 0) << 20
                let budget = MemoryPlan.Device(memory: request.deviceMemory, occupied: request.occupied).budget
                guard bytes <= budget else { throw LLMError(.doesNotFit, "too large") }
                return bytes
            } open: { [log, requests, gates] request in
                let name = try Self.name(request)
                requests.withLock { $0.append(request) }
                log.withLock { $0.append("open \(name)") }
                if let gate = gates.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { try await gate.pass() }
                return Engine { log.withLock { $0.append("unload \(name)") } }
            }
            return registry
        }

        private static func name(_ request: EngineRegistry.Request) throws -> String {
            try String(contentsOf: request.files.weights.url, encoding: .utf8)
        }
    }

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func hearth(
        _ engines: Engines, memory: UInt64, configuration: Configuration = Configuration()
    ) throws -> Hearth {
        try Hearth(
            home: folder.path("home"), configuration: configuration, environment: ["HEARTH_NETWORK": "offline"],
            deviceMemory: memory << 20, engines: engines.registry, pressure: Plenty())
    }

    private func install(_ name: String, version: String = "1.0.0", sees: Bool = false, in hearth: Hearth) async throws
    {
        let release = try await hearth.manager.store.install(
            "\(name)@\(version)", weights: try folder.write("\(name)-\(version)", Data(name.utf8)),
            projector: sees ? try folder.write("eye", Data("eye".utf8)) : nil)
        _ = try await hearth.manager.store.activate(release.identity)
    }

    private func find(_ name: String, in hearth: Hearth) async throws -> LiveModel {
        try await hearth.find(ModelReference(parsing: name), policy: .localOnly)
    }

    /// Time enough for what was begun to get as far as it can.
    private func settle() async { for _ in 0..<2000 { await Task.yield() } }

    @Test func twoFamiliesThatFitOnlyAloneFollowEachOther() async throws {
        let engines = Engines(["one": 600, "two": 600])
        let hearth = try hearth(engines, memory: 1024)
        for name in ["one", "two"] { try await install(name, in: hearth) }
        let (one, two) = (try await find("one", in: hearth), try await find("two", in: hearth))
        // An idle engine leaves.
        try await one.load()
        try await two.load()
        #expect(engines.log.withLock { $0 } == ["open one", "unload one", "open two"])
        // One in use leaves after its lease; meanwhile nothing else is loaded.
        let lease = try await two.lease()
        let loading = Task { try await one.lease() }
        await settle()
        #expect(engines.log.withLock { $0 }.count == 3 && hearth.models.pool.memory.usedBytes == 600 << 20)
        lease.end()
        try await loading.value.end()
        #expect(engines.log.withLock { $0 }.suffix(2) == ["unload two", "open one"])
        #expect(hearth.models.pool.releases.map(\.family.name) == ["one"])
        await hearth.close()
        #expect(hearth.models.pool.memory.usedBytes == 0)
    }

    /// What a client keeps leaves last: not for a conversation's route, and not while another idle engine makes the room.
    @Test func whatAClientKeepsLeavesLast() async throws {
        let engines = Engines(["kept": 300, "idle": 300, "third": 300, "large": 700])
        let hearth = try hearth(engines, memory: 1024)
        for name in ["kept", "idle", "third", "large"] { try await install(name, in: hearth) }
        let kept = try await find("kept", in: hearth)
        try await kept.load()
        kept.keep()
        try await find("idle", in: hearth).load()
        let pool = hearth.models.pool
        pool.dropIdle()
        await until { pool.releases.map(\.family.name) == ["kept"] }
        // The kept one was used least recently.
        try await find("idle", in: hearth).load()
        try await find("third", in: hearth).load()
        #expect(Set(pool.releases.map(\.family.name)) == ["kept", "third"])
        // Nothing else makes room for this one.
        try await find("large", in: hearth).load()
        #expect(pool.releases.map(\.family.name) == ["large"])
        await hearth.close()
    }

    /// A load that may make no room fails where another engine would have to leave; one that may is tried after it.
    @Test func aLoadThatFindsNoRoomLeavesOthersAlone() async throws {
        let engines = Engines(["one": 600, "two": 600, "small": 100])
        let hearth = try hearth(engines, memory: 1024)
        for name in ["one", "two", "small"] { try await install(name, in: hearth) }
        try await find("one", in: hearth).loadBesideOthers()
        try await find("small", in: hearth).loadBesideOthers()
        let two = try await find("two", in: hearth)
        let error = await #expect(throws: LLMError.self) { try await two.loadBesideOthers() }
        #expect(error?.code == .doesNotFit && error?.disposition == .tryLater)
        #expect(engines.log.withLock { $0 } == ["open one", "open small"])
        try await two.load()
        #expect(engines.log.withLock { $0.last } == "open two")
        await hearth.close()
    }

    @Test func aModelThatFitsNotEvenAloneIsRefused() async throws {
        let engines = Engines(["one": 100, "giant": 1000])
        let hearth = try hearth(engines, memory: 1024)
        for name in ["one", "giant"] { try await install(name, in: hearth) }
        try await find("one", in: hearth).load()
        let giant = try await find("giant", in: hearth)
        let error = await #expect(throws: LLMError.self) { try await giant.load() }
        #expect(error?.code == .doesNotFit)
        #expect(engines.log.withLock { $0 } == ["open one"], "the one that fits stays")
    }

    @Test func enginesThatFitTogetherArePlannedTogether() async throws {
        let engines = Engines(["one": 300, "two": 200])
        let hearth = try hearth(engines, memory: 1024)
        for name in ["one", "two"] { try await install(name, in: hearth) }
        for name in ["one", "two"] { try await find(name, in: hearth).load() }
        #expect(engines.requests.withLock { $0.map(\.occupied) } == [0, 300 << 20])
        #expect(hearth.models.pool.memory.usedBytes == 500 << 20)
    }

    /// Below 6 GiB loading a model that sees unloads those for text; with 6 GiB both stay.
    @Test(
        arguments: [(6143, ["open text", "unload text", "open eyes"]), (6144, ["open text", "open eyes"])]
            as [(UInt64, [String])])
    func onASmallDeviceSightUnloadsText(memory: UInt64, log: [String]) async throws {
        let engines = Engines(["text": 100, "eyes": 100])
        let hearth = try hearth(engines, memory: memory)
        try await install("text", in: hearth)
        try await install("eyes", sees: true, in: hearth)
        for name in ["text", "eyes"] { try await find(name, in: hearth).load() }
        #expect(engines.log.withLock { $0 } == log)
    }

    /// A new version that does not fit beside the old one is loaded after it, and requests wait for it.
    @Test func aNewVersionTakesTheMemoryOfTheOld() async throws {
        let engines = Engines(["one": 600, "two": 600])
        let hearth = try hearth(engines, memory: 1024)
        try await install("one", in: hearth)
        let model = try await find("one", in: hearth)
        let lease = try await model.lease()
        let newer = try await hearth.manager.store.install(
            "one@2.0.0", weights: try folder.write("newer", Data("two".utf8)))
        var options = ActivationOptions()
        options.probes = false
        let activation = Task { [options] in try await hearth.manager.activate(newer.identity, options: options) }
        await settle()
        lease.end()
        _ = try await activation.value
        let next = try await model.lease()
        #expect(next.release == newer.identity)
        next.end()
        #expect(engines.log.withLock { $0 } == ["open one", "unload one", "open two"])
    }

    /// The turn cancels the preparation, whose load goes on for it.
    @Test func aPrewarmedModelIsLoadedOnce() async throws {
        let engines = Engines(["one": 100])
        let gate = Barrier()
        engines.gates.withLock { $0 = [gate] }
        let hearth = try hearth(engines, memory: 1024)
        try await install("one", in: hearth)
        let session = LanguageModelSession(model: try await find("one", in: hearth))
        session.prewarm()
        while engines.log.withLock({ $0.isEmpty }) { await Task.yield() }
        let answer = Task { try await session.respond(to: "?").content }
        await settle()
        gate.open()
        #expect(try await answer.value == "a")
        #expect(engines.log.withLock { $0 } == ["open one"])
    }

    /// Every engine is opened with the settings: of a family, a file, the library and the probe.
    @Test(arguments: ["model", "file", "library", "probe"]) func settingsReachEveryEngine(_ way: String) async throws {
        var configuration = Configuration()
        configuration.contextLength = 777
        configuration.cacheType = .q8
        configuration.flashAttention = .off
        configuration.threads = 3
        configuration.imageMaxTokens = 99
        configuration.stateFolder = folder.path("states")
        let engines = Engines(["one": 100])
        let hearth = try hearth(engines, memory: 1024, configuration: configuration)
        try await install("one", in: hearth)
        switch way {
        case "model": _ = try await hearth.model("one", policy: .localOnly)
        case "file": _ = try await hearth.open(folder.path("one-1.0.0").url)
        case "library":
            let downloads = await hearth.downloads
            await until { downloads.isModelLoaded }
        default:
            let newer = try await hearth.manager.store.install(
                "one@2.0.0", weights: try folder.write("newer", Data("one".utf8)))
            _ = try await hearth.manager.activate(newer.identity)
            // The canary's state is of no later use.
            configuration.stateFolder = nil
        }
        let opened = engines.requests.withLock { $0.map(\.configuration) }
        #expect(opened == [configuration])
    }
}
