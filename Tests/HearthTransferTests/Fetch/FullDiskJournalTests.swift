import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthTransfer

/// A disk that has no room for a second journal beside the first.
@Suite(.timeLimit(.minutes(5))) struct FullDiskJournalTests {
    private func journal(_ end: UInt64) throws -> TransferJournal {
        var journal = TransferJournal(
            digest: SHA256Digest(hashing: Data()), size: 90_000_000, location: "https://models.example/m.gguf")
        journal.held = RangeSet([0..<end])
        return journal
    }

    @Test func theNewJournalTakesThePlaceOfTheOld() throws {
        let folder = try TemporaryFolder()
        let (path, disk) = (folder.path("journal"), FaultyFileSystem())
        try journal(30_000_000).write(path, in: disk)
        disk.fillDisk(after: 0)
        try journal(60_000_000).write(path, in: disk)
        #expect(try TransferJournal.read(path, in: LocalFileSystem()) == journal(60_000_000))
        // Shorter than the one before.
        try journal(6000).write(path, in: disk)
        #expect(try TransferJournal.read(path, in: LocalFileSystem()) == journal(6000))
    }

    @Test func withoutAJournalTheErrorIsThatOfTheDisk() throws {
        let folder = try TemporaryFolder()
        let disk = FaultyFileSystem()
        disk.fillDisk(after: 0)
        let error = #expect(throws: FileError.self) { try journal(6000).write(folder.path("journal"), in: disk) }
        #expect(error?.code == .diskFull)
    }

    /// Wherever it ends, the file is the old journal, the new one, or none that is believed.
    @Test(arguments: 1...10) func anInterruptionLeavesOneOrNone(_ call: Int) throws {
        let folder = try TemporaryFolder()
        let (path, disk) = (folder.path("journal"), FaultyFileSystem())
        let (old, new) = (try journal(30_000_000), try journal(60_000_000))
        try old.write(path, in: disk)
        disk.fillDisk(after: 0)
        disk.fail(call: call, errno: EIO, stays: true, tears: true)
        try? new.write(path, in: disk)
        let found = try TransferJournal.read(path, in: LocalFileSystem())
        #expect(found == nil || found == old || found == new)
    }
}
