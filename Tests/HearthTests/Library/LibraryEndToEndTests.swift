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

/// The library over a real `ModelManager`: an origin in a folder, a home on the disk, bytes that are really hashed.
@MainActor @Suite(.timeLimit(.minutes(10))) struct LibraryEndToEndTests {
    private struct Offer {
        var family: String
        var version = "1.0.0"
        var role = ModelRole.text
        var memory: UInt64 = 1_000_000_000
        var extra = ""
        var padding = 3

        var filename: String { "\(family)-v\(version)-q4_1.gguf" }
        var bytes: Data {
            ModelFiles.gguf(
                texts: [("general.name", "\(family) \(version)")], payload: [UInt8](repeating: 3, count: padding))
        }

        var json: String {
            let bytes = bytes
            return #"""
                {"id": "\#(filename)", "version": "\#(version)", "filename": "\#(filename)", "sizeBytes": \#(bytes.count),
                 "sha256": "\#(SHA256Digest(hashing: Array(bytes)).hex)", "role": "\#(role.rawValue)", \#(extra)
                 "name": "The \#(family)", "requirements": {"memoryBytes": \#(memory)}, "downloadUrl": "\#(filename)"}
                """#
        }
    }

    private let folder: TemporaryFolder
    private var home: Path { folder.path("home") }

    init() throws { folder = try TemporaryFolder() }

    private func publish(_ offers: Offer..., to place: String = "origin") throws {
        for offer in offers { try folder.write("\(place)/\(offer.filename)", offer.bytes) }
        let entries = offers.map(\.json).joined(separator: ",\n")
        try folder.write("\(place)/models.json", Data(#"{"schemaVersion": 1, "models": [\#(entries)]}"#.utf8))
    }

    private func manager(bundled: [BundledSource] = []) -> ModelManager {
        ModelManager(
            home: home, origins: [Origin(name: "test", manifestURL: folder.path("origin/models.json").url)],
            network: UnmonitoredNetwork(), deviceMemory: 8_000_000_000, formats: [.gguf], bundled: bundled)
    }

    private func state(_ library: ModelLibrary, _ name: String) -> ModelState? {
        library.rows.first { $0.id.name == name }?.state
    }

    /// A pin, and a release that is held back, are shown before any source was asked; what a source says comes with its list.
    @Test func whyAModelStaysIsShown() async throws {
        try publish(Offer(family: "diary"))
        let manager = manager()
        let family = try #require(Family("diary"))
        let release = try await manager.pull(try ModelReference(parsing: "diary")).release.identity
        let library = ModelLibrary(manager: manager, home: home)
        func shown() -> NoUpdate? { library.rows.first { $0.id == family }?.noUpdate }
        await library.refreshLocal()
        #expect(shown() == nil)
        try await manager.pin(release)
        await library.refreshLocal()
        #expect(shown() == .pinned(release))
        try await manager.unpin(family)
        await library.refresh()
        #expect(shown() == .upToDate)
        try publish(Offer(family: "diary", version: "1.1.0"))
        let newer = try await manager.pull(try ModelReference(parsing: "diary")).release.identity
        try await manager.rollback(family)
        let alone = ModelLibrary(manager: manager, home: home)
        await alone.refreshLocal()
        #expect(alone.rows.first { $0.id == family }?.noUpdate == .notEligible(newer, .heldBack))
    }

    /// The publisher's name, description, recommendation, memory and least app version are known without the origin too.
    @Test func whatThePublisherSaysOutlivesItsOrigin() async throws {
        var offer = Offer(family: "diary", memory: 2_000_000_000)
        offer.extra = #""summary": "Keeps a diary.", "recommended": true, "minAppVersion": "1.2.0","#
        try publish(offer)
        _ = try await manager().pull(try ModelReference(parsing: "diary"))
        try LocalFileSystem().removeTree(folder.path("origin"))
        let library = ModelLibrary(manager: manager(), home: home)
        await library.refresh()
        #expect(library.offerProblem != nil)
        let form = RowForm(try #require(library.rows.first))
        #expect(form.name == "The diary" && form.summary == "Keeps a diary.")
        #expect(form.memoryBytes == 2_000_000_000 && form.memoryContextLength == nil)
        #expect(form.minAppVersion == "1.2.0" && form.badges.contains("recommended"))
    }

    /// A pull that ends half-way is continued by the library of the next process, and its bytes can be discarded.
    @Test(arguments: [false, true])
    func showsAHalfFetchedModel(discards: Bool) async throws {
        try publish(Offer(family: "diary", padding: 3 << 20))
        let first = manager()
        let (begun, source) = AsyncStream.makeStream(of: Void.self)
        var slow = PullOptions()
        slow.bytesPerSecond = 1 << 20
        let pull = Task { [slow] in
            try await first.pull(try ModelReference(parsing: "diary"), options: slow) { reading in
                if reading.completedBytes > 1 << 19 { source.yield() }
            }
        }
        for await _ in begun { break }
        pull.cancel()
        _ = await pull.result

        let second = manager()
        #expect(try await ListedDelivery(second) { [] }.unfinishedDownloads().map(\.id.name) == ["diary"])
        let library = ModelLibrary(manager: second, home: home)
        await library.refresh()
        let family = try #require(Family("diary"))
        if discards {
            library.cancelDownload(family)
            await library.close()
            #expect(try await second.transfers.list().isEmpty || state(library, "diary") == .downloaded)
        } else {
            await until { state(library, "diary") == .downloaded }
            #expect(try await second.transfers.list().isEmpty)
        }
        #expect(try await ListedDelivery(manager()) { [] }.unfinishedDownloads().isEmpty)
    }

    @Test func fromTheListToTheUpdateAndAway() async throws {
        try publish(
            Offer(family: "diary"), Offer(family: "eyes", role: .vision), Offer(family: "huge", memory: 9_000_000_000))
        let library = ModelLibrary(manager: manager(), home: home)
        await library.refresh()
        #expect(library.rows.map(\.model.displayName) == ["The diary", "The huge", "The eyes"])
        #expect(
            library.rows.map(\.state) == [
                .notDownloaded, .incompatible(.notEnoughMemory(needed: 9_000_000_000)), .notDownloaded,
            ])
        #expect(!library.hasModel(for: .text))
        #expect(library.offerProblem == nil && library.homeProblem == nil)

        // Download and choose.
        let (diary, huge, eyes) = (library.rows[0].id, library.rows[1].id, library.rows[2].id)
        #expect(throws: ModelLibraryError.self) { try library.download(huge) }
        try library.download(diary)
        try library.download(eyes)
        await until { state(library, "diary") == .downloaded && state(library, "eyes") == .downloaded }
        guard case .completed(let weights) = library.downloadState(of: diary) else {
            Issue.record("\(library.downloadState(of: diary))")
            return
        }
        #expect(try LocalFileSystem().contents(ofFile: weights, limit: 1 << 20) == Offer(family: "diary").bytes)
        #expect(library.selectedModel?.displayName == "The diary", "the only one for text")
        try await library.setDefaultModel(diary)
        #expect(try Configuration.load(home: home).defaultModel == "diary")
        #expect(library.rows[0].badges == [.active])

        // Another version.
        try publish(
            Offer(family: "diary", version: "1.1.0"), Offer(family: "eyes", role: .vision),
            Offer(family: "huge", memory: 9_000_000_000))
        await library.refresh()
        let version = try #require(ReleaseVersion("1.1.0"))
        #expect(state(library, "diary") == .updateAvailable(version))
        #expect(state(library, "eyes") == .downloaded)
        #expect(library.row(of: diary)?.primaryAction == .select)
        try library.download(diary)
        await until { state(library, "diary") == .downloaded }
        #expect(library.selectedModel?.identity.version == version)
        await library.refresh()
        #expect(state(library, "diary") == .downloaded)

        // A second program sees the same, and a start without any origin too.
        try LocalFileSystem().removeTree(folder.path("origin"))
        let second = ModelLibrary(manager: manager(), home: home)
        await second.refresh()
        #expect(second.rows.map(\.state) == [.downloaded, .downloaded])
        #expect(second.selectedModel?.identity.version == version)
        #expect(second.offerProblem != nil)
        try second.download(diary)
        await until { second.downloadState(of: diary) != .downloading(progress: nil) }
        #expect(state(second, "diary") == .downloaded, "what is here is looked for nowhere else")

        // Away with it.
        try await second.delete(diary)
        #expect(second.rows.map(\.id) == [eyes])
        #expect(second.selectedModel == nil)
        await library.refreshLocal()
        #expect(state(library, "diary") == .notDownloaded)
        #expect(try await manager().installed().map(\.identity.family) == [eyes])
    }

    @Test func aFileThatIsNotThePromisedOneFailsAndCanBeTriedAgain() async throws {
        try publish(Offer(family: "diary"))
        try folder.write(
            "origin/\(Offer(family: "diary").filename)", Data(repeating: 7, count: Offer(family: "diary").bytes.count))
        let clock = HurriedClock()
        let manager = ModelManager(
            home: home, origins: [Origin(name: "test", manifestURL: folder.path("origin/models.json").url)],
            time: clock.time, network: UnmonitoredNetwork(), deviceMemory: 8_000_000_000)
        let library = ModelLibrary(manager: manager, home: home)
        await library.refresh()
        let diary = library.rows[0].id
        try library.download(diary)
        await until { library.row(of: diary)?.primaryAction == .download && state(library, "diary") != .notDownloaded }
        guard case .failed(let failure) = state(library, "diary") else {
            Issue.record("\(library.rows)")
            return
        }
        #expect(failure.code == "checksum-mismatch")
        #expect(failure.message.hasPrefix("Download corrupted"))
        try publish(Offer(family: "diary"))
        try library.download(diary)
        await until { state(library, "diary") == .downloaded }
    }

    @Test func anOriginThatDoesNotAnswerIsAnsweredForByItsLastList() async throws {
        try publish(Offer(family: "diary"))
        let list = try LocalFileSystem().contents(ofFile: folder.path("origin/models.json"), limit: 1 << 20)
        let answers = Locked(true)
        let server = try FaultServer { _ in answers.withLock { $0 } ? Reply(body: .data(list)) : Reply(503) }
        let manager = ModelManager(
            home: home, origins: [Origin(name: "test", manifestURL: try server.url("/models.json"))],
            network: UnmonitoredNetwork(), deviceMemory: 8_000_000_000)
        await ModelLibrary(manager: manager, home: home).refresh()
        answers.withLock { $0 = false }
        let library = ModelLibrary(manager: manager, home: home)
        await library.refresh(.now)
        #expect(library.rows.map(\.state) == [.notDownloaded])
        #expect(library.cachedLists.map(\.source) == ["test"])
        #expect(library.cachedLists.first?.sentence.hasPrefix("test: ") == true)
        #expect(library.cachedLists.first?.sentence.contains("Using the list cached on ") == true)
        #expect(library.offerProblem == nil)
        answers.withLock { $0 = true }
        await library.refresh(.now)
        #expect(library.cachedLists.isEmpty)
    }

    @Test func whatTheOthersInstallIsHeardOf() async throws {
        try publish(Offer(family: "diary"))
        let manager = manager()
        let library = ModelLibrary(manager: manager, home: home)
        await library.refresh()
        #expect(library.rows.map(\.state) == [.notDownloaded])
        _ = try await manager.pull(try ModelReference(parsing: "diary"))
        await until { library.rows.map(\.state) == [.downloaded] }
    }

    @Test func whatCameWithTheAppIsThereAndAnUpdateTakesItsPlace() async throws {
        try publish(Offer(family: "diary"), to: "app")
        try publish(Offer(family: "diary", version: "2.0.0"))
        let library = ModelLibrary(
            manager: manager(bundled: [BundledSource(folder: folder.path("app"))]), home: home)
        await library.refreshLocal()
        #expect(library.rows.map(\.state) == [.downloaded])
        #expect(library.rows.map(\.presence) == [.bundled])
        #expect(library.rows[0].badges == [.active, .bundled])
        #expect(library.hasModel(for: .text))
        await library.refreshOffers()
        #expect(library.rows[0].update?.version.name == "2.0.0")
        try library.download(library.rows[0].id)
        await until { library.rows[0].presence == .downloaded }
        #expect(library.selectedModel?.identity.version.name == "2.0.0")
        // Without the update, the app's own serves again.
        try await library.delete(library.rows[0].id)
        await library.refreshLocal()
        #expect(library.rows.map(\.presence) == [.bundled])
        #expect(library.rows[0].update?.version.name == "2.0.0")
    }

    @Test func anOlderAppIsToldWhatItMisses() async throws {
        try publish(Offer(family: "diary", extra: #""minAppVersion": "3.0.0","#))
        let manager = ModelManager(
            home: home, origins: [Origin(name: "test", manifestURL: folder.path("origin/models.json").url)],
            network: UnmonitoredNetwork(), deviceMemory: 8_000_000_000, appVersion: SemanticVersion("2.0.0"))
        let library = ModelLibrary(manager: manager, home: home)
        await library.refresh()
        let needed = try #require(SemanticVersion("3.0.0"))
        #expect(library.rows.map(\.state) == [.incompatible(.appTooOld(needs: needed))])
        let error = #expect(throws: DeliveryError.self) { try library.download(library.rows[0].id) }
        #expect(error?.code == .appTooOld)
    }
}
