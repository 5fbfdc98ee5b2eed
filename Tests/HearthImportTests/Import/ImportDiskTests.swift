import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthImport

/// Imports on disks that fail, fill up, or belong to a process that is killed.
@Suite struct ImportDiskTests {
    /// Records after every 8 KiB, in steps of 2 KiB, on one thread.
    private static let pace = ImportPace(slabBytes: 2 << 10, checkpointBytes: 8 << 10, threads: 1)

    private static func model(_ folder: TemporaryFolder) throws -> Path {
        var small = SmallModel()
        small.bits = 4
        return try small.write(to: folder)
    }

    /// The bytes of an undisturbed import.
    private static func expected(_ model: Path, _ folder: TemporaryFolder) throws -> Data {
        let target = folder.path("whole.gguf")
        _ = try ModelImport(folder: model).write(to: target, flag: StopFlag()) { _ in }
        return try LocalFileSystem().contents(ofFile: target, limit: 1 << 24)
    }

    /// As `SIGKILL` does, a broken disk lets nothing be cleaned up: from one call on, every change fails.
    @Test func afterEveryMomentTheNextTryGoesOn() throws {
        let folder = try TemporaryFolder()
        let model = try Self.model(folder)
        let whole = try Self.expected(model, folder)
        let target = folder.path("model.gguf")
        let counting = FaultyFileSystem()
        _ = try ModelImport(folder: model, fileSystem: counting).file.write(
            to: folder.path("count.gguf"), flag: StopFlag(), pace: Self.pace
        ) { _ in }
        let moments = counting.mutations.count
        #expect(moments >= 50)
        var resumed: Set<UInt64> = []
        for moment in 1...moments {
            let disk = FaultyFileSystem()
            disk.fail(call: moment, errno: EIO, stays: true, tears: true)
            let first = try ModelImport(folder: model, fileSystem: disk)
            #expect(throws: (any Error).self) {
                _ = try first.file.write(to: target, flag: StopFlag(), pace: Self.pace) { _ in }
            }
            // The last changes follow the rename: from then on the file is whole.
            if let found = try? LocalFileSystem().contents(ofFile: target, limit: 1 << 24) {
                #expect(found == whole, "an unfinished file after \(moment) changes")
            }
            let report = try ModelImport(folder: model).file.write(to: target, flag: StopFlag(), pace: Self.pace) { _ in
            }
            resumed.insert(report.resumedBytes)
            #expect(try LocalFileSystem().contents(ofFile: target, limit: 1 << 24) == whole)
            try LocalFileSystem().removeFile(target)
        }
        #expect(resumed.count >= 5, "no import went on where the last one stopped")
        #expect(try LocalFileSystem().contents(of: folder.path) == ["count.gguf", "model", "whole.gguf"])
    }

    @Test func aCancelledImportGoesOn() throws {
        let folder = try TemporaryFolder()
        let model = try Self.model(folder)
        let whole = try Self.expected(model, folder)
        let target = folder.path("model.gguf")
        let flag = StopFlag()
        #expect(throws: CancellationError.self) {
            _ = try ModelImport(folder: model).file.write(to: target, flag: flag, pace: Self.pace) { share in
                if share > 0.5 { flag.set() }
            }
        }
        #expect(try LocalFileSystem().status(at: target) == nil)
        let report = try ModelImport(folder: model).file.write(to: target, flag: StopFlag(), pace: Self.pace) { _ in }
        #expect(report.resumedBytes > report.fileSize / 3)
        #expect(try LocalFileSystem().contents(ofFile: target, limit: 1 << 24) == whole)
    }

    @Test func aFullDiskIsFoundBeforeAnythingIsConverted() throws {
        let folder = try TemporaryFolder()
        let disk = FaultyFileSystem()
        let model = try ModelImport(folder: try Self.model(folder), fileSystem: disk)
        disk.fillDisk(after: 1000)
        let target = folder.path("model.gguf")
        let error = #expect(throws: FileError.self) {
            _ = try model.write(to: target, flag: StopFlag()) { _ in }
        }
        #expect(error?.code == .diskFull)
        disk.heal()
        _ = try model.write(to: target, flag: StopFlag()) { _ in }
        #expect(try GGUFHeader(file: target).architecture == "llama")
    }

    /// A stopped import, whose folder then changes.
    private static func stopped(_ folder: TemporaryFolder, _ target: Path) throws {
        let flag = StopFlag()
        let model = try ModelImport(folder: try model(folder))
        #expect(throws: CancellationError.self) {
            _ = try model.file.write(to: target, flag: flag, pace: pace) { if $0 > 0.5 { flag.set() } }
        }
    }

    @Test func anotherFolderStartsAnew() throws {
        let folder = try TemporaryFolder()
        let target = folder.path("model.gguf")
        try Self.stopped(folder, target)
        var small = SmallModel()
        (small.bits, small.seed) = (4, 2)
        let other = try small.write(to: folder)
        let report = try ModelImport(folder: other).file.write(to: target, flag: StopFlag(), pace: Self.pace) { _ in }
        #expect(report.resumedBytes == 0)
        #expect(try LocalFileSystem().contents(ofFile: target, limit: 1 << 24) == Self.expected(other, folder))
    }

    @Test(arguments: ["", "{}", "[", #"{"key":"x","slabs":1}"#, #"{"key":"x","losses":{},"slabs":-1}"#])
    func aJournalThatIsNoneStartsAnew(_ text: String) throws {
        let folder = try TemporaryFolder()
        let target = folder.path("model.gguf")
        try Self.stopped(folder, target)
        try folder.write("model.gguf.part.json", Data(text.utf8))
        let report = try ModelImport(folder: folder.path("model")).file.write(
            to: target, flag: StopFlag(), pace: Self.pace
        ) { _ in }
        #expect(report.resumedBytes == 0)
    }

    @Test func anUnfinishedFileOfAnotherLengthStartsAnew() throws {
        let folder = try TemporaryFolder()
        let target = folder.path("model.gguf")
        try Self.stopped(folder, target)
        try folder.write("model.gguf.part", Data(count: 10))
        let report = try ModelImport(folder: folder.path("model")).file.write(
            to: target, flag: StopFlag(), pace: Self.pace
        ) { _ in }
        #expect(report.resumedBytes == 0)
    }

    @Test func weightsThatBecomeShorterAreDamaged() throws {
        let folder = try TemporaryFolder()
        let place = try Self.model(folder)
        let model = try ModelImport(folder: place)
        let disk = LocalFileSystem()
        let file = try disk.open(folder.path("model/model.safetensors"), .update)
        try disk.truncate(file, to: try disk.status(of: file).size / 2)
        let error = #expect(throws: ImportError.self) {
            _ = try model.write(to: folder.path("model.gguf"), flag: StopFlag()) { _ in }
        }
        #expect(error?.code == .damaged)
        #expect(try disk.status(at: folder.path("model.gguf")) == nil)
    }

    @Test func anUnfinishedImportCanBeGivenUp() throws {
        let folder = try TemporaryFolder()
        let target = folder.path("model.gguf")
        try Self.stopped(folder, target)
        try PlannedFile.removeUnfinished(target: target)
        #expect(try LocalFileSystem().contents(of: folder.path) == ["model"])
    }
}
