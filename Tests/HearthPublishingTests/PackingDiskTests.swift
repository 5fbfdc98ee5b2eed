import Foundation
import HearthBase
import HearthCatalog
import HearthPublishing
import HearthTestSupport
import Testing

/// A disk that fills up or fails while a folder is packed: an error, no archive left, and the origin as it was.
@Suite(.timeLimit(.minutes(5))) struct PackingDiskTests {
    /// A package of `count` MiB and some small files.
    private func package(_ origin: TestOrigin, count: Int) throws -> Path {
        let folder = "sources/Leaf_1.0.0.mlpackage"
        try origin.folder.write("\(folder)/Manifest.json", Data("{ }".utf8))
        try origin.folder.write("\(folder)/Data/com.apple.CoreML/model.mlmodel", Data("model".utf8))
        try origin.folder.write("\(folder)/Data/com.apple.CoreML/weights/weight.bin", Data(count: count << 20))
        return origin.folder.path(folder)
    }

    /// The temporary folders that packing made, and that are still there.
    private func left(_ disk: FaultyFileSystem) throws -> [Path] {
        let made = disk.calls.filter { call in
            call.operation == .makeFolder && call.path.lastComponent.hasPrefix("hearth-publish-")
        }
        return try made.map(\.path).filter { try LocalFileSystem().status(at: $0) != nil }
    }

    @Test(arguments: [1, 5]) func aFullDiskIsSaidAndNothingIsLeft(_ megabytes: Int) async throws {
        var origin = try TestOrigin()
        try await origin.publish(origin.source("m-v1.0.0-q4.gguf"))
        let before = try origin.text()
        let source = try package(origin, count: 4)
        let disk = FaultyFileSystem()
        // In the first case the archive does not fit, in the second its copy in the origin.
        disk.fillDisk(after: UInt64(megabytes) << 20)
        origin.fileSystem = disk
        let error = try await #require(throws: FileError.self) { try await origin.publish(source) }
        #expect(error.code == .diskFull)
        #expect(error.context.remedy?.contains("Free some space") == true)
        let archive = disk.calls.filter { $0.operation == .write && $0.path.fileExtension == "tar" }
        #expect(archive.isEmpty == (megabytes == 1), "a full disk is noticed before the first byte")
        #expect(try left(disk) == [])
        #expect(try origin.text() == before)
        #expect(try origin.names() == ["m-v1.0.0-q4.gguf", "m-v1.0.0-q4.index"])
        disk.heal()
        try await origin.publish(source)
        #expect(try left(disk) == [])
        #expect(try origin.catalog().releases.count == 2)
    }

    @Test(arguments: [ENOSPC, EIO]) func whicheverCallFailsTheOriginStays(_ number: Int32) async throws {
        var call = 0
        while true {
            call += TestExtent.isFull ? 1 : 7
            var origin = try TestOrigin()
            try await origin.publish(origin.source("m-v1.0.0-q4.gguf"))
            let before = try origin.text()
            let source = try package(origin, count: 0)
            let disk = FaultyFileSystem()
            disk.fail(call: call, errno: number)
            origin.fileSystem = disk
            var failure: (any Error)?
            do { try await origin.publish(source) } catch { failure = error }
            guard disk.mutations.count >= call else {
                #expect(failure == nil)
                break
            }
            let failed = disk.mutations[call - 1]
            let label = "\(failed.operation) of \(failed.path.lastComponent)"
            // An archive that cannot be removed is no failure of the publication.
            let isRemoval = failed.operation == .removeFile || failed.operation == .removeFolder
            #expect(failure is FileError || isRemoval, "\(label)")
            #expect(try left(disk).isEmpty || isRemoval, "\(label)")
            for folder in try left(disk) { try LocalFileSystem().removeTree(folder) }
            if failed.operation != .synchronizeFolder, !isRemoval {
                #expect(try origin.text() == before, "\(label)")
            }
        }
        #expect(call > 20)
    }

    @Test func aFileThatGrowsWhileItIsPackedIsNoticed() async throws {
        var origin = try TestOrigin()
        let source = try package(origin, count: 1)
        let disk = GrowingFileSystem(source.joined("Data/com.apple.CoreML/model.mlmodel"))
        origin.fileSystem = disk
        let error = try await #require(throws: PublishingError.self) { try await origin.publish(source) }
        #expect(error.code == .sourceChanged)
        #expect(try LocalFileSystem().status(at: origin.manifest) == nil)
    }
}

/// Appends to a file as soon as it is opened.
private struct GrowingFileSystem: ForwardingFileSystem {
    let base: any FileSystem = LocalFileSystem()
    let growing: Path

    init(_ growing: Path) { self.growing = growing }

    func open(_ path: Path, _ mode: OpenMode, permissions: UInt32) throws -> OpenFile {
        if path == growing, mode == .read {
            let size = try base.status(at: path, followLinks: false)?.size ?? 0
            let file = try base.open(path, .update, permissions: permissions)
            try [UInt8](repeating: 1, count: 4096).withUnsafeBytes { try base.write(file, $0, at: size) }
        }
        return try base.open(path, mode, permissions: permissions)
    }
}
