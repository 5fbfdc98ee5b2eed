import Foundation
import HearthBase
import HearthTestSupport
import Testing

struct FaultTests {
    static let numbers: [Int32] = [EIO, ENOSPC, EACCES]

    /// Whatever call fails, readers find the old contents or the new ones, and nothing but marked files stays behind.
    @Test(arguments: numbers, [false, true])
    func replacingContentsSurvivesEveryFailure(number: Int32, stays: Bool) throws {
        let (old, new) = (Data("old".utf8), Data("new contents".utf8))
        var failures = 0
        for call in 1... {
            let folder = try TemporaryFolder()
            let path = try folder.write("file", old)
            let disk = FaultyFileSystem()
            disk.fail(call: call, errno: number, stays: stays)
            var isDone = false
            do {
                try disk.replaceContents(of: path, with: new)
                isDone = true
            } catch let error as FileError {
                #expect(error.context.found == "errno \(number)")
                failures += 1
            }
            let contents = try LocalFileSystem().contents(ofFile: path, limit: 100)
            // The last of the five calls synchronises the folder: by then the new file is in its place.
            #expect(contents == (call < 5 ? old : new), "call \(call)")
            let names = try LocalFileSystem().contents(of: folder.path)
            #expect(names.filter { !$0.contains(Path.temporaryMark) } == ["file"])
            if !stays { #expect(names == ["file"]) }
            if isDone { break }
        }
        #expect(failures == 5)
    }

    @Test func replacingALinkSurvivesEveryFailure() throws {
        var failures = 0
        for call in 1... {
            let folder = try TemporaryFolder()
            let disk = FaultyFileSystem()
            try disk.replaceLink(at: folder.path("active"), with: "1.0.0")
            disk.fail(call: call, errno: EIO)
            var isDone = false
            do {
                try disk.replaceLink(at: folder.path("active"), with: "2.0.0")
                isDone = true
            } catch is FileError { failures += 1 }
            #expect(try disk.readLink(folder.path("active")) == (call < 3 ? "1.0.0" : "2.0.0"))
            #expect(try disk.contents(of: folder.path) == ["active"])
            if isDone { break }
        }
        #expect(failures == 3)
    }

    @Test func aFullDiskKeepsTheOldContents() throws {
        let (old, new) = (Data("old".utf8), Data(repeating: 9, count: 1000))
        for room in UInt64(0)...1000 where room % 100 == 0 || room == 999 {
            let folder = try TemporaryFolder()
            let path = try folder.write("file", old)
            let disk = FaultyFileSystem()
            disk.fillDisk(after: room)
            if room < 1000 {
                let error = #expect(throws: FileError.self) { try disk.replaceContents(of: path, with: new) }
                #expect(error?.code == .diskFull)
            } else {
                try disk.replaceContents(of: path, with: new)
            }
            #expect(try disk.contents(ofFile: path, limit: 1000) == (room < 1000 ? old : new))
            #expect(try disk.contents(of: folder.path) == ["file"])
        }
    }

    // MARK: - The tool itself

    @Test func failsTheCallItWasAskedTo() throws {
        let folder = try TemporaryFolder()
        let disk = FaultyFileSystem()
        disk.fail(call: 2, of: .makeFolder, errno: EROFS)
        try disk.makeFolder(folder.path("a"), permissions: 0o755)
        let link = folder.path("l")
        try disk.makeLink(at: link, to: "a")
        let error = #expect(throws: FileError.self) { try disk.makeFolder(folder.path("b"), permissions: 0o755) }
        #expect(error?.code == .readOnly)
        try disk.makeFolder(folder.path("c"), permissions: 0o755)
        #expect(try disk.contents(of: folder.path) == ["a", "c", "l"])
        #expect(disk.mutations.map(\.operation) == [.makeFolder, .makeLink, .makeFolder, .makeFolder])
        disk.fail(call: 1, of: .read, errno: EIO)
        let path = try folder.write("file", Data("x".utf8))
        #expect(throws: FileError.self) { try disk.contents(ofFile: path, limit: 10) }
        #expect(try disk.contents(ofFile: path, limit: 10).count == 1)
    }

    @Test func aFullDiskTakesThePartThatFits() throws {
        let folder = try TemporaryFolder()
        let disk = FaultyFileSystem()
        let file = try disk.open(folder.path("file"), .createNew)
        disk.fillDisk(after: 100)
        #expect(throws: FileError.self) { try disk.allocate(file, size: 101) }
        try disk.allocate(file, size: 60)
        let bytes = [UInt8](repeating: 1, count: 60)
        // Inside what was reserved nothing more is needed; past it 40 bytes are left.
        try bytes.withUnsafeBytes { try disk.write(file, $0, at: 0) }
        #expect(throws: FileError.self) { try bytes.withUnsafeBytes { try disk.write(file, $0, at: 60) } }
        #expect(try disk.status(of: file).size == 100)
        disk.heal()
        try bytes.withUnsafeBytes { try disk.write(file, $0, at: 100) }
        #expect(try disk.status(of: file).size == 160)
    }
}
