import Foundation
import Hearth
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthHTTP
import HearthStore
import HearthTestSupport
import HearthTransfer
import Testing

/// The shell around the rows, over a scripted delivery.
@MainActor @Suite(.timeLimit(.minutes(10))) struct ModelLibraryTests {
    private let delivery = ScriptedDelivery()
    private let setting = MemorySetting()
    private let lost = HTTPError(.connectionLost, "the connection broke")

    private func library() async -> ModelLibrary {
        let library = ModelLibrary(delivery: delivery, defaultModel: setting.setting)
        await library.refresh()
        return library
    }

    private func state(_ library: ModelLibrary, _ model: ModelInfo) -> ModelState? { library.row(of: model.id)?.state }

    // MARK: What there is

    @Test func listsWhatIsHereAndWhatIsOffered() async {
        delivery.have(LocalModel(Models.text))
        delivery.offer(OfferedModel(Models.text.at("1.1.0"), isUpdate: true), OfferedModel(Models.other))
        let library = await library()
        #expect(library.rows.map(\.id.name) == ["diary", "poet"])
        #expect(state(library, Models.text) == .updateAvailable(Models.text.at("1.1.0").identity.version))
        #expect(state(library, Models.other) == .notDownloaded)
        #expect(library.selectedModel?.id == Models.text.id)
        #expect(!library.isRefreshing)
    }

    @Test func continuesOnceWhatAnEndedProcessLeft() async {
        delivery.offer(OfferedModel(Models.text), OfferedModel(Models.other))
        delivery.leave(Models.text)
        delivery.script(Models.text, [.sleep(.seconds(9))])
        let library = await library()
        await delivery.clock.sleepers(atLeast: 1)
        #expect(library.downloadState(of: Models.text.id).isActive)
        #expect(state(library, Models.other) == .notDownloaded)
        library.cancelDownload(Models.text.id)
        await yielding { delivery.discarded == [Models.text.identity] }
        #expect(state(library, Models.text) == .notDownloaded)
        await library.refresh()
        #expect(delivery.journal.all(with: "pull").count == 1)
    }

    @Test func offlineItShowsWhatIsHereAndSaysWhyThereIsNoMore() async {
        delivery.have(LocalModel(Models.text))
        delivery.failOffers(CatalogError(.originUnreachable, "models.example.org does not answer"))
        let library = await library()
        #expect(library.rows.map(\.state) == [.downloaded])
        #expect(library.offerProblem?.message == "Network error: models.example.org does not answer")
        #expect(library.homeProblem == nil)
        #expect(library.hasModel(for: .text))
        try? library.select(Models.text.id)
        #expect(library.selectedModel == Models.text)
        delivery.failOffers(nil)
        delivery.offer(OfferedModel(Models.other))
        await library.refresh()
        #expect(library.offerProblem == nil)
        #expect(library.rows.count == 2)
    }

    @Test func aSourceThatSaysNothingHidesNoOther() async {
        delivery.offer(OfferedModel(Models.text), OfferedModel(Models.other))
        let library = await library()
        delivery.offer(OfferedModel(Models.text.at("2.0.0")))
        delivery.failOneSource(lost)
        await library.refresh()
        #expect(library.rows.map(\.model.identity.version.name) == ["2.0.0", "1.0.0"])
        #expect(library.offerProblem?.message == "Network error: the connection broke")
        delivery.failOneSource(nil)
        await library.refresh()
        #expect(library.rows.map(\.id) == [Models.text.id])
        #expect(library.offerProblem == nil)
    }

    @Test func withoutAnyModelTheAppWorks() async throws {
        delivery.failOffers(lost)
        delivery.failLocal(StoreError(.homeTooNew, "laid out by a newer version"))
        let library = await library()
        #expect(library.rows.isEmpty)
        #expect(library.homeProblem?.code == "home-too-new")
        for role in ModelRole.allCases { #expect(!library.hasModel(for: role)) }
        let error = #expect(throws: ModelLibraryError.self) { try library.download(Models.text.id) }
        #expect(error?.code == .modelNotFound)
        #expect(error?.sentence == "Model not found: diary")
        library.cancelDownload(Models.text.id)
        try await library.delete(Models.text.id)
        #expect(delivery.journal.all == ["ask sources"])
    }

    @Test func hearsOfWhatOthersDo() async {
        let library = await library()
        delivery.have(LocalModel(Models.text))
        delivery.tell(.local)
        await until { library.rows.map(\.state) == [.downloaded] }
        delivery.offer(OfferedModel(Models.text.at("2.0.0"), isUpdate: true))
        delivery.tell(.offers)
        await until { library.rows.first?.update != nil }
    }

    // MARK: Downloads

    @Test func aTapFetchesThenSelects() async throws {
        let barrier = Barrier()
        delivery.offer(OfferedModel(Models.text), OfferedModel(Models.other))
        delivery.have(LocalModel(Models.other))
        delivery.script(Models.text, [.report(.progress(0.4)), .wait(barrier), .report(.received)])
        let library = await library()
        try library.performPrimaryAction(Models.text.id)
        await until { state(library, Models.text) == .downloading(progress: 0.4) }
        try library.performPrimaryAction(Models.text.id)
        try library.download(Models.text.id)
        barrier.open()
        await until { state(library, Models.text) == .downloaded }
        #expect(library.downloadState(of: Models.text.id) == .completed(Models.weights(Models.text)))
        #expect(delivery.journal.all(with: "pull") == ["pull diary"], "a second start of the same model is none")
        try library.performPrimaryAction(Models.text.id)
        #expect(library.selectedModel == Models.text)
    }

    @Test func transfersRunSideBySide() async throws {
        let barriers = [Barrier(), Barrier()]
        delivery.offer(OfferedModel(Models.text), OfferedModel(Models.other))
        delivery.script(Models.text, [.report(.progress(0.1)), .wait(barriers[0])])
        delivery.script(Models.other, [.report(.progress(0.2)), .wait(barriers[1])])
        let library = await library()
        try library.download(Models.text.id)
        try library.download(Models.other.id)
        await until { library.rows.map(\.state) == [.downloading(progress: 0.1), .downloading(progress: 0.2)] }
        barriers[1].open()
        await until { state(library, Models.other) == .downloaded }
        #expect(state(library, Models.text) == .downloading(progress: 0.1))
        barriers[0].open()
        await until { state(library, Models.text) == .downloaded }
    }

    @Test func afterAFailureTheNextStartWorks() async throws {
        delivery.offer(OfferedModel(Models.text))
        delivery.script(Models.text, [.report(.progress(0.4)), .fail(lost)], [.report(.progress(0.9))])
        let library = await library()
        try library.download(Models.text.id)
        await until {
            state(library, Models.text)
                == .failed(FailureBody(code: "network-error", message: "Network error: the connection broke"))
        }
        #expect(library.row(of: Models.text.id)?.primaryAction == .download)
        try library.performPrimaryAction(Models.text.id)
        await until { state(library, Models.text) == .downloaded }
        #expect(!delivery.journal.all.contains("discard diary"), "what a failure has kept is gone on with")
    }

    @Test func forgettingAFailureKeepsItsBytes() async throws {
        delivery.offer(OfferedModel(Models.text))
        delivery.script(Models.text, [.fail(lost)])
        let library = await library()
        try library.download(Models.text.id)
        await until {
            library.row(of: Models.text.id)?.primaryAction == .download && library.rows[0].state != .notDownloaded
        }
        library.reset(Models.text.id)
        #expect(state(library, Models.text) == .notDownloaded)
        #expect(!delivery.journal.all.contains("discard diary"))
    }

    @Test func aModelThatWouldNotRunIsRefusedAtOnce() async {
        delivery.offer(
            OfferedModel(Models.text, objection: .notEnoughMemory(needed: 9_000_000_000)))
        let library = await library()
        let error = #expect(throws: ModelLibraryError.self) { try library.download(Models.text.id) }
        #expect(error?.sentence == "This model requires 9 GB RAM. Your device may not support it.")
        #expect(delivery.journal.all(with: "pull").isEmpty)
    }

    @Test func theNextDownloadMayUseAMeteredNetwork() async throws {
        delivery.offer(OfferedModel(Models.text))
        delivery.script(Models.text, [.fail(NetworkError(.meteredNetwork, "Wi-Fi required"))])
        let library = await library()
        try library.download(Models.text.id)
        await until {
            state(library, Models.text)
                == .failed(FailureBody(code: "metered-network", message: "Wi-Fi required"))
        }
        library.metered = .allow
        try library.download(Models.text.id)
        await until { state(library, Models.text) == .downloaded }
        #expect(delivery.metered == [.deny, .allow])
    }

    // MARK: Settings

    @Test func theDefaultModelIsKept() async throws {
        delivery.have(LocalModel(Models.text), LocalModel(Models.other))
        let library = await library()
        #expect(library.selectedModel == nil)
        try await library.setDefaultModel(Models.other.id)
        #expect(setting.text == "poet")
        #expect(library.defaultModel == "poet")
        #expect(library.selectedModel == Models.other)
        #expect(library.row(of: Models.other.id)?.isDefault == true)
        let next = await self.library()
        #expect(next.selectedModel == Models.other)
        setting.fail(FileError(errno: 28, doing: "write", path: Path("/config.json")))
        await #expect(throws: FileError.self) { try await library.setDefaultModel(Models.text.id) }
        #expect(library.defaultModel == "poet")
        #expect(library.selectedModel == Models.other)
    }

    @Test func theSettingIsThatOfTheConfiguration() async throws {
        let folder = try TemporaryFolder()
        try folder.write("config.json", Data(#"{"defaultModel": "diary", "threads": 3, "ours": 7}"#.utf8))
        let setting = DefaultModelSetting.configuration(home: folder.path)
        #expect(try await setting.load() == "diary")
        try await setting.save("poet")
        #expect(try await setting.load() == "poet")
        #expect(try Configuration.load(home: folder.path).threads == 3)
        try await setting.save(nil)
        #expect(try await setting.load() == nil)
        await #expect(throws: ConfigurationError.self) { try await setting.save("../../etc/passwd") }
        try folder.write("config.json", Data("not JSON".utf8))
        let library = ModelLibrary(delivery: delivery, defaultModel: setting)
        await library.refreshLocal()
        #expect(library.homeProblem?.code == "invalid-configuration")
    }

    // MARK: Life

    @Test func goesAwayWithItsLastOwnerAndEndsItsDownloads() async throws {
        delivery.offer(OfferedModel(Models.text))
        delivery.script(Models.text, [.report(.progress(0.5)), .wait(Barrier())])
        weak var watched: ModelLibrary?
        do {
            let library = await library()
            watched = library
            try library.download(Models.text.id)
            await until { state(library, Models.text) == .downloading(progress: 0.5) }
        }
        #expect(watched == nil)
        await yielding { delivery.journal.all.contains("left diary") }
        #expect(!delivery.journal.all.contains("discard diary"), "nobody cancelled it: its bytes stay")
    }

    @Test func everyPropertyCanBeObserved() async throws {
        delivery.offer(OfferedModel(Models.text), OfferedModel(Models.other))
        let library = ModelLibrary(delivery: delivery, defaultModel: setting.setting)
        #expect(await isTold({ _ = library.rows }) { await library.refresh() })
        #expect(await isTold({ _ = library.isRefreshing }) { await library.refresh() })
        #expect(
            try await isTold({ _ = library.downloadState(of: Models.text.id) }) {
                try library.download(Models.text.id)
            })
        #expect(
            await isTold({ _ = library.hasModel(for: .text) }) {
                await until { library.hasModel(for: .text) }
            })
        #expect(
            try await isTold({ _ = library.selectedModel }) {
                try library.download(Models.other.id)
                await until { state(library, Models.other) == .downloaded }
                try library.select(Models.other.id)
            })
        #expect(try await isTold({ _ = library.defaultModel }) { try await library.setDefaultModel(Models.other.id) })
        delivery.failOffers(lost)
        delivery.failLocal(lost)
        #expect(await isTold({ _ = library.offerProblem }) { await library.refresh() })
        delivery.failLocal(nil)
        #expect(await isTold({ _ = library.homeProblem }) { await library.refresh() })
        #expect(await isTold({ _ = library.metered }) { library.metered = .allow })
    }
}
