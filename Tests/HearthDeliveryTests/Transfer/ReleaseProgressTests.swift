import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthStore
@testable import HearthTransfer

@Suite struct ReleaseProgressTests {
    private let readings = Locked<[TransferProgress]>([])

    private let clock = ManualClock()

    private func progress(_ files: FileSize...) -> ReleaseProgress {
        ReleaseProgress(files, time: clock.time) { [readings] reading in readings.withLock { $0.append(reading) } }
    }

    /// The reading of the release after one of a file.
    private func shown(
        _ progress: ReleaseProgress, _ done: UInt64, of total: UInt64?, file: Int = 0
    ) throws -> TransferProgress {
        clock.advance(by: .milliseconds(100))
        progress.update(file, TransferProgress(state: .downloading, completedBytes: done, totalBytes: total))
        return try #require(readings.withLock { $0.last })
    }

    @Test func exactLengthsAddUp() throws {
        let progress = progress(.exact(100), .exact(300))
        #expect(try shown(progress, 50, of: 100).fraction == 0.125)
        #expect(try shown(progress, 50, of: nil).totalBytes == 400, "what the server leaves out the catalog knows")
        progress.fileEnded(0, 100)
        #expect(try shown(progress, 100, of: 300, file: 1).fraction == 0.5)
    }

    @Test func aRoundedLengthServesUntilTheServerTellsTheExactOne() throws {
        let progress = progress(.about(100, limit: 1000))
        #expect(try shown(progress, 50, of: nil).fraction == 0.5)
        let before = try shown(progress, 150, of: nil)
        #expect(before.fraction == nil && before.secondsLeft == nil)
        #expect(before.completedBytes == 150, "more than the estimate, and not held back by it")
        #expect(try shown(progress, 150, of: 200).fraction == 0.75)
    }

    @Test func aRoundedLengthOfAFileToComeCounts() throws {
        let progress = progress(.exact(100), .about(100, limit: 1000))
        #expect(try shown(progress, 100, of: 100).fraction == 0.5)
        progress.fileEnded(0, 100)
        #expect(try shown(progress, 50, of: nil, file: 1).fraction == 0.75)
        #expect(try shown(progress, 150, of: 300, file: 1).fraction == 0.625)
        progress.fileEnded(1, 300)
        progress.installing()
        #expect(readings.withLock { $0.last?.fraction } == 1)
        #expect(readings.withLock { $0.last?.totalBytes } == 400)
    }

    @Test func itNeverGoesBackwardsNorOverflows() throws {
        let progress = progress(.exact(100), .exact(.max))
        _ = try shown(progress, 80, of: 100)
        #expect(try shown(progress, 10, of: 100).completedBytes == 80)
        progress.fileEnded(0, 100)
        let last = try shown(progress, .max, of: .max, file: 1)
        #expect(last.completedBytes == .max && last.totalBytes == .max)
    }

    @Test func repeatedBytesTakeTheirTime() throws {
        let progress = progress(.exact(100))
        for (done, repeated, fetched) in [(80, 0, 80), (60, 50, 90), (60, 50, 100)] as [(UInt64, UInt64, UInt64)] {
            clock.advance(by: .seconds(1))
            var reading = TransferProgress(
                state: .downloading, completedBytes: done, totalBytes: 100, repeatedBytes: repeated)
            reading.fetchedBytes = fetched
            progress.update(0, reading)
        }
        let again = try #require(readings.withLock { $0.last })
        #expect(again.completedBytes == 80 && again.repeatedBytes == 70)
        #expect(abs(try #require(again.bytesPerSecond) - 10) < 0.1)
        #expect(abs(try #require(again.secondsLeft) - 9) < 0.1, "ten are here")
    }

    @Test func filesThatComeTogetherAddUp() throws {
        let progress = progress(.exact(100), .exact(100), .exact(200))
        _ = try shown(progress, 50, of: 100)
        #expect(try shown(progress, 50, of: 200, file: 2).completedBytes == 100)
        clock.advance(by: .seconds(1))
        progress.update(1, TransferProgress(state: .waiting(.offline), completedBytes: 20, totalBytes: 100))
        let reading = try #require(readings.withLock { $0.last })
        #expect(reading.completedBytes == 120 && reading.totalBytes == 400)
        #expect(reading.state == .downloading, "others bring bytes")
        clock.advance(by: .seconds(1))
        progress.fileEnded(0, 100)
        progress.fileEnded(2, 200)
        let last = try #require(readings.withLock { $0.last })
        #expect(last.state == .waiting(.offline) && last.completedBytes == 320)
    }

    /// Readings of many threads reach a slow watcher one after the other, in the order in which the meter decided them.
    @Test func readingsOfManyThreadsAreDeliveredInOrder() async {
        let progress = ReleaseProgress((0..<8).map { _ in .exact(1000) }, time: clock.time) {
            [readings] reading in
            if reading.completedBytes % 7 == 0 { _ = SHA256Digest(hashing: [UInt8](repeating: 7, count: 1 << 14)) }
            readings.withLock { $0.append(reading) }
        }
        await withTaskGroup(of: Void.self) { group in
            for file in 0..<8 {
                group.addTask { [clock] in
                    for done: UInt64 in 1...1000 {
                        // A reading is due in every step, whichever thread makes it.
                        clock.advance(by: .milliseconds(100))
                        progress.update(
                            file, TransferProgress(state: .downloading, completedBytes: done, totalBytes: 1000))
                    }
                }
            }
        }
        let sizes = readings.withLock { $0.map(\.completedBytes) }
        #expect(sizes.count >= 1000)
        #expect(zip(sizes, sizes.dropFirst()).allSatisfy { $0 <= $1 })
    }

    @Test func whatIsHereIsDone() {
        let progress = ReleaseProgress(installed: 7) { [readings] reading in readings.withLock { $0.append(reading) } }
        progress.activating(.probing)
        #expect(readings.withLock { $0 } == [TransferProgress(state: .probing, completedBytes: 7, totalBytes: 7)])
    }
}
