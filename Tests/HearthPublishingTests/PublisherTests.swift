import Foundation
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthPublishing
import HearthStore
import HearthTestSupport
import HearthTransfer
import Testing

/// An origin folder and a clock that stands at 2027-01-15T08:00:00Z.
struct TestOrigin {
    let folder: TemporaryFolder
    let clock = ManualClock()
    var fileSystem: any FileSystem = LocalFileSystem()

    init() throws { folder = try TemporaryFolder() }

    var path: Path { folder.path("origin") }
    var manifest: Path { folder.path("origin/models.json") }

    func source(_ name: String, _ payload: [UInt8] = [1, 2, 3]) throws -> Path {
        try folder.write("sources/" + name, ModelFiles.gguf(payload: payload))
    }

    @discardableResult
    func publish(_ files: Path..., change: (inout PublishRequest) -> Void = { _ in }) async throws -> PublishReport {
        var request = PublishRequest(files: files)
        change(&request)
        var publisher = Publisher(folder: path, fileSystem: fileSystem, time: clock.time)
        publisher.isSignedElsewhere = true
        return try await publisher.publish(request)
    }

    func catalog() throws -> Catalog { try Catalog(manifest: text(), url: manifest.url) }

    func text() throws -> Data { try LocalFileSystem().contents(ofFile: manifest, limit: 1 << 20) }

    func names(_ folder: String = "origin/models") throws -> [String] {
        try LocalFileSystem().contents(of: self.folder.path(folder))
    }
}

