import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthStore

@Suite(.timeLimit(.minutes(10))) struct StoreInstallTests {
    @Test func aReleaseIsMovedInWithItsReceipt() async throws {
        let fixture = try StoreFixture()
        let identity = try StoreFixture.identity()
        let release = try StoreFixture.release(identity, names: ["weights.gguf", "mmproj.gguf"])
        let files = try fixture.stage(release)
        let address = try #require(URL(string: "https://me:secret@host.example/models.json?key=1"))
        let installed = try await fixture.store.install(
            release, files: files, origin: Origin(name: "main", manifestURL: address))

        #expect(installed.folder == fixture.folder.path("home/models/tiny/1.0.0~q4"))
        #expect(installed.weights == installed.folder.appending("weights.gguf"))
        #expect(installed.projector == installed.folder.appending("mmproj.gguf"))
        #expect(!installed.isActive)
        #expect(installed.receipt.isVerified)
        #expect(installed.receipt.origin?.absoluteString == "https://host.example/models.json")
        #expect(installed.receipt.totalSize == files.reduce(0) { $0 + $1.size })
        #expect(try fixture.text(installed.folder.appending("weights.gguf")) == "weights.gguf of tiny@1.0.0:q4")
        #expect(try files.allSatisfy { try !fixture.exists($0.path) })
        #expect(try fixture.temporaryNames().isEmpty)
        #expect(try await fixture.anotherStore().installed() == [installed])
        #expect(try fixture.text(fixture.layout.versionFile) == "2\n")
    }

    @Test func aFileFromElsewhereIsCopiedAndStays() async throws {
        let fixture = try StoreFixture()
        let identity = try StoreFixture.identity()
        let release = try StoreFixture.release(identity)
        let files = try fixture.stage(release, below: "mine")
        let installed = try await fixture.store.install(release, files: files, origin: nil)
        let path = try #require(installed.weights)
        #expect(try fixture.exists(files[0].path))
        let fileSystem = LocalFileSystem()
        #expect(try fileSystem.status(at: path)?.identity != fileSystem.status(at: files[0].path)?.identity)
    }

    @Test func theSameReleaseAgainChangesNothing() async throws {
        let fixture = try StoreFixture()
        let identity = try StoreFixture.identity()
        let first = try await fixture.install(identity, activate: true)
        let before = try LocalFileSystem().status(at: first.folder)?.identity
        let second = try await fixture.install(identity)
        #expect(second == first)
        #expect(try LocalFileSystem().status(at: first.folder)?.identity == before)
        #expect(
            try LocalFileSystem().contents(of: fixture.layout.transfers.appending("x").parent).allSatisfy { key in
                try LocalFileSystem().contents(of: fixture.layout.transfers.joined(key)).isEmpty
            })
    }

    @Test func unverifiedBytesAreRecordedAndLaterVouchedFor() async throws {
        let fixture = try StoreFixture()
        let identity = try StoreFixture.identity()
        let first = try await fixture.install(identity, activate: true, isVerified: false)
        #expect(!first.receipt.isVerified)
        #expect(first.isActive)
        #expect(try await fixture.install(identity).receipt.isVerified)
        // The other way round nothing is lost.
        #expect(try await fixture.install(identity, isVerified: false).receipt.isVerified)
        #expect(try await fixture.anotherStore().installed(identity)?.receipt.isVerified == true)
    }

    /// Damages to a release, and whether its receipt still tells what its bytes were.
    static let damages: [(name: String, isKnown: Bool, make: @Sendable (Path) throws -> Void)] = [
        (
            "bytes changed", true,
            { try Data("weights.gguf oF tiny@1.0.0:q4".utf8).write(to: $0.appending("weights.gguf").url) }
        ),
        ("shortened", true, { try Data("w".utf8).write(to: $0.appending("weights.gguf").url) }),
        ("missing", true, { try LocalFileSystem().removeFile($0.appending("weights.gguf")) }),
        ("no receipt", false, { try LocalFileSystem().removeFile($0.appending("receipt.json")) }),
        ("receipt is rubbish", false, { try Data("{".utf8).write(to: $0.appending("receipt.json").url) }),
        (
            "a link in its place", false,
            {
                try LocalFileSystem().removeTree($0)
                try LocalFileSystem().makeLink(at: $0, to: "/etc")
            }
        ),
        (
            "a file in its place", false,
            {
                try LocalFileSystem().removeTree($0)
                try Data("x".utf8).write(to: $0.url)
            }
        ),
    ]

    /// A damaged live release with the same bytes stays live. One without a receipt is not live before it is activated again: nothing
    /// tells whether its bytes were the same.
    @Test(arguments: damages.indices)
    func aDamagedReleaseIsReplaced(_ index: Int) async throws {
        let fixture = try StoreFixture()
        let identity = try StoreFixture.identity()
        let folder = try await fixture.install(identity, activate: true).folder
        try Self.damages[index].make(folder)
        let damage = Self.damages[index]
        let replaced = try await fixture.install(identity)
        #expect(replaced.identity == identity && replaced.isActive == damage.isKnown, "\(damage.name)")
        #expect(
            try await fixture.anotherStore().active(identity.family) == (damage.isKnown ? replaced : nil),
            "\(damage.name)")
        #expect(try await fixture.store.verify(replaced).isIntact, "\(damage.name)")
        #expect(try await fixture.store.activate(identity).isActive, "\(damage.name)")
        #expect(try fixture.temporaryNames().isEmpty)
        #expect(try fixture.exists(Path("/etc")))
    }

    @Test(arguments: ["active", "Active", "state.json", "STATE.JSON"])
    func releasesWithTheStoresOwnNamesAreRefused(_ version: String) async throws {
        let fixture = try StoreFixture()
        let identity = try StoreFixture.identity(version, variant: nil)
        #expect(await code { try await fixture.install(identity) } == "reserved-name")
    }

    @Test(arguments: ["receipt.json", "Receipt.JSON", ".weights.tmp-1", "receipt.json/x", "a/.b.tmp-1"])
    func filesWithTheStoresOwnNamesAreRefused(_ name: String) async throws {
        let fixture = try StoreFixture()
        #expect(await code { try await fixture.install(try StoreFixture.identity(), names: [name]) } == "reserved-name")
        #expect(try await fixture.store.installed().isEmpty)
    }

    static let lies: [@Sendable (StoreFixture, [StagedFile]) throws -> [StagedFile]] = [
        { _, _ in [] },
        { _, files in files + files },
        { _, files in files.map { $0.with(size: $0.size + 1) } },
        { _, files in files.map { $0.with(digest: SHA256Digest(hashing: Data("other".utf8))) } },
        { fixture, files in
            try files.map { file in
                let link = fixture.folder.path("home/transfers/link")
                try LocalFileSystem().makeLink(at: link, to: "/etc/passwd")
                return file.with(path: link)
            }
        },
        { fixture, files in files.map { $0.with(path: fixture.folder.path.appending("home")) } },
    ]

    @Test(arguments: lies.indices)
    func filesThatAreNotWhatWasAnnouncedAreRefused(_ index: Int) async throws {
        let fixture = try StoreFixture()
        let release = try StoreFixture.release(try StoreFixture.identity())
        let files = try Self.lies[index](fixture, try fixture.stage(release))
        #expect(
            await code { try await fixture.store.install(release, files: files, origin: nil) } == "staged-file-changed")
        #expect(try await fixture.store.installed().isEmpty)
        #expect(try fixture.temporaryNames().isEmpty)
    }

    @Test func twoInstallersOfOneReleaseEndWell() async throws {
        let fixture = try StoreFixture(time: .system)
        let identity = try StoreFixture.identity()
        let release = try StoreFixture.release(identity, names: ["weights.gguf", "mmproj.gguf"])
        for round in 0..<10 {
            let files = try fixture.stage(release)
            try await withThrowingTaskGroup(of: InstalledRelease.self) { group in
                for _ in 0..<4 {
                    let store = fixture.anotherStore()
                    group.addTask {
                        while true {
                            do {
                                return try await store.install(release, files: files, origin: nil)
                            } catch let error as StoreError where error.code == .homeBusy {
                                // On a machine that is busy itself the others may take longer than a store waits.
                            }
                        }
                    }
                }
                for try await installed in group { #expect(installed.identity == identity, "round \(round)") }
            }
            let installed = try #require(try await fixture.anotherStore().installed(identity))
            #expect(try await fixture.store.verify(installed).isIntact)
            #expect(try fixture.temporaryNames().isEmpty)
            try await fixture.anotherStore().remove(identity.family, version: nil, variant: nil)
        }
    }
}

extension StagedFile {
    func with(path: Path? = nil, size: UInt64? = nil, digest: SHA256Digest? = nil) -> StagedFile {
        StagedFile(
            name: name, role: role, path: path ?? self.path, size: size ?? self.size, digest: digest ?? self.digest,
            isVerified: isVerified)
    }
}
