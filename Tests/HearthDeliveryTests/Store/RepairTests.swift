import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthStore
@testable import HearthTransfer

/// A release of 72 MiB and one that shares its projector, behind a server that counts.
@Suite(.timeLimit(.minutes(10))) struct RepairTests {
    private static let size: UInt64 = 72 << 20
    private static let weights = Content.pattern(offset: 3, count: size)
    private static let projector = Content.pattern(offset: 17, count: 200_000)
    private static let index: Data = {
        var builder = ChunkIndexBuilder()
        weights.bytes.withUnsafeBytes { builder.update($0) }
        return (try? builder.finalize().index.encoded) ?? Data()
    }()
    private static let digest = SHA256Digest(hashing: weights.bytes).hex

    private let folder: TemporaryFolder
    private let server: FaultServer
    private let served = Locked<[String: UInt64]>([:])
    private let isListed = Locked(true)

    init() throws {
        folder = try TemporaryFolder()
        let (served, isListed) = (served, isListed)
        server = try FaultServer { request in
            let projector = SHA256Digest(hashing: Self.projector.bytes).hex
            func entry(_ version: String, _ weights: String, _ size: UInt64, _ digest: String, _ more: String) -> String
            {
                #"""
                {"id": "big-\#(version)", "family": "big", "version": "\#(version)", "filename": "\#(weights)",
                 "sizeBytes": \#(size), "sha256": "\#(digest)", "minAppVersion": "0.0.0", "downloadUrl": "\#(weights)", \#(more)
                 "files": [{"path": "vision/mmproj.gguf", "role": "projector", "url": "mmproj.gguf",
                   "sizeBytes": \#(Self.projector.count), "sha256": "\#(projector)"}]}
                """#
            }
            let index = #"""
                "index": {"url": "w.index", "sha256": "\#(SHA256Digest(hashing: Self.index).hex)", "sizeBytes": \#(Self.index.count)},
                """#
            let contents = [
                "/w.gguf": Self.weights, "/mmproj.gguf": Self.projector, "/small.gguf": Content.pattern(count: 9),
            ]
            switch request.path {
            case "/models.json":
                guard isListed.withLock({ $0 }) else { return Reply(404) }
                let small = SHA256Digest(hashing: Content.pattern(count: 9).bytes).hex
                return .text(
                    #"{"schemaVersion": 1, "current": {"big": "1.0.0"}, "models": [\#(entry("1.0.0", "w.gguf", Self.size, Self.digest, index)),"#
                        + entry("2.0.0", "small.gguf", 9, small, "") + "]}")
            case "/w.index": return FaultServer.answer(request, with: .data(Self.index))
            default:
                guard let content = contents[request.path] else { return Reply(404) }
                served.withLock { $0[request.path, default: 0] += UInt64(request.asked(of: content.count).count) }
                return FaultServer.answer(request, with: content)
            }
        }
    }

    private func manager() throws -> ModelManager {
        ModelManager(
            home: folder.path("home"), origins: [Origin(name: "test", manifestURL: try server.url("/models.json"))],
            network: UnmonitoredNetwork(), deviceMemory: 1 << 40)
    }

    private func bytesServed() -> UInt64 {
        served.withLock { served in
            defer { served = [:] }
            return served.values.saturatedSum
        }
    }

    private func flip(_ path: Path, at offsets: [UInt64]) throws {
        let file = try LocalFileSystem().open(path, .readWrite)
        for offset in offsets {
            try [UInt8]([0x5A]).withUnsafeBytes { try LocalFileSystem().write(file, $0, at: offset) }
        }
    }

    /// A few bytes in two of nine chunks: those two come, and nothing else; also when only the receipt knows from where. A
    /// reader keeps the file it has.
    @Test(arguments: [true, false]) func onlyDamagedPiecesAreFetched(isListed: Bool) async throws {
        let manager = try manager()
        let release = try await manager.pull(ModelReference(parsing: "big@1.0.0")).release
        let path = try #require(release.weights)
        try flip(path, at: [5, 9, (40 << 20) + 7])
        let reader = try LocalFileSystem().open(path, .read)
        let inode = try LocalFileSystem().status(of: reader).identity
        let before = server.requests.count
        _ = bytesServed()
        self.isListed.withLock { $0 = isListed }
        let report = try await manager.repair(release.identity)
        let fetched = bytesServed()
        print("repair: \(fetched) of \(Self.size) bytes were asked for")
        #expect(report.repaired.map(\.string) == ["w.gguf"])
        let chunk = UInt64(ChunkIndex.fixedLength)
        #expect(report.fetchedBytes == 2 * chunk)
        // An idle connection may ask once more for what another is slow with, but never for anything else.
        let asked = server.requests.dropFirst(before).filter { $0.path == "/w.gguf" }.map { $0.asked(of: Self.size) }
        let damaged = [0..<chunk, 5 * chunk..<6 * chunk]
        #expect(!asked.isEmpty && asked.allSatisfy { range in damaged.contains { $0.contains(range) } }, "\(asked)")
        #expect(try await manager.store.verify(release.identity).isIntact)
        #expect(try await manager.store.installed(release.identity)?.receipt == release.receipt)
        #expect(try LocalFileSystem().status(at: path)?.identity != inode, "another file stands in its place")
        #expect(try LocalFileSystem().status(of: reader).identity == inode)
        #expect(try LocalFileSystem().files(below: folder.path("home/transfers")).isEmpty)
        // Nothing to do any more.
        #expect(try await manager.repair(release.identity).repaired.isEmpty)
        #expect(bytesServed() == 0)
    }

    /// A disk on which another process begins to fetch a file at the moment a repair reads the damaged copy of it.
    private struct CrowdedDisk: ForwardingFileSystem {
        let base: any FileSystem = LocalFileSystem()
        let damaged: Path
        /// The folder of the file's transfer.
        let place: Path
        let other = Locked<TransferLock?>(nil)
        let wasAsked = Locked(false)

        func open(_ path: Path, _ mode: OpenMode, permissions: UInt32) throws -> OpenFile {
            // Before that the file is only read to find the damage.
            if path == damaged, try base.status(at: place, followLinks: false) != nil {
                wasAsked.withLock { $0 = true }
                if let lock = try TransferLock.tryAcquire(place, fileSystem: base) {
                    other.withLock { $0 = lock }
                    let part = try base.open(place.appending("data.part"), .readWrite, permissions: 0o644)
                    try [UInt8](repeating: 7, count: 100).withUnsafeBytes { try base.write(part, $0, at: 0) }
                }
            }
            return try base.open(path, mode, permissions: permissions)
        }
    }

    /// If a pull begins while a repair of the same file does, the repair may not write into or remove the folder of the pull.
    @Test func aRepairTouchesNoTransferOfAnotherProcess() async throws {
        let manager = try manager()
        let release = try await manager.pull(ModelReference(parsing: "big@1.0.0")).release
        let path = try #require(release.weights)
        try flip(path, at: [5])
        let disk = CrowdedDisk(
            damaged: path, place: Path(folder.path("home/transfers").string + "/" + Self.digest))
        let repairing = ModelManager(
            home: folder.path("home"), origins: [Origin(name: "test", manifestURL: try server.url("/models.json"))],
            fileSystem: disk, network: UnmonitoredNetwork(), deviceMemory: 1 << 40)
        let outcome = await code { _ = try await repairing.repair(release.identity) }
        #expect(disk.wasAsked.withLock { $0 }, "the damaged file is reused")
        if let other = disk.other.withLock({ $0 }) {
            #expect(try LocalFileSystem().status(at: disk.place.appending("data.part"))?.size == 100)
            other.release()
        } else {
            #expect(outcome == nil)
            #expect(try await manager.store.verify(release.identity).isIntact)
        }
    }

    @Test func whoSharesADamagedFileIsMendedWithIt() async throws {
        let manager = try manager()
        let one = try await manager.pull(ModelReference(parsing: "big@1.0.0")).release
        let two = try await manager.pull(ModelReference(parsing: "big@2.0.0")).release
        try flip(try #require(one.projector), at: [1000])
        #expect(try await !manager.store.verify(two.identity).isIntact, "they are one file")
        _ = bytesServed()
        let report = try await manager.repair(two.identity)
        #expect(bytesServed() == Self.projector.count, "without an index it comes as a whole")
        #expect(report.alsoRepaired == [one.identity])
        for release in [one, two] { #expect(try await manager.store.verify(release.identity).isIntact) }
        let shared = try LocalFileSystem().status(at: try #require(one.projector))?.identity
        #expect(try LocalFileSystem().status(at: try #require(two.projector))?.identity == shared, "and are again")
    }

    /// One that has the same bytes in a file of its own is whole, helps, and is not touched.
    @Test func whoHasTheFileWholeHelpsAndKeepsIt() async throws {
        let manager = try manager()
        let one = try await manager.pull(ModelReference(parsing: "big@1.0.0")).release
        let two = try await manager.pull(ModelReference(parsing: "big@2.0.0")).release
        let (path, other) = (try #require(one.projector), try #require(two.projector))
        let disk = LocalFileSystem()
        // Two files, as where the disk has no second names.
        try FileManager.default.copyItem(atPath: other.string, toPath: folder.path("copy").string)
        try disk.rename(folder.path("copy"), to: other)
        let inode = try disk.status(at: other)?.identity
        try flip(path, at: [1000])
        _ = bytesServed()
        let report = try await manager.repair(one.identity)
        #expect(report.repaired.map(\.string) == ["vision/mmproj.gguf"] && report.alsoRepaired.isEmpty)
        #expect(report.fetchedBytes == 0 && bytesServed() == 0)
        #expect(try disk.status(at: other)?.identity == inode)
        for release in [one, two] { #expect(try await manager.store.verify(release.identity).isIntact) }
    }

    /// Missing, cut off, or something else in its place; a folder gone, or a link where a folder was.
    @Test func missingFilesComeBack() async throws {
        let manager = try manager()
        let release = try await manager.pull(ModelReference(parsing: "big@2.0.0")).release
        let (path, disk) = (try #require(release.projector), LocalFileSystem())
        let damages: [() throws -> Void] = [
            { try disk.removeFile(path) }, { try disk.truncate(try disk.open(path, .readWrite), to: 10) },
            { try disk.removeTree(path.parent) },
            {
                try disk.removeTree(path)
                try disk.makeFolders(path.appending("x"))
            },
            {
                try disk.removeTree(path.parent)
                try disk.makeLink(at: path.parent, to: "/tmp")
            },
        ]
        for (number, damage) in damages.enumerated() {
            try damage()
            _ = try await manager.repair(release.identity)
            let report = try await manager.store.verify(release.identity)
            #expect(report.isIntact && report.unexpected.isEmpty, "damage \(number)")
        }
    }

    @Test func withoutASourceItIsSaid() async throws {
        let fixture = try StoreFixture()
        let installed = try await fixture.install(try StoreFixture.identity())
        try LocalFileSystem().removeFile(try #require(installed.weights))
        let manager = ModelManager(
            home: fixture.home, origins: [], time: fixture.time, network: UnmonitoredNetwork(), deviceMemory: 1 << 40)
        #expect(await code { try await manager.repair(installed.identity) } == "not-repairable")
    }
}
