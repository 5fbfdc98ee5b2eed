import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthStore
@testable import HearthTransfer

@Suite(.timeLimit(.minutes(10))) struct ArchiveInstallTests {
    private static let weights = Data(Array(repeating: Array("weights".utf8), count: 1000).joined())

    private func install(
        _ fixture: StoreFixture, _ name: String, member: String? = nil, filename: String = "model.bin",
        files: [(String, Data)]? = nil, change: (inout Release) -> Void = { _ in }
    ) async throws -> InstalledRelease {
        let item = try ArchiveCorpus.item(name)
        var release = try StoreFixture.packed(
            try StoreFixture.identity(), format: item.format, member: member, data: try item.data, filename: filename)
        release.companions = try (files ?? []).map { name, data in
            RemoteFile(
                name: try #require(RelativePath(name)), role: .other, size: .exact(UInt64(data.count)),
                digest: SHA256Digest(hashing: data), locations: [])
        }
        change(&release)
        return try await fixture.store.install(
            release, files: [], archive: try fixture.stage(archive: try item.data, of: release), origin: nil)
    }

    @Test(arguments: [
        "good.zip", "good-stored.zip", "good.tar", "good-gnu.tar", "good.tar.gz", "good.tar.zst", "good-dotted.tar",
    ])
    func aBundleKeepsItsFolders(_ name: String) async throws {
        let fixture = try StoreFixture()
        let installed = try await install(fixture, name)
        #expect(
            installed.receipt.files.map(\.name.string) == [
                "bundle/sub/labels.txt", "bundle/weights.gguf", "café.txt",
            ])
        #expect(installed.weights == installed.folder.appending(try #require(RelativePath("bundle/weights.gguf"))))
        #expect(try Data(contentsOf: try #require(installed.weights).url) == Self.weights)
        #expect(installed.receipt.isVerified, "its own digest vouches for what is in it")
        #expect(try await fixture.store.verify(installed).isIntact)
        #expect(try fixture.temporaryNames().isEmpty)
        // Once more: nothing to do, and what came for it is taken.
        let again = try await install(fixture, name)
        #expect(again.receipt.installed == installed.receipt.installed)
        #expect(try LocalFileSystem().files(below: fixture.layout.transfers).isEmpty)
    }

    /// The dialect of one model has no word for archives: the address says it.
    @Test(arguments: ["good.zip", "good.tar", "good.tar.gz", "good.tar.zst"])
    func theAddressOfASingleModelMayBeAnArchives(_ name: String) async throws {
        let folder = try TemporaryFolder()
        let data = try ArchiveCorpus.item(name).data
        let file = "toy-1.0.0.gguf" + name.dropFirst("good".count)
        try folder.write("origin/\(file)", data)
        let manifest = try folder.write(
            "origin/models.json",
            Data(
                #"{"version": "1.0.0", "url": "\#(file)", "sha256": "\#(SHA256Digest(hashing: data))", "size_mb": 0.1}"#
                    .utf8))
        let manager = ModelManager(
            home: folder.path("home"), origins: [], network: UnmonitoredNetwork(), deviceMemory: 1 << 40)
        let release = try await manager.pull(ModelReference(parsing: manifest.string)).release
        #expect(release.identity.description == "toy@1.0.0")
        #expect(release.receipt.format == .gguf && release.receipt.archive != nil)
        #expect(try Data(contentsOf: try #require(release.weights).url) == Self.weights)
    }

    /// The labels of the archive are two.
    @Test(arguments: [(2, nil), (3, "classes-mismatch"), (nil, nil)] as [(Int?, String?)])
    func aListOfOtherClassesIsRefused(_ count: Int?, _ refusal: String?) async throws {
        let fixture = try StoreFixture()
        let found = await code {
            let installed = try await install(fixture, "good.zip") {
                $0.classes = Classes(count: count, listVersion: "v1")
                $0.trainedOn = "2026-03-27"
            }
            #expect(installed.receipt.classes == Receipt.Classes(Classes(count: count, listVersion: "v1")))
            #expect(installed.receipt.trainedOn == "2026-03-27")
            #expect(try Receipt(data: try installed.receipt.data()) == installed.receipt)
        }
        #expect(found == refusal)
        #expect(try await fixture.store.installed().count == (refusal == nil ? 1 : 0))
        #expect(try fixture.temporaryNames().isEmpty)
    }

    @Test(
        arguments: [
            ("a\nb\n", "labels.txt", 2), ("a\r\nb\r\n\r\n", "labels.txt", 2), ("", "labels.txt", 0),
            ("a", "classes", 1),
            ("[\"a\", \"b\", \"c\"]", "labels.json", 3), ("{\"0\": \"a\"}", "id2label.json", 1),
            ("{\"0\": \"a\", \"1\": \"b\"}", "LABELS.JSON", 2), ("a\n", "LABELS.TXT", 1),
            // How many there are is somewhere in it, or beside a heading.
            ("{\"classes\": [\"a\", \"b\"]}", "labels.json", nil),
            ("{\"id2label\": {\"0\": \"a\"}, \"label2id\": {\"a\": 0}}", "labels.json", nil),
            ("id,name\n0,a\n", "classes.csv", nil), ("- a\n- b\n", "labels.yaml", nil),
            ("7", "labels.json", nil),
            ("[", "labels.json", nil),
        ] as [(String, String, Int?)])
    func classesAreCounted(_ text: String, _ name: String, _ count: Int?) {
        #expect(ClassList(Data(text.utf8), name: name)?.count == count)
    }

    @Test(arguments: [("model.gguf", "model.gguf"), ("model.zip", "weights.gguf")])
    func aMemberAloneIsUnpacked(_ filename: String, _ expected: String) async throws {
        let fixture = try StoreFixture()
        let installed = try await install(fixture, "good.zip", member: "bundle/weights.gguf", filename: filename)
        #expect(installed.receipt.files.map(\.name.string) == [expected])
        #expect(try Data(contentsOf: try #require(installed.weights).url) == Self.weights)
        #expect(installed.receipt.archive != nil)
    }

    @Test func aListIsCompleteAndRight() async throws {
        let all: [(String, Data)] = [
            ("bundle/weights.gguf", Self.weights), ("bundle/sub/labels.txt", Data("cat\ndog\n".utf8)),
            ("café.txt", Data("x".utf8)),
        ]
        let fixture = try StoreFixture()
        _ = try await install(fixture, "good.tar.gz", files: all)
        let wrong: [(String, [(String, Data)])] = [
            ("one is not listed", Array(all.dropLast())), ("one is not there", all + [("more", Data())]),
            ("another length", all.dropLast() + [("café.txt", Data("xx".utf8))]),
            ("other bytes", all.dropLast() + [("café.txt", Data("y".utf8))]),
        ]
        for (note, files) in wrong {
            let fixture = try StoreFixture()
            let outcome = await code { try await install(fixture, "good.tar.gz", files: files) }
            #expect(outcome == "archive-mismatch" || outcome == "archive-too-large", "\(note): \(outcome ?? "taken")")
            #expect(try await fixture.store.installed().isEmpty)
        }
        #expect(await code { try await install(fixture, "good.zip", member: "bundle/none.gguf") } == "archive-mismatch")
    }

    @Test func whatItsPublisherDeclaresIsTheLimit() async throws {
        let fixture = try StoreFixture()
        let outcome = await code {
            try await install(fixture, "good.zip") { $0.requirements.storageBytes = 7000 }
        }
        #expect(outcome == "archive-too-large")
        _ = try await install(fixture, "good.zip") { $0.requirements.storageBytes = 7100 }
    }

    @Test func withoutADigestItIsUnverified() async throws {
        let fixture = try StoreFixture()
        let item = try ArchiveCorpus.item("good.zip")
        var release = try StoreFixture.packed(try StoreFixture.identity(), format: .zip, data: try item.data)
        release.file.digest = nil
        let staged = try fixture.stage(archive: try item.data, of: release)
        let unverified = StagedFile(
            name: staged.name, path: staged.path, size: staged.size, digest: staged.digest, isVerified: false)
        let installed = try await fixture.store.install(release, files: [], archive: unverified, origin: nil)
        #expect(!installed.receipt.isVerified)
    }

    @Test func unpackingTellsItsProgressAndCanBeCancelled() async throws {
        let fixture = try StoreFixture()
        let item = try ArchiveCorpus.item("good.zip")
        let release = try StoreFixture.packed(try StoreFixture.identity(), format: .zip, data: try item.data)
        let staged = try fixture.stage(archive: try item.data, of: release)
        let readings = Locked(0)
        let store = fixture.store
        let task = Task {
            try await store.install(release, files: [], archive: staged, origin: nil) { _, _ in
                readings.withLock { $0 += 1 }
                // At the first word of unpacking.
                withUnsafeCurrentTask { $0?.cancel() }
            }
        }
        _ = await task.result
        #expect(readings.withLock { $0 } > 0)
        try await fixture.anotherStore().prepare()
        #expect(try fixture.temporaryNames().isEmpty)
    }

    /// A full disk at every point of unpacking: nothing of the release stays, and the archive does.
    @Test func aFullDiskLeavesTheArchive() async throws {
        let item = try ArchiveCorpus.item("good.tar.gz")
        for left in stride(from: 0 as UInt64, to: 8000, by: 500) {
            let disk = FaultyFileSystem()
            let fixture = try StoreFixture(fileSystem: disk)
            let release = try StoreFixture.packed(try StoreFixture.identity(), format: .tarGzip, data: try item.data)
            let staged = try fixture.stage(archive: try item.data, of: release)
            try await fixture.store.prepare()
            disk.fillDisk(after: left)
            let outcome = await code {
                try await fixture.store.install(release, files: [], archive: staged, origin: nil)
            }
            disk.heal()
            #expect(outcome == "disk-full" || outcome == nil)
            if left == 0 { #expect(outcome == "disk-full") }
            if outcome != nil {
                #expect(try fixture.exists(staged.path))
                #expect(try await fixture.anotherStore().installed().isEmpty)
                #expect(try fixture.temporaryNames().isEmpty)
                _ = try await fixture.anotherStore().install(release, files: [], archive: staged, origin: nil)
            }
            let installed = try #require(try await fixture.anotherStore().installed().first)
            #expect(try await fixture.anotherStore().verify(installed).isIntact)
        }
    }
}
