import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthDelivery

/// What a kill may cost.
@Suite(.timeLimit(.minutes(5))) struct RecordBudgetTests {
    @Test func recordsEarlyAndWaitsLate() {
        var budget = RecordBudget(recordBytes: 800)
        #expect(!budget.hasNews && !budget.isDue && !budget.isSpent(gathered: 0))
        budget.came(199)
        #expect(budget.hasNews && !budget.isDue)
        budget.came(1)
        #expect(budget.isDue)
        budget.begin()
        #expect(!budget.hasNews && !budget.isDue)
        budget.came(299)
        #expect(!budget.isSpent(gathered: 0), "499 bytes are not recorded")
        #expect(budget.isSpent(gathered: 1))
        budget.came(1)
        #expect(budget.isSpent(gathered: 0))
        budget.end()
        #expect(budget.isDue && !budget.isSpent(gathered: 199), "300 bytes are not recorded")
        #expect(budget.isSpent(gathered: 200))
    }

    @Test func aBudgetOfNothingRecordsEverything() {
        var budget = RecordBudget(recordBytes: 1)
        #expect(!budget.isDue && !budget.isSpent(gathered: 0))
        budget.came(1)
        #expect(budget.isDue && budget.isSpent(gathered: 0))
    }

    /// A disk whose every synchronisation takes until the network has brought as much as it may, and then a moment in which it
    /// could bring more.
    private final class LateDisk: ForwardingFileSystem {
        struct Notes {
            var written: UInt64 = 0
            var recorded: UInt64 = 0
            var mostUnrecorded: UInt64 = 0
            var records = 0
        }

        let base: any FileSystem = LocalFileSystem()
        let notes = Locked(Notes())
        private let news = NSCondition()
        private let enough: UInt64
        private let tooMuch: UInt64
        private let size: UInt64

        /// - Parameters:
        ///   - enough: what is not recorded when the network waits.
        ///   - tooMuch: what would be too much.
        init(enough: UInt64, tooMuch: UInt64, size: UInt64) {
            self.enough = enough
            self.tooMuch = tooMuch
            self.size = size
        }

        private func hasBrought(_ bytes: UInt64) -> Bool {
            notes.withLock { $0.written - $0.recorded >= bytes || $0.written == size }
        }

        func write(_ file: OpenFile, _ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws {
            try base.write(file, bytes, at: offset)
            guard file.path.lastComponent == "data.part" else { return }
            news.withLock {
                notes.withLock { notes in
                    notes.written += UInt64(bytes.count)
                    notes.mostUnrecorded = max(notes.mostUnrecorded, notes.written - notes.recorded)
                }
                news.broadcast()
            }
        }

        func synchronize(_ file: OpenFile) throws {
            if file.path.lastComponent == "data.part" {
                news.withLock {
                    while !hasBrought(enough) { news.wait() }
                    let moment = Date(timeIntervalSinceNow: 0.05)
                    while !hasBrought(tooMuch), news.wait(until: moment) {}
                }
            }
            try base.synchronize(file)
        }

        func rename(_ source: Path, to target: Path) throws {
            try base.rename(source, to: target)
            guard target.lastComponent == "journal" else { return }
            let recorded = try TransferJournal.read(target, in: base)?.held.byteCount ?? 0
            notes.withLock { notes in
                notes.recorded = recorded
                notes.records += 1
            }
        }
    }

    @Test func theNetworkWaitsForADiskThatDoesNotKeepUp() async throws {
        let content = Content.pattern(offset: 5, count: 8 << 20)
        var tuning = TransferTuning()
        tuning.pieceLength = 1 << 20
        tuning.stragglerInterval = nil
        tuning.recordBytes = 1 << 20
        tuning.recordInterval = .seconds(3600)
        let folder = try TemporaryFolder()
        let disk = LateDisk(
            enough: tuning.recordBytes / 8 * 5, tooMuch: tuning.recordBytes + 1, size: content.count)
        let transfer = FileTransfer(
            http: MemoryOrigin(content), fileSystem: disk, time: HurriedClock().time, folder: folder.path,
            tuning: tuning)
        let digest = SHA256Digest(hashing: content.bytes)
        let file = try await transfer.fetch(
            TransferRequest(
                label: "m.gguf", locations: [try #require(URL(string: "http://127.0.0.1:1/m"))],
                size: .exact(content.count), digest: digest)
        ) { _ in }
        #expect(try LocalFileSystem().digest(ofFile: file.path) == digest)
        let notes = disk.notes.withLock { $0 }
        #expect(notes.recorded == content.count)
        #expect(notes.records >= 8)
        #expect(notes.mostUnrecorded >= tuning.recordBytes / 8 * 5, "the disk was ahead")
        #expect(notes.mostUnrecorded <= tuning.recordBytes)
    }
}
