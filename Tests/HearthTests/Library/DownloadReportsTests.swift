import HearthBase
import HearthDelivery
import Testing

@testable import Hearth

@Suite struct DownloadReportsTests {
    private static func reading(
        _ phase: TransferProgress.Phase, _ completed: UInt64 = 0, hold: DownloadHold? = nil
    ) -> TransferProgress {
        TransferProgress(phase: phase, completedBytes: completed, totalBytes: 100, hold: hold)
    }

    /// The states a download goes through, each once, while it hears of the readings.
    private static func states(_ readings: [TransferProgress]) -> [DownloadState] {
        var reports = DownloadReports()
        var download = Download()
        download.take(.start)
        var states: [DownloadState] = []
        for event in readings.flatMap({ reports.events(for: $0) }) {
            download.take(event)
            if states.last != download.state { states.append(download.state) }
        }
        return states
    }

    @Test func followsADelivery() {
        #expect(
            Self.states([
                Self.reading(.connecting), Self.reading(.downloading, 50), Self.reading(.downloading, 100),
                Self.reading(.verifying, 100), Self.reading(.installing, 100),
            ]) == [
                .downloading(progress: 0), .downloading(progress: 0.5), .downloading(progress: 1), .verifying,
            ])
    }

    @Test func unpacksAnArchive() {
        #expect(
            Self.states([
                Self.reading(.downloading, 50), Self.reading(.verifying, 100), Self.reading(.extracting, 10),
                Self.reading(.extracting, 90), Self.reading(.installing, 100),
            ]) == [.downloading(progress: 0.5), .verifying, .extracting])
    }

    /// What was told is not told again with every reading.
    @Test func eachStepIsToldOnce() {
        var reports = DownloadReports()
        let told = [.downloading, .verifying, .installing, .probing].map {
            reports.events(for: Self.reading($0, 100)).count
        }
        #expect(told == [1, 1, 0, 0])
        #expect(reports.events(for: Self.reading(.extracting, 1)) == [.verifiedArchive])
        #expect(reports.events(for: Self.reading(.extracting, 2)).isEmpty)
    }

    @Test func severalFilesAreOneDownload() {
        #expect(
            Self.states([
                Self.reading(.downloading, 40), Self.reading(.verifying, 40), Self.reading(.connecting, 40),
                Self.reading(.downloading, 100), Self.reading(.verifying, 100),
            ]) == [.downloading(progress: 0.4), .downloading(progress: 1), .verifying])
    }

    @Test func waitsAndGoesOn() {
        #expect(
            Self.states([
                Self.reading(.downloading, 50), Self.reading(.waiting, 50, hold: .metered),
                Self.reading(.waiting, 50, hold: .offline), Self.reading(.downloading, 60),
                Self.reading(.paused, 60), Self.reading(.downloading, 70),
            ]) == [
                .downloading(progress: 0.5), .waiting(.metered), .waiting(.offline), .downloading(progress: nil),
                .downloading(progress: 0.6), .waiting(.paused), .downloading(progress: nil),
                .downloading(progress: 0.7),
            ])
    }

    @Test func showsThePausesAfterWrongBytes() {
        let attempt = [Self.reading(.downloading, 50), Self.reading(.verifying, 100), Self.reading(.retrying)]
        #expect(
            Self.states(attempt + attempt + [Self.reading(.downloading, 50)]) == [
                .downloading(progress: 0.5), .verifying, .retrying(attempt: 2), .downloading(progress: nil),
                .downloading(progress: 0.5), .verifying, .retrying(attempt: 3), .downloading(progress: nil),
                .downloading(progress: 0.5),
            ])
    }

    @Test func aReportNeverEndsADownloadThatGoesOn() {
        let attempt = [Self.reading(.verifying, 100), Self.reading(.retrying), Self.reading(.downloading, 50)]
        let states = Self.states(attempt + attempt + attempt + attempt)
        #expect(!states.contains(.failed(.corrupted)), "each of several files has attempts of its own")
    }
}
