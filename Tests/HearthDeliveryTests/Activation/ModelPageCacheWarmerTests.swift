import Foundation
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthHTTP
import HearthStore
import HearthTestSupport
import HearthTransfer
import Testing

@Suite struct ModelPageCacheWarmerTests {
    private let folder: TemporaryFolder
    private let disk = LocalFileSystem()
    private var store: Path { folder.path("store") }

    init() throws {
        folder = try TemporaryFolder()
        try LocalFileSystem().makeFolders(folder.path("store/models"))
    }

    private func hint(_ name: String) async -> UInt64 {
        await ModelPageCacheWarmer.hint(file: folder.path(name), below: store)
    }

    @Test(arguments: [1, 4096, 131_072, 131_073, 1_000_001])
    func aSmallFileIsAskedForWhole(size: Int) async throws {
        try folder.write("store/models/m.gguf", Data(repeating: 7, count: size))
        #expect(await hint("store/models/m.gguf") == UInt64(size))
    }

    @Test(
        arguments: [
            (nil, 64 << 20), (1 << 20, 1 << 20), (0, 0), (128 << 20, 128 << 20), ((128 << 20) + 1, 128 << 20),
            (.max, 128 << 20),
        ] as [(UInt64?, UInt64)])
    func ofALargeFileOnlyTheHead(asked: UInt64?, advised: UInt64) async throws {
        // A hole of 200 MiB: nothing is on the disk, so nothing is read.
        let path = try folder.write("store/models/large.gguf", Data())
        try disk.truncate(try disk.open(path, .readWrite), to: 200 << 20)
        if let asked {
            #expect(await ModelPageCacheWarmer.hint(file: path, below: store, bytes: asked) == advised)
        } else {
            #expect(await ModelPageCacheWarmer.hint(file: path, below: store) == advised)
        }
    }

    @Test func whatIsNoModelFileIsLeftAlone() async throws {
        try folder.write("store/models/empty", Data())
        #expect(mkfifo(folder.path("store/models/pipe").string, 0o600) == 0)
        for name in ["missing", "empty", "pipe", ".", "m\0x", "missing/m.gguf"] {
            #expect(await hint("store/models/" + name) == 0, "\(name)")
        }
        try folder.write("store/models/m", Data(count: 10))
        #expect(await hint("store/models/m\0x") == 0, "not the file before the NUL")
        #expect(await ModelPageCacheWarmer.hint(file: folder.path("store/models/m"), below: folder.path("none")) == 0)
        #expect(await ModelPageCacheWarmer.hint(file: store, below: store) == 0)
    }

    @Test func aLinkOutOfTheStoreIsRefused() async throws {
        try folder.write("outside/m.gguf", Data(count: 5000))
        try folder.write("store-of-others/m.gguf", Data(count: 5000))
        try disk.makeLink(at: folder.path("store/models/file"), to: folder.path("outside/m.gguf").string)
        try disk.makeLink(at: folder.path("store/models/folder"), to: "../../outside")
        try disk.makeLink(at: folder.path("store/models/neighbour"), to: "../../store-of-others")
        try disk.makeLink(at: folder.path("store/models/circle"), to: "circle")
        for name in [
            "store/models/file", "store/models/folder/m.gguf", "store/models/neighbour/m.gguf", "store/models/circle",
            "store/../outside/m.gguf", "outside/m.gguf", "store-of-others/m.gguf",
        ] {
            #expect(await hint(name) == 0, "\(name)")
        }
    }

    @Test func aLinkInsideTheStoreAndAStoreBehindALinkAreFine() async throws {
        try folder.write("store/models/1.0.0/m.gguf", Data(count: 5000))
        try disk.makeLink(at: folder.path("store/models/active"), to: "1.0.0")
        #expect(await hint("store/models/active/m.gguf") == 5000)
        try disk.makeLink(at: folder.path("home"), to: "store")
        #expect(
            await ModelPageCacheWarmer.hint(
                file: folder.path("home/models/active/m.gguf"), below: folder.path("home")) == 5000)
        #expect(await ModelPageCacheWarmer.hint(file: folder.path("home/models/active/m.gguf"), below: store) == 5000)
    }

    @Test func aPullAsksForWhatAnEngineWillOpen() async throws {
        let file = try folder.write("toy-v1.0.0-q4_1.gguf", Data(repeating: 7, count: 5000))
        let manager = ModelManager(
            home: folder.path("home"), origins: [], network: UnmonitoredNetwork(), deviceMemory: 1 << 40)
        let log = await RecordedLog.start(.debug)
        defer { log.stop() }
        let release = try await manager.pull(ModelReference(parsing: file.string)).release
        let weights = try #require(release.weights)
        #expect(log.messages(of: "base.cache").contains("asked for the first 5000 bytes of \(weights)"))
    }

    @Test func anyNumberOfCallersAtOnce() async throws {
        try folder.write("store/models/m.gguf", Data(repeating: 7, count: 300_000))
        let advised = await withTaskGroup(of: UInt64.self) { group in
            for _ in 0..<32 { group.addTask { await hint("store/models/m.gguf") } }
            return await group.reduce(0, +)
        }
        #expect(advised == 32 * 300_000)
    }
}
