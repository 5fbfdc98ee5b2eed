import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthStore
@testable import HearthTransfer

/// Models that came with the app, and what was downloaded since.
@Suite(.timeLimit(.minutes(10))) struct BundledTests {
    private let folder: TemporaryFolder
    private let weights = Data("the weights that came with the app".utf8)

    init() throws {
        folder = try TemporaryFolder()
        try bundle("1.0.0")
    }

    private func bundle(_ version: String, family: String = "toy", location: String? = nil, data: Data? = nil) throws {
        let data = data ?? weights
        try folder.write("app/models/\(family)-v\(version)-q4.gguf", data)
        let json = #"""
            {"schemaVersion": 1, "models": [{"id": "t", "filename": "\#(family)-v\#(version)-q4.gguf",
              "sizeBytes": \#(weights.count), "sha256": "\#(SHA256Digest(hashing: weights))",
              "downloadUrl": "\#(location ?? "models/\(family)-v\(version)-q4.gguf")"}]}
            """#
        try folder.write("app/models.json", Data(json.utf8))
    }

    private func manager(
        origins: [Origin] = [], fileSystem: any FileSystem = LocalFileSystem(), formats: Set<ModelFormat>? = nil
    ) -> ModelManager {
        ModelManager(
            home: folder.path("home"), origins: origins, http: DefaultHTTPClient(), fileSystem: fileSystem,
            network: UnmonitoredNetwork(), deviceMemory: 8 << 30, formats: formats,
            bundled: [BundledSource(folder: folder.path("app"))])
    }

    private func family() throws -> Family { try #require(Family("toy")) }

    private func download(_ version: String) async throws -> InstalledRelease {
        let file = try folder.write("files/toy-v\(version)-q4.gguf", Data("downloaded \(version)".utf8))
        return try await manager().pull(.file(file)).release
    }

    @Test func withoutADownloadItIsTheOneThatCameWithTheApp() async throws {
        let availability = try await manager().availability(of: try family())
        #expect(availability.weights == folder.path("app/models/toy-v1.0.0-q4.gguf"))
        #expect(availability.identity?.description == "toy@1.0.0:q4")
        #expect(try await manager().availability(of: try #require(Family("other"))) == .none)
        #expect(try LocalFileSystem().status(at: folder.path("home")) == nil, "looking makes nothing")
    }

    @Test(arguments: [("0.9.0", false), ("1.0.0", false), ("1.0.1", true), ("2.0.0", true)])
    func aNewerDownloadComesFirst(_ version: String, _ isFirst: Bool) async throws {
        let release = try await download(version)
        let availability = try await manager().availability(of: try family())
        #expect((availability == .downloaded(release)) == isFirst)
    }

    @Test func theDecisionIsATable() async throws {
        let device = DeviceProfile(memory: 1 << 40)
        let bundled = try #require(
            try await BundledSource(folder: folder.path("app")).releases(for: device).first)
        let older = try await download("0.9.0")
        let newer = try await download("1.1.0")
        let other = try folder.write("files/toy.gguf", Data("x".utf8))
        let plain = try await manager().pull(.file(other)).release
        func decide(
            _ bundled: BundledRelease?, _ active: InstalledRelease?, pinned: ReleaseIdentity? = nil
        ) -> ModelAvailability {
            .deciding(bundled: bundled, active: active, pinned: pinned)
        }
        #expect(decide(nil, nil) == .none)
        #expect(decide(bundled, nil) == .bundled(bundled))
        #expect(decide(nil, older) == .downloaded(older))
        #expect(decide(bundled, older) == .bundled(bundled))
        #expect(decide(bundled, older, pinned: older.identity) == .downloaded(older))
        #expect(decide(bundled, older, pinned: newer.identity) == .bundled(bundled))
        #expect(decide(bundled, newer) == .downloaded(newer))
        #expect(decide(bundled, plain) == .bundled(bundled), "0.0.0 is older")
    }

    @Test func aFolderThatIsNotWholeCountsAsNothing() async throws {
        let manager = manager()
        try bundle("1.0.0", data: Data("short".utf8))
        #expect(try await manager.availability(of: try family()) == .none)
        try LocalFileSystem().removeFile(folder.path("app/models/toy-v1.0.0-q4.gguf"))
        #expect(try await manager.availability(of: try family()) == .none)
        try bundle("1.0.0", location: "https://h.example/toy.gguf")
        #expect(
            try await manager.availability(of: try family()) == .none, "what is elsewhere did not come with the app")
        try folder.write("app/models.json", Data("{".utf8))
        #expect(try await manager.availability(of: try family()) == .none)
        try LocalFileSystem().removeTree(folder.path("app"))
        #expect(try await manager.availability(of: try family()) == .none)
        let release = try await download("1.0.0")
        #expect(try await manager.availability(of: try family()) == .downloaded(release))
    }

    @Test func anEngineIsNeeded() async throws {
        #expect(try await manager(formats: [.mlx]).availability(of: try family()) == .none)
        #expect(try await manager(formats: [.gguf]).availability(of: try family()) != .none)
    }

    @Test func itsBytesAreComparedOnce() async throws {
        let disk = CountingReads()
        let manager = manager(fileSystem: disk)
        guard case .bundled(let release) = try await manager.availability(of: try family()) else {
            Issue.record("nothing came with the app")
            return
        }
        #expect(disk.count == 0, "looking reads no byte of a model")
        _ = try await manager.checked(release)
        #expect(disk.count > 0)
        let read = disk.count
        _ = try await manager.checked(release)
        _ = try await self.manager(fileSystem: disk).checked(release)
        #expect(disk.count == read, "and it is remembered")
        // The app was updated: other bytes of the same length.
        try bundle("1.0.0", data: Data(weights.reversed()))
        let error = await #expect(throws: StoreError.self) { try await manager.checked(release) }
        #expect(error?.code == .releaseDamaged)
    }

    @Test(arguments: ["", "{}", "[]", #"{"format": 2, "files": []}"#, #"{"format": 1, "files": [{"path": 1}]}"#])
    func aRecordThatIsNoneMeansHashingAgain(_ text: String) async throws {
        guard case .bundled(let release) = try await manager().availability(of: try family()) else { return }
        try folder.write("home/catalogs/bundled.json", Data(text.utf8))
        _ = try await manager().checked(release)
        try bundle("1.0.0", data: Data(weights.reversed()))
        await #expect(throws: StoreError.self) { try await manager().checked(release) }
    }

    @Test func anUpdateOfWhatCameWithTheAppIsFound() async throws {
        let manifest = folder.path("origin/models.json")
        let data = Data("new".utf8)
        try folder.write("origin/toy-v1.1.0-q4.gguf", data)
        try folder.write(
            "origin/models.json",
            Data(
                #"""
                {"models": [{"id": "t", "filename": "toy-v1.1.0-q4.gguf", "sizeBytes": 3,
                  "sha256": "\#(SHA256Digest(hashing: data))", "downloadUrl": "toy-v1.1.0-q4.gguf"}]}
                """#.utf8))
        let manager = manager(origins: [Origin(name: "o", manifestURL: manifest.url)])
        let finding = try #require(try await manager.updates().first)
        #expect(finding.active?.name == "1.0.0")
        let release = try await manager.pull(try #require(finding.offer)).release
        #expect(try await manager.availability(of: try family()) == .downloaded(release))
        #expect(try await manager.updates().map(\.reason) == [.upToDate])
    }

    @Test func whatCameWithTheAppIsListedAndCanBeInstalled() async throws {
        #expect(try await manager().available().map(\.release.identity.description) == ["toy@1.0.0:q4"])
        let release = try await manager().pull(try ModelReference(parsing: "toy")).release
        #expect(release.receipt.isVerified)
    }
}

/// Counts the bytes read of model files.
private final class CountingReads: ForwardingFileSystem {
    let base: any FileSystem = LocalFileSystem()
    private let reads = Locked(0)

    var count: Int { reads.withLock { $0 } }

    func read(_ file: OpenFile, into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws -> Int {
        let count = try base.read(file, into: buffer, at: offset)
        if file.path.fileExtension == "gguf" { reads.withLock { $0 += count } }
        return count
    }
}