@Suite(.timeLimit(.minutes(10))) struct PublisherTests {
    @Test func writesWhatACatalogReads() async throws {
        let origin = try TestOrigin()
        let data = ModelFiles.gguf(
            texts: [("general.architecture", "llama"), ("general.name", "Tiny One"), ("general.license", "mit")],
            numbers: [("llama.context_length", 2048)], payload: Array(repeating: 7, count: 9 << 20))
        let source = try origin.folder.write("tiny-v1.2.0-Q4_K_M.gguf", data)
        let report = try await origin.publish(source)
        #expect(report.serial == 1)
        let item = try #require(report.items.first)
        #expect(item.outcome == .published)
        #expect(item.isCurrent)
        #expect(item.identity.description == "tiny@1.2.0:q4_k_m")

        let catalog = try origin.catalog()
        #expect(catalog.serial == 1)
        #expect(catalog.issued == Date(timeIntervalSince1970: 1_800_000_000))
        let release = try #require(catalog.releases.first)
        #expect(release.identity == item.identity)
        #expect(release.id == "tiny-v1.2.0-q4_k_m")
        #expect(catalog.current == [release.identity.family: release.identity.version])
        #expect(release.file.name.string == "tiny-v1.2.0-q4_k_m.gguf")
        #expect(release.file.size == .exact(UInt64(data.count)))
        #expect(release.file.digest == SHA256Digest(hashing: data))
        #expect(release.name == "Tiny One")
        #expect(release.license == "mit")
        #expect(release.contextLength == 2048)
        #expect(release.role == .text)
        #expect(release.format == .gguf)
        #expect(release.released == "2027-01-15")
        #expect(release.requirements.storageBytes == UInt64(data.count) + UInt64(data.count) / 5)

        let file = try #require(release.file.locations.first)
        #expect(file.path == item.path.string)
        #expect(try LocalFileSystem().contents(ofFile: Path(file.path), limit: 1 << 30) == data)
        let location = try #require(release.index?.locations.first)
        let encoded = try LocalFileSystem().contents(ofFile: Path(location.path), limit: 1 << 20)
        #expect(release.index?.digest == SHA256Digest(hashing: encoded))
        #expect(release.index?.size == .exact(UInt64(encoded.count)))
        let index = try ChunkIndex(encoded: encoded, expectedFileSize: UInt64(data.count))
        #expect(index.chunks.map(\.length) == [8 << 20, UInt32(data.count) - (8 << 20)])
        #expect(try origin.names() == ["tiny-v1.2.0-q4_k_m.gguf", "tiny-v1.2.0-q4_k_m.index"])
        #expect(try origin.names("origin") == [".publish.lock", "models", "models.json", "targets"])
    }

    @Test func theManifestIsReadableTextForReadersOfTheFirstDialect() async throws {
        let origin = try TestOrigin()
        try await origin.publish(origin.source("m-v1.0.0-q4.gguf"))
        let digest = SHA256Digest(hashing: ModelFiles.gguf()).hex
        let index = SHA256Digest(
            hashing: try ChunkIndex.make(ofFile: origin.source("m-v1.0.0-q4.gguf"), on: LocalFileSystem()).index.encoded
        )
        #expect(
            try String(decoding: origin.text(), as: UTF8.self) == """
                {
                  "current": {
                    "m": "1.0.0"
                  },
                  "currentVersion": "1.0.0",
                  "issued": "2027-01-15T08:00:00Z",
                  "models": [
                    {
                      "downloadUrl": "models/m-v1.0.0-q4.gguf",
                      "family": "m",
                      "filename": "m-v1.0.0-q4.gguf",
                      "format": "gguf",
                      "id": "m-v1.0.0-q4",
                      "index": {
                        "sha256": "\(index)",
                        "sizeBytes": 56,
                        "url": "models/m-v1.0.0-q4.index"
                      },
                      "minAppVersion": "0.0.0",
                      "released": "2027-01-15",
                      "requirements": {
                        "memoryBytes": 268435498,
                        "storageBytes": 42
                      },
                      "role": "text",
                      "sha256": "\(digest)",
                      "sizeBytes": 35,
                      "variant": "q4",
                      "version": "1.0.0",
                      "writtenName": "m"
                    }
                  ],
                  "schemaVersion": 1,
                  "serial": 1
                }

                """)
    }

    @Test func versionsAndVariantsLiveSideBySide() async throws {
        let origin = try TestOrigin()
        try await origin.publish(
            origin.source("m-v1.0.0-q4.gguf"), origin.source("m-v1.0.0-q8.gguf", [8]),
            origin.source("m-v1.1.0-q4.gguf", [9]))
        let older = try await origin.publish(origin.source("m-v1.0.5-q4.gguf", [5]))
        #expect(older.items.map(\.isCurrent) == [false])
        let catalog = try origin.catalog()
        #expect(
            catalog.releases.map(\.identity.description) == ["m@1.0.0:q4", "m@1.0.0:q8", "m@1.1.0:q4", "m@1.0.5:q4"])
        #expect(catalog.serial == 2)
        #expect(catalog.current.values.map(\.name) == ["1.1.0"])
        #expect(try origin.names().count == 8)
    }

    @Test func currentVersionIsSaidOfOneFamilyOnly() async throws {
        let origin = try TestOrigin()
        func says() throws -> Bool { try String(decoding: origin.text(), as: UTF8.self).contains("currentVersion") }
        try await origin.publish(origin.source("a-v1.0.0-q4.gguf"))
        #expect(try says())
        try await origin.publish(origin.source("b-v3.0.0-q4.gguf"))
        #expect(try !says())
        #expect(try origin.catalog().current.map { "\($0.key) \($0.value)" }.sorted() == ["a 1.0.0", "b 3.0.0"])
    }

    @Test(arguments: [
        ("1.0.0", "1.1.0", Bool?.none, "1.1.0"), ("1.1.0", "1.0.0", nil, "1.1.0"),
        ("1.0.0", "2.0.0-rc.1", nil, "1.0.0"), ("2.0.0-rc.1", "2.0.0-rc.2", nil, "2.0.0-rc.2"),
        ("2.0.0-rc.1", "2.0.0", nil, "2.0.0"), ("1.1.0", "1.0.0", true, "1.0.0"),
        ("1.0.0", "1.1.0", false, "1.0.0"), ("1.0.0", "2.0.0-rc.1", true, "2.0.0-rc.1"),
    ])
    func aNewerVersionBecomesCurrent(
        _ first: String, _ second: String, _ policy: Bool?, _ expected: String
    ) async throws {
        let origin = try TestOrigin()
        try await origin.publish(origin.source("m-v\(first)-q4.gguf"))
        try await origin.publish(origin.source("m-v\(second)-q4.gguf", [2])) { $0.isCurrent = policy }
        #expect(try origin.catalog().current.values.map(\.name) == [expected])
    }

    @Test func theSameBytesChangeNothing() async throws {
        let origin = try TestOrigin()
        let source = try origin.source("m-v1.0.0-q4.gguf")
        try await origin.publish(source)
        let before = try origin.text()
        origin.clock.advance(by: .seconds(60))
        let report = try await origin.publish(source)
        #expect(report.items.map(\.outcome) == [.unchanged])
        #expect(!report.changesManifest)
        #expect(report.serial == 1)
        #expect(try origin.text() == before)
    }

    @Test func theSameBytesMayBeSaidMoreOfAndBecomeCurrent() async throws {
        let origin = try TestOrigin()
        let source = try origin.source("m-v1.0.0-q4.gguf")
        try await origin.publish(source, origin.source("m-v2.0.0-q4.gguf", [2]))
        let noted = try await origin.publish(source) { $0.notes = "Two\nlines" }
        #expect(noted.serial == 2)
        #expect(noted.items.map(\.isCurrent) == [false])
        #expect(try origin.catalog().releases.first?.notes == "Two\nlines")
        let current = try await origin.publish(source) { $0.isCurrent = true }
        #expect(current.items.map(\.isCurrent) == [true])
        #expect(try origin.catalog().current.values.map(\.name) == ["1.0.0"])
        #expect(try await origin.publish(source) { $0.isCurrent = true }.changesManifest == false)
    }

    @Test func aMissingFileOfAPublishedReleaseIsPutBack() async throws {
        let origin = try TestOrigin()
        let source = try origin.source("m-v1.0.0-q4.gguf")
        let path = try #require(try await origin.publish(source).items.first?.path)
        try LocalFileSystem().removeFile(path)
        #expect(try await origin.publish(source).items.map(\.outcome) == [.published])
        #expect(try LocalFileSystem().status(at: path)?.size == 35)
    }

    @Test func otherBytesOfAReleaseAreRefusedUnlessReplaced() async throws {
        let origin = try TestOrigin()
        try await origin.publish(origin.source("m-v1.0.0-q4.gguf"))
        let before = try origin.text()
        let other = try origin.source("m-v1.0.0-q4.gguf", [4, 5, 6])
        let error = try await #require(throws: PublishingError.self) { try await origin.publish(other) }
        #expect(error.code == .releaseExists)
        #expect(error.context.expected == SHA256Digest(hashing: ModelFiles.gguf()).hex)
        #expect(error.context.found == SHA256Digest(hashing: ModelFiles.gguf(payload: [4, 5, 6])).hex)
        #expect(try origin.text() == before)

        let report = try await origin.publish(other) { $0.replaces = true }
        #expect(report.items.map(\.outcome) == [.replaced])
        let release = try #require(try origin.catalog().releases.first)
        let digest = SHA256Digest(hashing: ModelFiles.gguf(payload: [4, 5, 6]))
        #expect(release.file.digest == digest)
        #expect(release.file.name.string == "m-v1.0.0-q4.gguf")
        // A name of its own, since caches keep the first one.
        #expect(try origin.names() == ["m-v1.0.0-q4.\(digest.short).gguf", "m-v1.0.0-q4.\(digest.short).index"])
        #expect(release.file.locations.first?.lastPathComponent == "m-v1.0.0-q4.\(digest.short).gguf")
    }

    @Test func keepsWhatItDoesNotKnow() async throws {
        let origin = try TestOrigin()
        try origin.folder.write(
            "origin/models.json",
            Data(
                """
                {"schemaVersion": 1, "currentVersion": "1.0.0", "house": {"colour": 12345678901234567890.5},
                 "issued": "2026-01-01T00:00:00Z", "expires": "2026-01-31T00:00:00Z", "serial": 41,
                 "models": [{"id": "theirs", "version": "1.0.0", "filename": "m-v1.0.0-q4.gguf", "sizeBytes": 1,
                  "downloadUrl": "https://cdn.example/m", "minAppVersion": "3.0.0", "shelf": [1, null, 1e2]}]}
                """.utf8))
        try await origin.publish(origin.source("m-v1.1.0-q4.gguf"))
        let text = try String(decoding: origin.text(), as: UTF8.self)
        #expect(text.contains("12345678901234567890.5"))
        #expect(text.contains("1e2"))
        let catalog = try origin.catalog()
        #expect(catalog.serial == 42)
        #expect(catalog.expires == Date(timeIntervalSince1970: 1_800_000_000 + 30 * 86400))
        #expect(catalog.releases.map(\.id) == ["theirs", "m-v1.1.0-q4"])

        // The known fields of an entry follow the new bytes, the others stay.
        try await origin.publish(origin.source("m-v1.0.0-q4.gguf", [7])) { $0.replaces = true }
        let replaced = try #require(try origin.catalog().releases.first)
        #expect(replaced.minimumAppVersion == SemanticVersion(3, 0, 0))
        #expect(replaced.file.locations.first?.isFileURL == true)
        #expect(try String(decoding: origin.text(), as: UTF8.self).contains("1e2"))
    }

    @Test func aDryRunWritesNothingAndSaysTheSame() async throws {
        let origin = try TestOrigin()
        let source = try origin.source("m-v1.0.0-q4.gguf")
        let planned = try await origin.publish(source) { $0.isDryRun = true }
        #expect(try LocalFileSystem().status(at: origin.path) == nil)
        #expect(try await origin.publish(source) == planned)
        let before = try origin.text()
        let other = try origin.source("m-v2.0.0-q4.gguf", [9])
        #expect(try await origin.publish(other) { $0.isDryRun = true }.items.map(\.isCurrent) == [true])
        #expect(try origin.text() == before)
        #expect(try origin.names().count == 2)
    }

    @Test func aFileMayLieInItsPlaceAlready() async throws {
        let origin = try TestOrigin()
        let path = try origin.folder.write("origin/models/m-v1.0.0-q4.gguf", ModelFiles.gguf())
        let inode = try LocalFileSystem().status(at: path)?.identity
        try await origin.publish(path)
        #expect(try LocalFileSystem().status(at: path)?.identity == inode)
        #expect(try origin.catalog().releases.count == 1)

        // Written over in place, then replaced: the user's own file is not taken away.
        try origin.folder.write("origin/models/m-v1.0.0-q4.gguf", ModelFiles.gguf(payload: [8]))
        try await origin.publish(path) { $0.replaces = true }
        #expect(try LocalFileSystem().status(at: path) != nil)
    }

    @Test func twoPublishersDoNotMeet() async throws {
        let origin = try TestOrigin()
        let source = try origin.source("m-v1.0.0-q4.gguf")
        try LocalFileSystem().makeFolders(origin.path)
        let lock = try #require(try FileLock.tryAcquire(origin.folder.path("origin/.publish.lock")))
        let error = try await #require(throws: PublishingError.self) { try await origin.publish(source) }
        #expect(error.code == .publisherBusy)
        #expect(error.disposition == .tryLater)
        lock.release()
        try await origin.publish(source)
    }

    @Test func cancellingLeavesTheManifestAlone() async throws {
        let origin = try TestOrigin()
        let source = try origin.folder.write(
            "m-v1.0.0-q4.gguf", ModelFiles.gguf(payload: Array(repeating: 1, count: 4 << 20)))
        let publisher = Publisher(folder: origin.path)
        let task = Locked<Task<PublishReport, any Error>?>(nil)
        let gate = DispatchSemaphore(value: 0)
        let running = Task {
            try await publisher.publish(PublishRequest(files: [source])) { _, _, _ in
                gate.wait()
                task.withLock { $0 }?.cancel()
                gate.signal()
            }
        }
        task.withLock { $0 = running }
        gate.signal()
        await #expect(throws: CancellationError.self) { try await running.value }
        #expect(try LocalFileSystem().status(at: origin.manifest) == nil)
        #expect(try origin.names().isEmpty)
    }
}
