import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthStore

/// Bytes that an installed release has already, which nobody knew before they had come.
@Suite(.timeLimit(.minutes(10))) struct StoredOnceTests {
    private static let bundled = "bundle/weights.gguf"

    /// Installs an archive of the corpus; those called `good` hold the same files.
    private func unpack(
        _ name: String, as version: String, into fixture: StoreFixture
    ) async throws -> InstalledRelease {
        let item = try ArchiveCorpus.item(name)
        let release = try StoreFixture.packed(
            try StoreFixture.identity(version), format: item.format, data: try item.data)
        return try await fixture.store.install(
            release, files: [], archive: try fixture.stage(archive: try item.data, of: release), origin: nil)
    }

    private func inode(_ release: InstalledRelease, _ name: String) throws -> FileIdentity {
        let path = release.folder.appending(try #require(RelativePath(name)))
        return try #require(try LocalFileSystem().status(at: path, followLinks: false)).identity
    }

    private func staged(_ name: String, _ data: Data, at place: String, _ fixture: StoreFixture) throws -> StagedFile {
        StagedFile(
            name: try #require(RelativePath(name)), path: try fixture.folder.write(place, data),
            size: UInt64(data.count), digest: SHA256Digest(hashing: data), isVerified: true)
    }

    @Test func whatTwoArchivesHoldIsStoredOnce() async throws {
        let fixture = try StoreFixture()
        let one = try await unpack("good.zip", as: "1.0.0", into: fixture)
        let alone = try await fixture.store.facts().owners.total
        let two = try await unpack("good.tar.gz", as: "2.0.0", into: fixture)
        for file in two.receipt.files {
            #expect(try inode(one, file.name.string) == inode(two, file.name.string), "\(file.name)")
        }
        #expect(try await fixture.store.facts().owners.total == alone)
        #expect(try await fixture.store.verify(two).unexpected.isEmpty)
        #expect(try fixture.temporaryNames().isEmpty)
        try await fixture.store.remove(one.identity.family, version: one.identity.version, variant: nil)
        #expect(try await fixture.store.verify(two).isIntact)
    }

    /// As from a hub that tells no SHA-256: the transfer has its own copy, and the release the one that was here.
    @Test func whatATransferBroughtAgainIsStoredOnce() async throws {
        let fixture = try StoreFixture()
        let one = try await fixture.install(try StoreFixture.identity("1.0.0"))
        let data = StoreFixture.contents("weights.gguf", of: one.identity)
        var release = try StoreFixture.release(try StoreFixture.identity("2.0.0"))
        release.file.digest = nil
        let file = try staged("weights.gguf", data, at: "home/transfers/url-1/data.part", fixture)
        let two = try await fixture.store.install(release, files: [file], origin: nil)
        #expect(try inode(one, "weights.gguf") == inode(two, "weights.gguf"))
        #expect(try await fixture.store.verify(two).isIntact)
        #expect(try !fixture.exists(file.path), "its first name is taken as ever")
    }

    @Test func equalFilesOfOneReleaseAreStoredOnce() async throws {
        let fixture = try StoreFixture()
        let data = Data("the same twice".utf8)
        var release = try StoreFixture.release(try StoreFixture.identity(), names: ["a.gguf", "sub/b.bin"])
        release.file.digest = nil
        release.companions[0].digest = nil
        let files = [
            try staged("a.gguf", data, at: "home/transfers/url-1/data.part", fixture),
            try staged("sub/b.bin", data, at: "elsewhere/b.bin", fixture),
        ]
        let installed = try await fixture.store.install(release, files: files, origin: nil)
        #expect(try inode(installed, "a.gguf") == inode(installed, "sub/b.bin"))
        #expect(try await fixture.store.verify(installed).isIntact)
        #expect(try fixture.exists(files[1].path), "what lies elsewhere stays as it is")
        let elsewhere = try #require(try LocalFileSystem().status(at: files[1].path))
        #expect(try inode(installed, "a.gguf") != elsewhere.identity)
    }

    @Test func whatIsDamagedThereDoesNotSpread() async throws {
        let fixture = try StoreFixture()
        let one = try await unpack("good.zip", as: "1.0.0", into: fixture)
        let path = one.folder.appending(try #require(RelativePath(Self.bundled)))
        let file = try LocalFileSystem().open(path, .readWrite)
        try [UInt8]([0xAA]).withUnsafeBytes { try LocalFileSystem().write(file, $0, at: 5) }
        let two = try await unpack("good.tar.gz", as: "2.0.0", into: fixture)
        #expect(try inode(one, Self.bundled) != inode(two, Self.bundled))
        #expect(try await fixture.store.verify(two).isIntact)
    }

    /// A disk that can neither link nor clone, and one that fails: it costs room, and nothing else.
    @Test(arguments: [EMLINK, EXDEV, EIO]) func whatCannotBeSharedStaysAsItCame(_ number: Int32) async throws {
        let disk = FaultyFileSystem()
        let fixture = try StoreFixture(fileSystem: disk)
        let one = try await unpack("good.zip", as: "1.0.0", into: fixture)
        disk.fail(call: 1, of: .makeHardLink, errno: number, stays: true)
        let two = try await unpack("good.tar.gz", as: "2.0.0", into: fixture)
        disk.heal()
        #expect(try inode(one, Self.bundled) != inode(two, Self.bundled))
        let report = try await fixture.store.verify(two)
        #expect(report.isIntact && report.unexpected.isEmpty)
        #expect(try fixture.temporaryNames().isEmpty)
    }
}
