import Hearth
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthStore
import HearthTransfer
import Testing

/// A row in words.
@Suite struct LibraryTextTests {
    private static let model = Models.text
    private static let lost = FailureBody(code: "network-error", message: "Network error: the connection broke")
    private static let tooLarge = Ineligibility.notEnoughMemory(needed: 9_000_000_000)
    private static let offered = LibraryRowEvent.offered(OfferedModel(model))
    private static let here = LibraryRowEvent.local(LocalModel(model))

    private static func reading(
        _ state: TransferState, _ done: UInt64 = 42, of total: UInt64? = 100, rate: Double? = 2
    ) -> LibraryRowEvent {
        .reading(
            TransferProgress(
                state: state, completedBytes: done * 1_000_000, totalBytes: total.map { $0 * 1_000_000 },
                bytesPerSecond: rate.map { $0 * 1e6 }))
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let events: [LibraryRowEvent]
        let text: String
        let word: String
        let detail: String?
        let code: String?

        init(_ events: LibraryRowEvent..., text: String, word: String, detail: String? = nil, code: String? = nil) {
            (self.events, self.text, self.word, self.detail, self.code) = (events, text, word, detail, code)
        }

        var testDescription: String { text }
    }

    static let cases = [
        Case(offered, text: "not downloaded", word: "not-downloaded"),
        Case(offered, .download, text: "downloading", word: "downloading"),
        Case(
            offered, .download, .reading(.progress(0.42)), reading(.downloading),
            text: "downloading 42%, 2.0 MB/s, 29 s left", word: "downloading"),
        Case(
            offered, .download, reading(.downloading, 99, rate: nil), text: "downloading 99%", word: "downloading"),
        Case(
            offered, .download, reading(.downloading, 5, of: nil), text: "downloading, 2.0 MB/s", word: "downloading"),
        Case(
            offered, .download, .reading(.received), reading(.verifying, 100), text: "verifying 100%",
            word: "downloading"),
        Case(
            offered, .download, .reading(.received), reading(.probing, 100), text: "probing", word: "downloading"),
        Case(
            offered, .download, .reading(.received), .reading(.mismatch), reading(.retrying(attempt: 2, limit: 3)),
            text: "retrying, attempt 2 of 3", word: "downloading"),
        Case(
            offered, .download, .reading(.hold(.metered)), text: "waiting: Wi-Fi required", word: "waiting",
            detail: "Wi-Fi required: this network is metered; the download continues on another"),
        Case(here, text: "downloaded", word: "downloaded"),
        Case(
            here, offered, .unchanged(.upToDate), text: "downloaded", word: "downloaded", detail: "up to date",
            code: "up-to-date"),
        Case(
            here, .offered(OfferedModel(model.at("1.1.0"), isUpdate: true)), text: "update to 1.1.0 available",
            word: "update-available"),
        Case(
            offered, .download, reading(.downloading), .failed(lost),
            text: "failed: Network error: the connection broke", word: "failed",
            detail: "Network error: the connection broke", code: "network-error"),
        Case(
            .offered(OfferedModel(model, objection: tooLarge)), text: "incompatible: needs 9.0 GB of memory",
            word: "incompatible", detail: "This model requires 9 GB RAM. Your device may not support it.",
            code: "not-enough-memory"),
        Case(offered, here, .delete, text: "being deleted", word: "downloaded"),
    ]

    @Test(arguments: cases)
    func saysHowItStands(_ each: Case) {
        var row = LibraryRow(Self.model)
        for event in each.events { row.take(event) }
        #expect(row.stateText == each.text)
        #expect(row.state.word == each.word)
        #expect(row.detailText == each.detail)
        #expect(row.detailCode == each.code)
    }

    @Test(
        arguments: [
            .cancel, .failed(lost), .cancelledElsewhere, .arrived(Models.arrived(model)),
        ] as [LibraryRowEvent])
    func figuresGoWithTheDownload(_ end: LibraryRowEvent) {
        var row = LibraryRow(Self.model)
        for event in [Self.offered, .download, Self.reading(.downloading)] { row.take(event) }
        #expect(row.reading?.percentText == "42%")
        row.take(end)
        #expect(row.reading == nil)
        row.take(Self.reading(.downloading))
        #expect(row.reading == nil, "of a download that is over nothing is shown")
    }

    /// What an app shows of each state of a delivery, half of whose bytes are here, or all.
    @Test(
        arguments: [
            (.queued, .downloading(progress: 0.5), .downloading(progress: 1)),
            (.connecting, .downloading(progress: 0.5), .downloading(progress: 1)),
            (.downloading, .downloading(progress: 0.5), .downloading(progress: 1)),
            (.verifying, .downloading(progress: 0.5), .verifying),
            (.waiting(.metered), .waiting(.metered), .waiting(.metered)),
            (.waiting(.paused), .waiting(.paused), .waiting(.paused)),
            (.retrying(attempt: 3, limit: 3), .retrying(attempt: 3), .retrying(attempt: 3)),
            (.extracting, .extracting, .extracting), (.installing, .verifying, .verifying),
            (.preparing, .verifying, .verifying), (.probing, .verifying, .verifying),
        ] as [(TransferState, DownloadState, DownloadState)])
    func theStateOfADownloadFollowsFromItsReading(
        _ state: TransferState, _ half: DownloadState, _ whole: DownloadState
    ) {
        #expect(DownloadState(TransferProgress(state: state, completedBytes: 1, totalBytes: 2)) == half)
        #expect(DownloadState(TransferProgress(state: state, completedBytes: 2, totalBytes: 2)) == whole)
    }
}
