import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthDelivery

/// What is written of artefacts, and that what was written before folders were made is read as it was.
@Suite(.timeLimit(.minutes(10))) struct PreparedRecordTests {
    private let folder: PreparationRecipe

    init() throws {
        folder = PreparationRecipe(
            engine: "scripted", engineVersion: "1", settings: "", fileName: "Leaf.mlmodelc", expectedSize: 1,
            summary: "", product: .folder, source: .folder(try #require(RelativePath("Leaf.mlpackage"))))
    }

    private func file(_ name: String, _ salt: String = "", _ role: FileRole = .other) throws -> Receipt.File {
        Receipt.File(
            name: try #require(RelativePath(name)), role: role, size: UInt64(salt.utf8.count),
            digest: SHA256Digest(hashing: Data(salt.utf8)))
    }

    private func release(_ files: [Receipt.File]) throws -> InstalledRelease {
        let identity = try StoreFixture.identity()
        return InstalledRelease(
            identity: identity, folder: Path("/nowhere"),
            receipt: Receipt(
                try StoreFixture.release(identity), files: files, isVerified: true, origin: nil, at: .now),
            isActive: false)
    }

    /// An artefact as it was written before there was anything but files: place, record and all.
    @Test func anEarlierRecordIsStillValid() async throws {
        let fixture = try StoreFixture()
        let release = try await fixture.install(try StoreFixture.identity())
        let source = try #require(release.receipt.files.first).digest
        let place = "home/prepared/tiny/1.0.0~q4/fc8c83fed033ea2f"
        let made = Data("made before".utf8)
        let path = try fixture.folder.write("\(place)/made.bin", made)
        let modified = try #require(try LocalFileSystem().status(at: path)?.modified).timeIntervalSince1970
        try fixture.folder.write(
            "\(place)/prepared.json",
            Data(
                #"""
                {"file": "made.bin", "format": 1, "made": 1800000000, "modified": \#(modified),
                 "recipe": {"engine": "scripted", "engineVersion": "1", "expectedSize": 10, "fileName": "made.bin",
                  "settings": "small", "summary": "a small one"},
                 "sha256": "\#(SHA256Digest(hashing: made))", "sizeBytes": \#(made.count), "sourceSha256": "\#(source)"}
                """#.utf8))
        let preparer = ScriptedPreparer()
        #expect(try await fixture.manager(preparer: preparer).weightsToOpen(of: release) == path)
        #expect(try await fixture.store.prepared(of: release)?.path == path)
        #expect(preparer.builds.withLock { $0 } == 0)
    }

    /// What is written of a file has the fields it always had, so that earlier versions read it too.
    @Test func aFilesRecordIsWrittenAsBefore() throws {
        let recipe = PreparationRecipe(
            engine: "llama.cpp", engineVersion: "1", settings: "q4_0", fileName: "m.gguf", expectedSize: 1, summary: "")
        let date = Date(timeIntervalSince1970: 1_800_000_000.25)
        let record = PreparedRecord(
            recipe: recipe, file: try #require(PathComponent("m.gguf")), source: SHA256Digest(hashing: Data()),
            shape: .file(size: 3, modified: date), sha256: SHA256Digest(hashing: Data()), made: date)
        let written = try #require(try JSONSerialization.jsonObject(with: record.data()) as? [String: Any])
        #expect(
            written.keys.sorted() == [
                "file", "format", "made", "modified", "recipe", "sha256", "sizeBytes", "sourceSha256",
            ])
        let fields = try #require(written["recipe"] as? [String: Any])
        #expect(
            fields.keys.sorted() == [
                "engine", "engineVersion", "expectedSize", "fileName", "settings", "summary",
            ])
        #expect(try PreparedRecord(data: record.data()) == record)
    }

    @Test func aFoldersRecordIsReadBack() throws {
        let date = Date(timeIntervalSince1970: 1_800_000_000.123_456)
        let tree = PreparedTree(
            files: [.init(path: try #require(RelativePath("weights/weight.bin")), size: 7, modified: date)],
            folders: [try #require(RelativePath("weights"))])
        let record = PreparedRecord(
            recipe: folder, file: try #require(PathComponent("Leaf.mlmodelc")), source: SHA256Digest(hashing: Data()),
            shape: .folder(tree), sha256: SHA256Digest(hashing: Data()), made: date)
        #expect(try PreparedRecord(data: record.data()) == record)
        #expect(record.shape.size == 7)
        // Of another kind than any this version knows, or with a path that leads out, it is none.
        let text = String(decoding: try record.data(), as: UTF8.self)
        for (part, other) in [("\"folder\"", "\"image\""), ("weights/weight.bin", "../weight.bin")] {
            #expect(throws: DecodingError.self) {
                try PreparedRecord(data: Data(text.replacingOccurrences(of: part, with: other).utf8))
            }
        }
    }

    /// A file is known by the digest of the weights, as it was before; a folder by all that is in it.
    @Test func whatItIsMadeFromIsKnownByItsBytes() throws {
        let weights = try file("Leaf.mlpackage/Data/model.mlmodel", "a", .weights)
        let manifest = try file("Leaf.mlpackage/Manifest.json", "b")
        let beside = try file("Leaf.mlpackage.txt", "c")
        let whole = try release([weights, manifest, beside])
        var single = folder
        single.source = .weights
        #expect(single.sourceDigest(in: whole) == weights.digest)

        let digest = try #require(folder.sourceDigest(in: whole))
        #expect(folder.sourceDigest(in: try release([beside, manifest, weights])) == digest)
        #expect(folder.sourceDigest(in: try release([weights, manifest])) == digest)
        let others = [
            [weights], [weights, try file("Leaf.mlpackage/Manifest.json", "B")],
            [weights, try file("Leaf.mlpackage/manifest.json", "b")],
            [weights, manifest, try file("Leaf.mlpackage/Data/weights/weight.bin", "")],
        ]
        for files in others { #expect(folder.sourceDigest(in: try release(files)) != digest) }
        #expect(folder.sourceDigest(in: try release([beside])) == nil)
    }

    @Test func anotherKindIsAnotherArtefact() throws {
        var asFile = folder
        asFile.product = .file
        let source = SHA256Digest(hashing: Data())
        let record = PreparedRecord(
            recipe: folder, file: try #require(PathComponent("Leaf.mlmodelc")), source: source,
            shape: .folder(PreparedTree(files: [], folders: [])), sha256: source, made: .now)
        #expect(record.isMade(by: folder, of: source))
        #expect(!record.isMade(by: asFile, of: source))
    }
}
