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

/// Delivery and engines together, with engines that say which file they were opened from.
@Suite(.timeLimit(.minutes(10))) struct LiveModelsTests {
    /// An engine that answers with its model's text, and knows whether it was unloaded.
    private actor NamedEngine: InferenceEngine {
        private let engine: ScriptedEngine
        private let onUnload: @Sendable () -> Void

        init(_ name: String, onUnload: @escaping @Sendable () -> Void) {
            engine = ScriptedEngine(
                Array(repeating: [.text(name), .finish(.endOfGeneration)], count: 100), callsTools: name == "two")
            self.onUnload = onUnload
        }

        var modelInformation: ModelInformation { get async throws { await engine.modelInformation } }
        nonisolated var callsTools: Bool { engine.callsTools }

        nonisolated func generate(
            _ messages: [ChatMessage], options: GenerationOptions
        ) -> AsyncThrowingStream<GenerationEvent, any Error> { engine.generate(messages, options: options) }

        func unload() async { onUnload() }
    }

    private let folder: TemporaryFolder
    private let family: Family
    private let log = Locked<[String]>([])

    init() throws {
        folder = try TemporaryFolder()
        family = try #require(Family("named"))
    }

    private func manager(bundled: [BundledSource] = []) -> ModelManager {
        ModelManager(
            home: folder.path("home"), origins: [], network: UnmonitoredNetwork(),
            deviceMemory: 8 << 30, bundled: bundled)
    }

    private func models(_ manager: ModelManager) -> LiveModels {
        let log = log
        return LiveModels(manager: manager) { files in
            let text = try String(contentsOf: files.weights.url, encoding: .utf8)
            if text == "broken" { throw LLMError(.cannotLoad, "no engine takes it") }
            log.withLock { $0.append("load \(text)") }
            return NamedEngine(text) { log.withLock { $0.append("unload \(text)") } }
        }
    }

    @discardableResult
    private func install(_ version: String, _ text: String, with manager: ModelManager) async throws -> InstalledRelease
    {
        try await manager.pull(.file(try folder.write("named-v\(version)-q4_1.gguf", Data(text.utf8)))).release
    }

    private func answer(_ chat: LanguageModelSession) async throws -> String {
        var text = ""
        for try await event in chat.streamResponse(to: "Who are you?").events {
            if case .text(let piece) = event { text += piece }
        }
        return text
    }

    @Test func aConversationGoesOnWithTheNewVersion() async throws {
        let manager = manager()
        let first = try await install("1.0.0", "one", with: manager)
        let models = models(manager)
        let model = try await models.model(family)
        #expect(log.withLock { $0 } == [], "nothing is loaded before it is used")
        let chat = LanguageModelSession(model: model)
        #expect(try await answer(chat) == "one")
        #expect(await !model.callsTools)
        await manager.onReady { [log] model in
            log.withLock { $0.append("ready \(model.identity?.version.name ?? "none")") }
        }
        let lease = try await model.lease()
        try await install("2.0.0", "two", with: manager)
        #expect(try await answer(chat) == "two")
        #expect(await model.callsTools, "it is the live one that is asked")
        #expect(chat.transcript.count == 4)
        #expect(lease.release == first.identity)
        #expect(log.withLock { $0 } == ["load one", "load two", "ready 2.0.0"])
        lease.end()
        try await models.cache.drop(first.identity)
        #expect(log.withLock { $0 }.last == "unload one")
    }

    @Test func whatCannotBeLoadedLeavesTheOldOneAnswering() async throws {
        let manager = manager()
        try await install("1.0.0", "one", with: manager)
        let models = models(manager)
        let chat = LanguageModelSession(model: try await models.model(family))
        #expect(try await answer(chat) == "one")
        var events = manager.events().makeAsyncIterator()
        try await install("2.0.0", "broken", with: manager)
        #expect(try await answer(chat) == "one")
        _ = await events.next()
        guard case .swapFailed(let release, _)? = await events.next() else {
            Issue.record("nothing was said of it")
            return
        }
        #expect(release.identity.version.name == "2.0.0")
    }

    /// Opens everything but what is called broken, and counts how often that was tried.
    private func models(_ manager: ModelManager, attempts: Locked<Int>, isBroken: Locked<Bool>) -> LiveModels {
        LiveModels(manager: manager) { files in
            let text = try String(contentsOf: files.weights.url, encoding: .utf8)
            if text == "broken" {
                attempts.withLock { $0 += 1 }
                if isBroken.withLock({ $0 }) { throw LLMError(.cannotLoad, "no engine takes it") }
            }
            return NamedEngine(text) {}
        }
    }

    @Test(arguments: [false, true])
    func whatCannotBeLoadedIsTriedAgainAtSensibleMomentsOnly(_ isElsewhere: Bool) async throws {
        let manager = manager()
        try await install("1.0.0", "one", with: manager)
        let (attempts, isBroken) = (Locked(0), Locked(true))
        let models = models(manager, attempts: attempts, isBroken: isBroken)
        func answered() async throws -> String {
            let model = try await models.model(family, policy: .localOnly)
            return try await answer(LanguageModelSession(model: model))
        }
        #expect(try await answered() == "one")
        var events = manager.events().makeAsyncIterator()
        // This process makes it live, or another does and this one finds it at its next use.
        let newer = try await install("2.0.0", "broken", with: isElsewhere ? self.manager() : manager)
        for _ in 0..<3 { #expect(try await answered() == "one") }
        #expect(attempts.withLock { $0 } == 1, "once, not at every use")
        if !isElsewhere { _ = await events.next() }
        guard case .swapFailed(let release, _)? = await events.next() else {
            Issue.record("nothing was said of it")
            return
        }
        #expect(release.identity == newer.identity)
        // Looking again is such a moment, making it live again another, and unloading a third.
        await manager.loadStored()
        #expect(attempts.withLock { $0 } == 2)
        _ = try await manager.use(family, version: newer.identity.version, variant: nil)
        #expect(attempts.withLock { $0 } == 3)
        #expect(try await answered() == "one")
        #expect(attempts.withLock { $0 } == 3)
        isBroken.withLock { $0 = false }
        await models.unload(family)
        #expect(try await answered() == "broken")
        #expect(try await answered() == "broken")
        #expect(attempts.withLock { $0 } == 4)
    }

    /// Where the old one is gone from the disk too there is nothing to fall back on, and whoever asks hears why.
    @Test func whatCannotBeLoadedIsAnErrorWhereNothingElseIsLeft() async throws {
        let manager = manager()
        let old = try await install("1.0.0", "one", with: manager)
        let (attempts, isBroken) = (Locked(0), Locked(true))
        let models = models(manager, attempts: attempts, isBroken: isBroken)
        let model = try await models.model(family, policy: .localOnly)
        #expect(try await answer(LanguageModelSession(model: model)) == "one")
        try await install("2.0.0", "broken", with: self.manager())
        try await models.cache.drop(old.identity)
        try await manager.store.remove(family, version: old.identity.version, variant: nil)
        for count in 1...2 {
            let again = try await models.model(family, policy: .localOnly)
            #expect(attempts.withLock { $0 } == count - 1, "nothing is loaded before it is used")
            await #expect(throws: LLMError.self) { try await again.lease() }
            #expect(attempts.withLock { $0 } == count)
        }
        isBroken.withLock { $0 = false }
        #expect(try await answer(LanguageModelSession(model: model)) == "broken")
    }

    /// A disk whose next reading of a bundled list waits.
    private final class PausingDisk: ForwardingFileSystem {
        let base: any FileSystem = LocalFileSystem()
        let waits = Locked(false)
        let arrived: AsyncStream<Void>
        private let arrival: AsyncStream<Void>.Continuation
        private let release = DispatchSemaphore(value: 0)

        init() { (arrived, arrival) = AsyncStream.makeStream() }

        func open(_ path: Path, _ mode: OpenMode, permissions: UInt32) throws -> OpenFile {
            let isHeld = waits.withLock { waits in
                defer { waits = false }
                return waits
            }
            if isHeld {
                arrival.yield()
                release.wait()
            }
            return try base.open(path, mode, permissions: permissions)
        }

        func goOn() { release.signal() }
    }

    /// A release becomes live while somebody looks up which one is, and before there is a model in memory to swap.
    @Test func whatBecomesLiveWhileAModelIsLookedUpIsWhatAnswers() async throws {
        let disk = PausingDisk()
        _ = try bundle("0.1.0", "bundled")
        let manager = manager(bundled: [BundledSource(folder: folder.path("app"), fileSystem: disk)])
        try await install("1.0.0", "one", with: manager)
        let models = models(manager)
        disk.waits.withLock { $0 = true }
        let family = family
        let lookup = Task { try await models.model(family, policy: .localOnly) }
        var arrived = disk.arrived.makeAsyncIterator()
        _ = await arrived.next()
        try await install("2.0.0", "two", with: manager)
        disk.goOn()
        #expect(try await answer(LanguageModelSession(model: try await lookup.value)) == "two")
    }

    /// Makes of each release a copy that says for which settings it is.
    private struct CopyingPreparer: ReleasePreparer {
        let settings: Locked<String>

        func recipe(for release: InstalledRelease) async throws -> Recipe? {
            Recipe(
                engine: "copy", engineVersion: "1", settings: settings.withLock { $0 }, fileName: "made.bin",
                expectedSize: 1, summary: "a copy")
        }

        func build(
            _ recipe: Recipe, of release: InstalledRelease, at target: Path,
            progress: @escaping @Sendable (Double) -> Void
        ) async throws { try Data(recipe.settings.utf8).write(to: target.url) }
    }

    /// The lease under which an engine is opened does not keep what was made for an engine before.
    @Test func whatWasMadeForAnotherEngineGoesWhenANewOneIsOpened() async throws {
        let settings = Locked("old")
        let manager = ModelManager(
            home: folder.path("home"), origins: [], network: UnmonitoredNetwork(), deviceMemory: 8 << 30,
            preparer: CopyingPreparer(settings: settings))
        let release = try await install("1.0.0", "one", with: manager)
        let models = models(manager)
        let model = try await models.model(family, policy: .localOnly)
        #expect(try await answer(LanguageModelSession(model: model)) == "old")
        let place = folder.path("home/prepared/named/\(release.identity.folderName)")
        let before = try LocalFileSystem().contents(of: place)
        try await models.cache.drop(release.identity)
        settings.withLock { $0 = "new" }
        #expect(try await answer(LanguageModelSession(model: model)) == "new")
        let after = try LocalFileSystem().contents(of: place)
        #expect(before.count == 1 && after.count == 1 && before != after)
    }

    @Test func whatIsLoadedIsHeldOnTheDisk() async throws {
        let manager = manager()
        let release = try await install("1.0.0", "one", with: manager)
        let place = "leases/named/\(release.identity.folderName)"
        let leases = { try LocalFileSystem().contents(of: folder.path("home/" + place)).count }
        let models = models(manager)
        _ = try await answer(LanguageModelSession(model: try await models.model(family)))
        #expect(try leases() == 1, "idle, and still loaded")
        try await models.cache.drop(release.identity)
        #expect(try leases() == 0)
    }

    @Test func anotherProcessMadeAnotherLive() async throws {
        let manager = manager()
        try await install("1.0.0", "one", with: manager)
        let models = models(manager)
        let chat = LanguageModelSession(model: try await models.model(family))
        #expect(try await answer(chat) == "one")
        try await install("2.0.0", "two", with: self.manager())
        #expect(try await answer(chat) == "one", "nobody told this process")
        await manager.loadStored()
        #expect(try await answer(chat) == "two")
    }

    private func bundle(_ version: String, _ text: String) throws -> BundledSource {
        let name = "named-v\(version)-q4_1.gguf"
        let weights = Data(text.utf8)
        try folder.write("app/\(name)", weights)
        try folder.write(
            "app/models.json",
            Data(
                #"""
                {"schemaVersion": 1, "models": [{"id": "n", "filename": "\#(name)", "sizeBytes": \#(weights.count),
                  "sha256": "\#(SHA256Digest(hashing: weights))", "downloadUrl": "\#(name)"}]}
                """#.utf8))
        return BundledSource(folder: folder.path("app"))
    }

    @Test func whatCameWithTheAppAnswersUntilADownloadIsNewer() async throws {
        let manager = manager(bundled: [try bundle("1.0.0", "bundled")])
        let models = models(manager)
        let model = try await models.model(family, policy: .localOnly)
        func answered() async throws -> String { try await answer(LanguageModelSession(model: model)) }
        #expect(try await answered() == "bundled")
        #expect(await model.release?.version.name == "1.0.0")
        try await install("0.9.0", "old", with: manager)
        #expect(try await answered() == "bundled", "an older download changes nothing")
        try await install("2.0.0", "two", with: manager)
        #expect(try await answered() == "two")
        // The way back is to an older download, and what came with the app goes before it.
        #expect(try await manager.rollback(family).to?.identity.version.name == "0.9.0")
        #expect(try await answered() == "bundled")
        #expect(try await manager.availability(of: family).identity?.version.name == "1.0.0")
        // And with no download left it is the only one.
        await models.unload(family)
        try await manager.store.remove(family, version: nil, variant: nil)
        let again = try await models.model(family, policy: .localOnly)
        #expect(try await answer(LanguageModelSession(model: again)) == "bundled")
        #expect(log.withLock { $0 }.filter { $0 == "load old" }.isEmpty)
    }

    @Test func theFirstDownloadGoesBackToWhatCameWithTheApp() async throws {
        let manager = manager(bundled: [try bundle("1.0.0", "bundled")])
        let models = models(manager)
        try await install("2.0.0", "two", with: manager)
        let model = try await models.model(family, policy: .localOnly)
        func answered() async throws -> String { try await answer(LanguageModelSession(model: model)) }
        #expect(try await answered() == "two")
        let rollback = try await manager.rollback(family)
        #expect(rollback.from.version.name == "2.0.0" && rollback.to == nil)
        #expect(try await answered() == "bundled")
        #expect(try await manager.store.active(family) == nil)
        #expect(try await manager.store.state(of: family).isHeldBack(rollback.from))
        // There is no further back than that.
        await #expect(throws: StoreError.self) { try await manager.rollback(family) }
    }

    /// The projector comes from the same release as the weights, be it downloaded or the app's own.
    @Test func aReleaseIsOpenedWithItsProjector() async throws {
        let data = ["named-v1.0.0.gguf": Data("weights".utf8), "mmproj.gguf": Data("projector".utf8)]
        for (name, data) in data { try folder.write("origin/\(name)", data) }
        func facts(_ name: String) throws -> String {
            let data = try #require(data[name])
            return #""sizeBytes": \#(data.count), "sha256": "\#(SHA256Digest(hashing: data))""#
        }
        let manifest = try folder.write(
            "origin/models.json",
            Data(
                #"""
                {"schemaVersion": 1, "current": {"named": "1.0.0"}, "models": [{"id": "n", "family": "named", "version": "1.0.0",
                  "filename": "named-v1.0.0.gguf", "minAppVersion": "0.0.0", "downloadUrl": "named-v1.0.0.gguf", \#(try facts("named-v1.0.0.gguf")),
                  "files": [{"path": "eye/mmproj.gguf", "role": "projector", "url": "mmproj.gguf", \#(try facts("mmproj.gguf"))}]}]}
                """#.utf8))
        for isBundled in [false, true] {
            let home = folder.path("home-\(isBundled)")
            let manager = ModelManager(
                home: home, origins: [], network: UnmonitoredNetwork(), deviceMemory: 8 << 30,
                bundled: isBundled ? [BundledSource(folder: folder.path("origin"))] : [])
            if !isBundled { _ = try await manager.pull(ModelReference(parsing: "\(manifest)#named")) }
            let opened = Locked<[ReleaseFiles]>([])
            let models = LiveModels(manager: manager) { files in
                opened.withLock { $0.append(files) }
                return ScriptedEngine([[.text("seen"), .finish(.endOfGeneration)]])
            }
            let model = try await models.model(family, policy: .localOnly)
            #expect(try await answer(LanguageModelSession(model: model)) == "seen")
            let place =
                isBundled ? folder.path("origin") : home.appending("models").appending("named").appending("1.0.0")
            #expect(
                opened.withLock { $0 } == [
                    ReleaseFiles(
                        weights: place.appending("named-v1.0.0.gguf"),
                        projector: (isBundled ? place : place.appending("eye")).appending("mmproj.gguf"))
                ])
        }
    }

    @Test func aModelThatIsNotHereIsNotLoaded() async throws {
        let models = models(manager())
        await #expect(throws: StoreError.self) { try await models.model(family, policy: .localOnly) }
    }

    @Test func cancellingAnAnswerGivesTheLeaseBack() async throws {
        let manager = manager()
        let release = try await install("1.0.0", "one", with: manager)
        let stalling = ScriptedEngine([[.text("a"), .waitForCancellation]])
        let models = LiveModels(manager: manager) { _ in stalling }
        let model = try await models.model(family)
        let task = Task {
            for try await _ in model.generate([ChatMessage(.user, "x")], options: GenerationOptions()) {}
        }
        await stalling.stalled()
        task.cancel()
        _ = await task.result
        try await models.cache.drop(release.identity)
        #expect(models.cache.loaded.isEmpty)
    }
}
