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
    private let lab: LiveModelsLab

    init() throws { lab = try LiveModelsLab() }

    @Test func aConversationGoesOnWithTheNewVersion() async throws {
        let manager = lab.manager()
        let first = try await lab.install("1.0.0", "one", with: manager)
        let models = lab.models(manager)
        let model = try await models.model(lab.family)
        #expect(lab.log.withLock { $0 } == [], "nothing is loaded before it is used")
        let chat = LanguageModelSession(model: model)
        #expect(try await lab.answer(chat) == "one")
        #expect(try await !model.capabilities.contains(.vision))
        await manager.onReady { [log = lab.log] model in
            log.withLock { $0.append("ready \(model.identity?.version.name ?? "none")") }
        }
        let lease = try await model.lease()
        try await lab.install("2.0.0", "two", with: manager)
        #expect(try await lab.answer(chat) == "two")
        #expect(try await model.capabilities.contains(.vision), "it is the live one that is asked")
        #expect(chat.transcript.count == 4)
        #expect(lease.release == first.identity)
        #expect(lab.log.withLock { $0 } == ["load one", "load two", "ready 2.0.0"])
        lease.end()
        try await models.pool.drop(first.identity)
        #expect(lab.log.withLock { $0 }.last == "unload one")
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
            home: lab.folder.path("home"), origins: [], network: UnmonitoredNetwork(), deviceMemory: 8 << 30,
            preparer: CopyingPreparer(settings: settings))
        let release = try await lab.install("1.0.0", "one", with: manager)
        let models = lab.models(manager)
        let model = try await models.model(lab.family, policy: .localOnly)
        #expect(try await lab.answer(LanguageModelSession(model: model)) == "old")
        let place = lab.folder.path("home/prepared/named/\(release.identity.folderName)")
        let before = try LocalFileSystem().contents(of: place)
        try await models.pool.drop(release.identity)
        settings.withLock { $0 = "new" }
        #expect(try await lab.answer(LanguageModelSession(model: model)) == "new")
        let after = try LocalFileSystem().contents(of: place)
        #expect(before.count == 1 && after.count == 1 && before != after)
    }

    @Test func whatIsLoadedIsHeldOnTheDisk() async throws {
        let manager = lab.manager()
        let release = try await lab.install("1.0.0", "one", with: manager)
        let place = "leases/named/\(release.identity.folderName)"
        let leases = { try LocalFileSystem().contents(of: lab.folder.path("home/" + place)).count }
        let models = lab.models(manager)
        _ = try await lab.answer(LanguageModelSession(model: try await models.model(lab.family)))
        #expect(try leases() == 1, "idle, and still loaded")
        try await models.pool.drop(release.identity)
        #expect(try leases() == 0)
    }

    @Test func anotherProcessMadeAnotherLive() async throws {
        let manager = lab.manager()
        try await lab.install("1.0.0", "one", with: manager)
        let models = lab.models(manager)
        let chat = LanguageModelSession(model: try await models.model(lab.family))
        #expect(try await lab.answer(chat) == "one")
        try await lab.install("2.0.0", "two", with: lab.manager())
        #expect(try await lab.answer(chat) == "one", "this process was not told")
        await manager.loadStored()
        #expect(try await lab.answer(chat) == "two")
    }

    /// The projector comes from the same release as the weights, be it downloaded or the app's own.
    @Test func aReleaseIsOpenedWithItsProjector() async throws {
        let data = ["named-v1.0.0.gguf": Data("weights".utf8), "mmproj.gguf": Data("projector".utf8)]
        for (name, data) in data { try lab.folder.write("origin/\(name)", data) }
        func facts(_ name: String) throws -> String {
            let data = try #require(data[name])
            return #""sizeBytes": \#(data.count), "sha256": "\#(SHA256Digest(hashing: data))""#
        }
        let manifest = try lab.folder.write(
            "origin/models.json",
            Data(
                #"""
                {"schemaVersion": 1, "current": {"named": "1.0.0"}, "models": [{"id": "n", "family": "named", "version": "1.0.0",
                  "filename": "named-v1.0.0.gguf", "minAppVersion": "0.0.0", "downloadUrl": "named-v1.0.0.gguf", \#(try facts("named-v1.0.0.gguf")),
                  "files": [{"path": "eye/mmproj.gguf", "role": "projector", "url": "mmproj.gguf", \#(try facts("mmproj.gguf"))}]}]}
                """#.utf8))
        for isBundled in [false, true] {
            let home = lab.folder.path("home-\(isBundled)")
            let manager = ModelManager(
                home: home, origins: [], network: UnmonitoredNetwork(), deviceMemory: 8 << 30,
                bundled: isBundled ? [BundledSource(folder: lab.folder.path("origin"))] : [])
            if !isBundled { _ = try await manager.pull(ModelReference(parsing: "\(manifest)#named")) }
            let opened = Locked<[ReleaseFiles]>([])
            let models = LiveModels(manager: manager) { files in
                opened.withLock { $0.append(files) }
                return ScriptedEngine([[.text("seen"), .finish(.endOfGeneration)]])
            }
            let model = try await models.model(lab.family, policy: .localOnly)
            #expect(try await lab.answer(LanguageModelSession(model: model)) == "seen")
            let place =
                isBundled ? lab.folder.path("origin") : home.appending("models").appending("named").appending("1.0.0")
            #expect(
                opened.withLock { $0 } == [
                    ReleaseFiles(
                        weights: place.appending("named-v1.0.0.gguf"),
                        projector: (isBundled ? place : place.appending("eye")).appending("mmproj.gguf"))
                ])
        }
    }

    @Test func aModelThatIsNotHereIsNotLoaded() async throws {
        let models = lab.models(lab.manager())
        await #expect(throws: StoreError.self) { try await models.model(lab.family, policy: .localOnly) }
    }

    @Test func cancellingAnAnswerGivesTheLeaseBack() async throws {
        let manager = lab.manager()
        let release = try await lab.install("1.0.0", "one", with: manager)
        let stalling = ScriptedEngine([[.text("a"), .waitForCancellation]])
        let models = LiveModels(manager: manager) { _ in stalling }
        let model = try await models.model(lab.family)
        let task = Task {
            for try await _ in model.generate([ChatMessage(.user, "x")], options: GenerationOptions()) {}
        }
        await stalling.stalled()
        task.cancel()
        _ = await task.result
        try await models.pool.drop(release.identity)
        #expect(models.pool.loaded.isEmpty)
    }
}
