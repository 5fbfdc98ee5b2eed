import HearthBase
import Testing

@testable import HearthDelivery

@Suite struct DownloadStateTests {
    private static let path = Path("/models/m.gguf")
    private static let lost = DownloadFailure(code: "connection-lost", message: "the connection broke")
    private static let wifi = DownloadFailure(code: "metered", message: "Wi-Fi required")

    /// A way into each state, by its name.
    private static let ways: [String: [DownloadEvent]] = [
        "idle": [],
        "waiting": [.start, .hold(.metered)],
        "downloading": [.start, .progress(0.5)],
        "verifying": [.start, .received],
        "retrying": [.start, .received, .mismatch],
        "extracting": [.start, .received, .verifiedArchive],
        "completed": [.start, .received, .verified(path)],
        "failed": [.start, .failed(lost)],
    ]

    private static let states: [String: DownloadState] = [
        "idle": .idle, "waiting": .waiting(.metered), "downloading": .downloading(progress: 0.5),
        "verifying": .verifying, "retrying": .retrying(attempt: 2), "extracting": .extracting,
        "completed": .completed(path), "failed": .failed(lost),
    ]

    private static let events: [DownloadEvent] = [
        .start, .hold(.offline), .release, .progress(0.75), .received, .mismatch, .pauseOver, .verified(path),
        .verifiedArchive, .extracted(path), .cancelledByUser, .cancelledBySystem(wifi), .failed(lost),
    ]

    struct Step: Sendable {
        let state: String
        let event: DownloadEvent
        let next: DownloadState
        let effects: [DownloadEffect]

        init(_ state: String, _ event: DownloadEvent, _ next: DownloadState, _ effects: [DownloadEffect] = []) {
            self.state = state
            self.event = event
            self.next = next
            self.effects = effects
        }
    }

    /// Every transition there is; what is not listed changes nothing.
    private static let steps: [Step] =
        [
            Step("idle", .start, .downloading(progress: nil), [.fetch]),
            Step("completed", .start, .downloading(progress: nil), [.fetch]),
            Step("failed", .start, .downloading(progress: nil), [.fetch]),
            Step("waiting", .hold(.offline), .waiting(.offline)),
            Step("downloading", .hold(.offline), .waiting(.offline), [.stop]),
            Step("retrying", .hold(.offline), .waiting(.offline), [.stop]),
            Step("waiting", .release, .downloading(progress: nil), [.fetch]),
            Step("downloading", .progress(0.75), .downloading(progress: 0.75)),
            Step("downloading", .received, .verifying, [.verify]),
            Step("verifying", .mismatch, .retrying(attempt: 2), [.discardPart, .pause(.milliseconds(1500))]),
            Step("retrying", .pauseOver, .downloading(progress: nil), [.fetch]),
            Step("verifying", .verified(path), .completed(path)),
            Step("verifying", .verifiedArchive, .extracting, [.extract]),
            Step("extracting", .extracted(path), .completed(path)),
            Step("failed", .cancelledByUser, .idle, [.discardPart]),
        ]
        + ["waiting", "downloading", "verifying", "retrying", "extracting"].flatMap { state in
            [
                Step(state, .cancelledByUser, .idle, [.stop, .discardPart]),
                Step(state, .cancelledBySystem(wifi), .failed(wifi), [.stop]),
                Step(state, .failed(lost), .failed(lost)),
            ]
        }

    private static func download(in state: String) throws -> Download {
        var download = Download()
        for event in try #require(ways[state]) { download.take(event) }
        #expect(download.state == states[state])
        return download
    }

    @Test(arguments: steps)
    func takesEachStep(_ step: Step) throws {
        var download = try Self.download(in: step.state)
        #expect(download.take(step.event) == step.effects)
        #expect(download.state == step.next)
    }

    @Test(arguments: ways.keys.sorted(), events)
    func whatDoesNotFitChangesNothing(_ state: String, _ event: DownloadEvent) throws {
        guard !Self.steps.contains(where: { $0.state == state && $0.event == event }) else { return }
        let before = try Self.download(in: state)
        var download = before
        #expect(download.take(event) == [])
        #expect(download == before)
    }

    @Test func isCorruptedAfterThreeAttemptsAndCountsAnewThen() {
        var download = Download()
        for _ in 0..<2 {
            download.take(.start)
            for attempt in 2...3 {
                download.take(.received)
                #expect(download.take(.mismatch) == [.discardPart, .pause(.milliseconds(1500))])
                #expect(download.state == .retrying(attempt: attempt))
                #expect(download.take(.start) == [], "other starts are blocked in the pause")
                #expect(download.take(.pauseOver) == [.fetch])
            }
            download.take(.received)
            #expect(download.take(.mismatch) == [.discardPart])
            #expect(download.state == .failed(.corrupted))
            #expect(DownloadFailure.corrupted.message == "Download corrupted")
        }
    }

    @Test func aCancelInThePauseEndsTheRetry() {
        var download = Download()
        for event: DownloadEvent in [.start, .received, .mismatch] { download.take(event) }
        #expect(download.take(.cancelledByUser) == [.stop, .discardPart])
        #expect(download.take(.pauseOver) == [], "the timer may have been on its way")
        #expect(download == Download())
    }

    /// Every way out between two mismatches, and whether the first one still counts behind it.
    @Test(
        arguments: [
            ([.cancelledByUser, .start], 2), ([.failed(lost), .start], 2), ([.cancelledBySystem(wifi), .start], 2),
            ([.hold(.metered), .release], 3), ([.pauseOver, .hold(.offline), .release], 3),
        ] as [([DownloadEvent], Int)])
    func onlyAnEndForgetsTheMismatch(_ events: [DownloadEvent], attempt: Int) {
        var download = Download()
        for event: DownloadEvent in [.start, .received, .mismatch] + events { download.take(event) }
        for event: DownloadEvent in [.received, .mismatch] { download.take(event) }
        #expect(download.state == .retrying(attempt: attempt))
    }

    @Test(
        arguments: [
            (-1, 0), (2, 1), (0.25, 0.25), (nil, nil), (.nan, nil), (.infinity, nil),
        ] as [(Double?, Double?)])
    func progressIsAFractionOrUnknown(_ reading: Double?, shown: Double?) {
        var download = Download()
        download.take(.start)
        download.take(.progress(reading))
        #expect(download.state == .downloading(progress: shown))
    }

    /// Whatever comes in whatever order, the next start after an end works.
    @Test(arguments: 0..<20 as Range<UInt64>)
    func noOrderOfEventsLocksItUp(seed: UInt64) {
        var random = seed &* 0x9E37_79B9_7F4A_7C15 | 1
        var download = Download()
        for _ in 0..<500 {
            random ^= random << 13
            random ^= random >> 7
            random ^= random << 17
            download.take(Self.events[Int(random % UInt64(Self.events.count))])
        }
        download.take(.cancelledBySystem(Self.wifi))
        #expect(download.take(.start) == [.fetch])
        #expect(download.state == .downloading(progress: nil))
    }
}
