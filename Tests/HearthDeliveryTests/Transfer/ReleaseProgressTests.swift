import HearthBase
import HearthTestSupport
import Testing

@testable import HearthDelivery

@Suite struct ReleaseProgressTests {
    private let readings = Locked<[TransferProgress]>([])

    private func progress(_ files: FileSize...) -> ReleaseProgress {
        ReleaseProgress(files) { [readings] reading in readings.withLock { $0.append(reading) } }
    }

    /// What is shown for a reading of the file under way.
    private func shown(_ progress: ReleaseProgress, _ done: UInt64, of total: UInt64?) throws -> TransferProgress {
        progress.update(TransferProgress(phase: .downloading, completedBytes: done, totalBytes: total))
        return try #require(readings.withLock { $0.last })
    }

    @Test func exactLengthsAddUp() throws {
        let progress = progress(.exact(100), .exact(300))
        #expect(try shown(progress, 50, of: 100).fraction == 0.125)
        #expect(try shown(progress, 50, of: nil).totalBytes == 400, "what the server leaves out the catalog knows")
        progress.fileEnded(100)
        #expect(try shown(progress, 100, of: 300).fraction == 0.5)
    }

    @Test func aRoundedLengthIsUnknownUntilTheServerTellsIt() throws {
        let progress = progress(.about(100, limit: 1000))
        let before = try shown(progress, 150, of: nil)
        #expect(before.fraction == nil && before.secondsLeft == nil)
        #expect(before.completedBytes == 150, "more than the estimate, and not held back by it")
        #expect(try shown(progress, 150, of: 200).fraction == 0.75)
    }

    @Test func aRoundedLengthOfAFileToComeLeavesTheWholeUnknown() throws {
        let progress = progress(.exact(100), .about(100, limit: 1000))
        #expect(try shown(progress, 100, of: 100).fraction == nil)
        progress.fileEnded(100)
        #expect(try shown(progress, 0, of: nil).fraction == nil)
        #expect(try shown(progress, 150, of: 300).fraction == 0.625)
        progress.fileEnded(300)
        progress.installing()
        #expect(readings.withLock { $0.last?.fraction } == 1)
        #expect(readings.withLock { $0.last?.totalBytes } == 400)
    }

    @Test func itNeverGoesBackwardsNorOverflows() throws {
        let progress = progress(.exact(100), .exact(.max))
        _ = try shown(progress, 80, of: 100)
        #expect(try shown(progress, 10, of: 100).completedBytes == 80)
        progress.fileEnded(100)
        let last = try shown(progress, .max, of: .max)
        #expect(last.completedBytes == .max && last.totalBytes == .max)
    }

    @Test func whatComesAgainTakesItsTime() throws {
        let progress = progress(.exact(100))
        _ = try shown(progress, 80, of: 100)
        var reading = TransferProgress(
            phase: .downloading, completedBytes: 60, totalBytes: 100, bytesPerSecond: 1, repeatedBytes: 50)
        progress.update(reading)
        let again = try #require(readings.withLock { $0.last })
        #expect(again.completedBytes == 80 && again.repeatedBytes == 70)
        #expect(again.secondsLeft == 90, "ten are here")
        reading.phase = .verifying
        progress.update(reading)
        #expect(readings.withLock { $0.last?.repeatedBytes } == 50)
    }

    @Test func whatIsHereIsDone() {
        let progress = ReleaseProgress(installed: 7) { [readings] reading in readings.withLock { $0.append(reading) } }
        progress.activating(.probing)
        #expect(readings.withLock { $0 } == [TransferProgress(phase: .probing, completedBytes: 7, totalBytes: 7)])
    }
}
