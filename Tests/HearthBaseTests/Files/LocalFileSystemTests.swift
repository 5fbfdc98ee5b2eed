import Foundation
import HearthBase
import HearthTestSupport
import Testing

struct LocalFileSystemTests {
    let disk = LocalFileSystem()

    @Test(arguments: [UInt64(Int64.max) - 1, UInt64(Int64.max), UInt64(Int64.max) + 1, .max])
    func refusesOffsetsNoFileCanHave(offset: UInt64) throws {
        let folder = try TemporaryFolder()
        let file = try disk.open(folder.path("file"), .createNew)
        let bytes: [UInt8] = [1, 2, 3]
        #expect(throws: FileError.self) { try bytes.withUnsafeBytes { try disk.write(file, $0, at: offset) } }
        var buffer = [UInt8](repeating: 0, count: 3)
        #expect(throws: FileError.self) {
            try buffer.withUnsafeMutableBytes { try disk.read(file, into: $0, at: offset) }
        }
        if offset > UInt64(Int64.max) {
            #expect(throws: FileError.self) { try disk.truncate(file, to: offset) }
            #expect(throws: FileError.self) { try disk.allocate(file, size: offset) }
        }
        #expect(try disk.status(of: file).size == 0)
    }

    @Test func refusesNULInEveryCall() throws {
        let folder = try TemporaryFolder()
        try folder.write("a", Data("kept".utf8))
        let (bad, good) = (folder.path("a\0b"), folder.path("a"))
        #expect(throws: FileError.self) { try disk.open(bad, .read) }
        #expect(throws: FileError.self) { try disk.open(bad, .readWrite) }
        #expect(throws: FileError.self) { try disk.status(at: bad) }
        #expect(throws: FileError.self) { try disk.removeFile(bad) }
        #expect(throws: FileError.self) { try disk.removeFolder(bad) }
        #expect(throws: FileError.self) { try disk.makeFolder(bad, permissions: 0o755) }
        #expect(throws: FileError.self) { try disk.rename(bad, to: good) }
        #expect(throws: FileError.self) { try disk.rename(good, to: bad) }
        #expect(throws: FileError.self) { try disk.makeLink(at: folder.path("l"), to: "a\0b") }
        #expect(throws: FileError.self) { try disk.makeHardLink(at: folder.path("l"), to: bad) }
        #expect(throws: FileError.self) { try disk.contents(of: bad) }
        #expect(throws: FileError.self) { try disk.readLink(bad) }
        #expect(try disk.contents(of: folder.path) == ["a"])
    }

    @Test func reservingSpaceNeverShortensAFile() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("file", Data(repeating: 7, count: 1000))
        let file = try disk.open(path, .readWrite)
        try disk.allocate(file, size: 10)
        #expect(try disk.status(of: file).size == 1000)
        try disk.allocate(file, size: 5000)
        let status = try disk.status(of: file)
        #expect(status.size == 5000 && status.allocatedSize >= 5000)
        #expect(try disk.contents(ofFile: path, limit: 5000).prefix(1000) == Data(repeating: 7, count: 1000))
    }

    /// Where the file system of the tests cannot, it says so with the codes callers look for.
    @Test func goesPastTheCacheInAlignedBlocksOnly() throws {
        let folder = try TemporaryFolder()
        #expect(throws: FileError.self) { try disk.open(folder.path("missing"), .uncached) }
        #expect(try disk.contents(of: folder.path).isEmpty, "nothing is created")
        let path = try folder.write("file", Data(repeating: 7, count: 10_000))
        let block = UnsafeMutableRawBufferPointer.allocate(byteCount: 8192, alignment: OpenFile.uncachedAlignment)
        defer { block.deallocate() }
        block.initializeMemory(as: UInt8.self, repeating: 9)
        do {
            let file = try disk.open(path, .uncached)
            try disk.write(file, UnsafeRawBufferPointer(rebasing: block[..<4096]), at: 4096)
            #expect(try disk.read(file, into: block, at: 4096) == 10_000 - 4096)
            #expect(block[..<4096].allSatisfy { $0 == 9 } && block[4096..<5904].allSatisfy { $0 == 7 })
            let now = try disk.contents(ofFile: path, limit: 10_000)
            #expect(
                now == Data(repeating: 7, count: 4096) + Data(repeating: 9, count: 4096)
                    + Data(repeating: 7, count: 1808))
        } catch let error as FileError {
            #expect(["errno \(EINVAL)", "errno \(EOPNOTSUPP)"].contains(error.context.found))
        }
    }

    @Test(.timeLimit(.minutes(10))) func aNamedPipeIsAnErrorAndNoWait() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("pipe")
        try #require(mkfifo(path.string, 0o600) == 0)
        #expect(throws: FileError.self) { try disk.digest(ofFile: path) }
    }

    @Test func refusesFilesAboveTheLimit() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("file", Data(count: 11))
        #expect(throws: FileError.self) { try disk.contents(ofFile: path, limit: 10) }
        #expect(try disk.contents(ofFile: path, limit: 11).count == 11)
    }

    @Test func aFolderReadAsAFileIsAnError() throws {
        let folder = try TemporaryFolder()
        #expect(throws: FileError.self) { try disk.digest(ofFile: folder.path) }
    }

    @Test func tellsWhatIsThere() throws {
        let folder = try TemporaryFolder()
        try folder.write("file", Data("12345".utf8))
        try disk.makeLink(at: folder.path("link"), to: "file")
        try disk.makeLink(at: folder.path("nowhere"), to: "missing")
        #expect(try disk.status(at: folder.path("file"))?.size == 5)
        #expect(try disk.status(at: folder.path("link"))?.kind == .file)
        #expect(try disk.status(at: folder.path("link"), followLinks: false)?.kind == .symbolicLink)
        #expect(try disk.status(at: folder.path("nowhere")) == nil)
        #expect(try disk.status(at: folder.path("nowhere"), followLinks: false)?.kind == .symbolicLink)
        #expect(try disk.status(at: folder.path)?.kind == .folder)
        #expect(try disk.status(at: folder.path("missing")) == nil)
        #expect(try disk.readLink(folder.path("link")) == "file")
        #expect(try disk.contents(of: folder.path) == ["file", "link", "nowhere"])
        #expect(try disk.freeSpace(at: folder.path) > 0)
        let error = #expect(throws: FileError.self) { try disk.status(at: folder.path("file/below")) }
        #expect(error?.code == .notADirectory)
    }

    @Test func removingATreeStaysInsideIt() throws {
        let folder = try TemporaryFolder()
        try folder.write("kept/file", Data("kept".utf8))
        try folder.write("tree/deep/er/file", Data())
        try disk.makeLink(at: folder.path("tree/link"), to: folder.path("kept").string)
        try disk.removeTree(folder.path("tree"))
        try disk.removeTree(folder.path("tree"))
        #expect(try disk.contents(of: folder.path) == ["kept"])
        #expect(try disk.contents(of: folder.path("kept")) == ["file"])
    }

    @Test func makesFoldersOverNothingButFolders() throws {
        let folder = try TemporaryFolder()
        try folder.write("file", Data())
        try disk.makeLink(at: folder.path("nowhere"), to: "missing")
        try disk.makeLink(at: folder.path("link"), to: ".")
        let notAFolder = #expect(throws: FileError.self) { try disk.makeFolders(folder.path("file")) }
        #expect(notAFolder?.code == .notADirectory)
        let below = #expect(throws: FileError.self) { try disk.makeFolders(folder.path("file/a/b")) }
        #expect(below?.code == .notADirectory)
        #expect(throws: FileError.self) { try disk.makeFolders(folder.path("nowhere")) }
        try disk.makeFolders(folder.path("link/a/b"))
        try disk.makeFolders(folder.path("a/b"))
        #expect(try disk.status(at: folder.path("a/b"))?.kind == .folder)
    }

    @Test func aNameOfTheGreatestLengthCanBeReplaced() throws {
        let folder = try TemporaryFolder()
        let name = String(repeating: "語", count: 85)
        try folder.write(name, Data("1".utf8))
        try folder.write(name, Data("2".utf8))
        #expect(try disk.contents(of: folder.path) == [name])
    }
}
