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

/// Cancelling and deleting in the library, over a scripted delivery.
@MainActor @Suite(.timeLimit(.minutes(10))) struct ModelLibraryCancellingTests {
    private let delivery = ScriptedDelivery()
    private let setting = MemorySetting()
    private let lost = HTTPError(.connectionLost, "the connection broke")

    private func library() async -> ModelLibrary {
        let library = ModelLibrary(delivery: delivery, defaultModel: setting.setting)
        await library.refresh()
        return library
    }

    private func state(_ library: ModelLibrary, _ model: ModelInfo) -> ModelState? { library.row(of: model.id)?.state }

    // MARK: Cancelling, at every moment

    /// The moments, as what has been reported when the user cancels.
    private nonisolated static let moments: [(String, [TransferProgress])] = [
        ("before the first byte", []), ("while bytes come", [.progress(0.5)]),
        ("while it waits for the network", [.progress(0.5), .hold(.offline)]),
        ("while it is checked", [.received]),
        ("in the pause between corrupted tries", [.received, .mismatch]),
        ("in the second pause", [.received, .mismatch, .release, .received, .mismatch]),
    ]

    @Test(arguments: moments.indices)
    func cancellingDiscardsAndLeavesItReady(_ moment: Int) async throws {
        let (name, reports) = Self.moments[moment]
        let wanted = reports.last.map { DownloadState($0) } ?? .downloading(progress: nil)
        delivery.offer(OfferedModel(Models.text))
        delivery.script(Models.text, reports.map { .report($0) } + [.sleep(.milliseconds(1500))], [])
        let library = await library()
        try library.download(Models.text.id)
        await delivery.clock.sleepers(atLeast: 1)
        await until { library.downloadState(of: Models.text.id) == wanted }
        library.cancelDownload(Models.text.id)
        #expect(state(library, Models.text) == .notDownloaded, "\(name): at once")
        // The next one begins when the bytes of this one are gone.
        try library.download(Models.text.id)
        await until { state(library, Models.text) == .downloaded }
        #expect(
            delivery.journal.all.dropFirst() == [
                "pull diary", "left diary", "discard diary", "pull diary", "arrived diary",
            ], "\(name)")
    }

    @Test func theClockMovesThePauseOn() async throws {
        delivery.offer(OfferedModel(Models.text))
        delivery.script(
            Models.text,
            [
                .report(.received), .report(.mismatch), .sleep(.milliseconds(1500)), .report(.release),
                .report(.progress(1)),
            ])
        let library = await library()
        try library.download(Models.text.id)
        await until { library.downloadState(of: Models.text.id) == .retrying(attempt: 2) }
        try library.download(Models.text.id)
        await delivery.clock.sleepers(atLeast: 1)
        delivery.clock.advance(by: .milliseconds(1499))
        #expect(library.downloadState(of: Models.text.id) == .retrying(attempt: 2))
        delivery.clock.advance(by: .milliseconds(1))
        await until { state(library, Models.text) == .downloaded }
        #expect(delivery.journal.all(with: "pull").count == 1, "a start in the pause is none")
    }

    @Test func whatArrivesThoughItWasCancelledIsListed() async throws {
        delivery.offer(OfferedModel(Models.text))
        delivery.script(Models.text, [.report(.progress(0.9)), .arriveWhenCancelled])
        let library = await library()
        try library.download(Models.text.id)
        await until { state(library, Models.text) == .downloading(progress: 0.9) }
        library.cancelDownload(Models.text.id)
        #expect(state(library, Models.text) == .notDownloaded)
        await until { state(library, Models.text) == .downloaded }
    }

    @Test func somebodyElseMayCancel() async throws {
        delivery.offer(OfferedModel(Models.text))
        delivery.script(Models.text, [.fail(TransferError(.cancelled, "cancelled in a terminal"))])
        let library = await library()
        var endings: [ModelLibrary.Ending] = []
        try library.download(Models.text) { endings.append($0) }
        await yielding { delivery.journal.all.contains("failed diary") && !endings.isEmpty }
        #expect(endings == [.cancelled])
        #expect(!delivery.journal.all.contains("discard diary"))
    }

    /// What ends a download of 1.0.0 after the sources have come to offer 1.1.0.
    enum Ending: CaseIterable { case cancelled, deleted, cancelledAfterFailure }

    @Test(arguments: Ending.allCases)
    func whatIsThrownAwayIsWhatWasBegun(_ ending: Ending) async throws {
        delivery.offer(OfferedModel(Models.text))
        delivery.script(
            Models.text, [.report(.progress(0.5)), ending == .cancelledAfterFailure ? .fail(lost) : .wait(Barrier())])
        let library = await library()
        try library.download(Models.text.id)
        let begun: ModelState =
            ending == .cancelledAfterFailure
            ? .failed(FailureBody(code: "network-error", message: "Network error: the connection broke"))
            : .downloading(progress: 0.5)
        await until { state(library, Models.text) == begun }
        delivery.offer(OfferedModel(Models.text.at("1.1.0")))
        await library.refreshOffers()
        #expect(library.row(of: Models.text.id)?.model == Models.text.at("1.1.0"))
        if ending == .deleted {
            try await library.delete(Models.text.id)
        } else {
            library.cancelDownload(Models.text.id)
        }
        await yielding { !delivery.discarded.isEmpty }
        #expect(delivery.discarded == [Models.text.identity])
    }

    // MARK: Deleting

    @Test func deletingEndsTheDownloadFirst() async throws {
        delivery.have(LocalModel(Models.text))
        delivery.offer(OfferedModel(Models.text.at("1.1.0"), isUpdate: true))
        delivery.script(Models.text, [.report(.progress(0.5)), .wait(Barrier())])
        let library = await library()
        try library.download(Models.text.id)
        await until { state(library, Models.text) == .downloading(progress: 0.5) }
        try await library.delete(Models.text.id)
        #expect(state(library, Models.text) == .notDownloaded)
        #expect(library.selectedModel == nil)
        #expect(
            delivery.journal.all.dropFirst() == ["pull diary", "left diary", "discard diary", "remove diary"])
    }

    @Test func aRemovalThatFailsLeavesTheModel() async throws {
        delivery.have(LocalModel(Models.text))
        delivery.failRemovals(StoreError(.homeBusy, "another process is changing the home folder"))
        let library = await library()
        let error = await #expect(throws: StoreError.self) { try await library.delete(Models.text.id) }
        #expect(error?.code == .homeBusy)
        #expect(state(library, Models.text) == .downloaded)
        #expect(library.row(of: Models.text.id)?.isUsable == true)
        delivery.failRemovals(nil)
        try await library.delete(Models.text.id)
        #expect(library.rows.isEmpty)
    }

    @Test func aDownloadBegunDuringARemovalFollowsIt() async throws {
        delivery.have(LocalModel(Models.text))
        delivery.offer(OfferedModel(Models.text))
        let library = await library()
        let barrier = Barrier()
        delivery.holdRemovals(barrier)
        async let removal: Void = library.delete(Models.text.id)
        await until { library.row(of: Models.text.id)?.isBeingDeleted == true }
        try library.download(Models.text.id)
        barrier.open()
        try await removal
        await until { state(library, Models.text) == .downloaded && !library.rows[0].isBeingDeleted }
        #expect(delivery.journal.all.suffix(3) == ["remove diary", "pull diary", "arrived diary"])
    }
}
