import Foundation
import HearthTestSupport
import Testing

@testable import HearthBase

/// Where the files of a split model are looked for, whatever a header and a name say.
@Suite struct GGUFPartsTests {
    private func parts(_ name: String, count: UInt32, index: UInt32 = 0) throws -> [String]? {
        let model = ModelFiles.gguf(numbers: [("split.no", index), ("split.count", count)])
        return try GGUFHeader(data: model).parts(at: Path(name))?.map(\.string)
    }

    @Test func theyLieBesideTheFirst() throws {
        let found = try parts("/models/m-v1.0.0-q8_0-00001-of-00003.gguf", count: 3)
        #expect(found == (1...3).map { "/models/m-v1.0.0-q8_0-0000\($0)-of-00003.gguf" })
        #expect(try parts("whole.gguf", count: 1) == ["whole.gguf"])
        #expect(try parts("m-00001-of-00002.gguf", count: 0) == ["m-00001-of-00002.gguf"])
    }

    @Test(arguments: [
        ("m-00002-of-00003.gguf", 3, 1), ("m-00001-of-00003.gguf", 3, 1), ("m-00001-of-00004.gguf", 3, 0),
        ("m-00002-of-00003.gguf", 3, 0), ("m.gguf", 3, 0), ("-00001-of-00003.gguf", 3, 0), ("m-1-of-3.gguf", 3, 0),
        ("m-00001-of-00003.bin", 3, 0), ("m-00001-of-00600.gguf", 600, 0), ("m-00001-of-99999.gguf", .max, 0),
    ])
    func anythingElseIsNone(name: String, count: UInt32, index: UInt32) throws {
        #expect(try parts(name, count: count, index: index) == nil)
    }

    @Test func whatTheyTakeIsKnownOnceAllAreThere() throws {
        let folder = try TemporaryFolder()
        let data = (0..<2).map { ModelFiles.gguf(numbers: [("split.no", $0), ("split.count", 2)]) }
        let first = try folder.write("m-00001-of-00002.gguf", data[0])
        let header = try GGUFHeader(file: first)
        #expect(header.fileBytes(at: first) == nil)
        _ = try folder.write("m-00002-of-00002.gguf", data[1])
        #expect(header.fileBytes(at: first) == UInt64(data[0].count + data[1].count))
        #expect(header.fileBytes(at: folder.path("none.gguf")) == nil)
    }

    /// Files with holes may be as long as a number goes, and together longer.
    @Test func whatTheyTakeIsNeverMoreThanANumberHolds() throws {
        let folder = try TemporaryFolder()
        let header = try GGUFHeader(data: ModelFiles.gguf(numbers: [("split.no", 0), ("split.count", 3)]))
        let path = folder.path("m-00001-of-00003.gguf")
        #expect(header.fileBytes(at: path, fileSystem: LongFiles()) == UInt64(Int64.max))
    }
}

/// A disk on which every file is as long as can be.
private struct LongFiles: ForwardingFileSystem {
    var base: any FileSystem { LocalFileSystem() }

    func status(at path: Path, followLinks: Bool) throws -> FileStatus? {
        FileStatus(
            kind: .file, size: UInt64(Int64.max), allocatedSize: 0, modified: .distantPast,
            identity: FileIdentity(device: 0, inode: 0))
    }
}
