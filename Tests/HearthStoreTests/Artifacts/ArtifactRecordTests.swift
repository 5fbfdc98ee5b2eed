import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthStore

/// The record of an artifact on the disk.
@Suite struct ArtifactRecordTests {
    private let recipe = Recipe(
        engine: "llama.cpp", engineVersion: "1", settings: "q4_0", fileName: "m.gguf", expectedSize: 1, summary: "small"
    )
    private let digest = SHA256Digest(hashing: Data())

    private func record(_ state: ArtifactRecord.State) -> ArtifactRecord {
        ArtifactRecord(
            recipe: recipe, source: digest, made: Date(timeIntervalSince1970: 1_800_000_000), state: state)
    }

    @Test func bothStatesAreReadBack() throws {
        let modified = Date(timeIntervalSince1970: 1_800_000_000.25)
        for state in [
            ArtifactRecord.State.built(size: 3, modified: modified, digest: digest), .refused("it says nothing"),
        ] {
            let record = record(state)
            #expect(try ArtifactRecord(data: record.data()) == record)
            #expect((record.refusal(of: try StoreFixture.identity()) == nil) == (state != .refused("it says nothing")))
        }
    }

    @Test(arguments: ["../m.gguf", "a/b", "artifact.json", "Artifact.JSON", ".x.tmp-1", ""])
    func aRecordWithAnUnsafeFileNameIsRefused(_ name: String) throws {
        var record = record(.refused("no"))
        record.recipe.fileName = name
        let data = try record.data()
        #expect(throws: DecodingError.self) { try ArtifactRecord(data: data) }
    }

    @Test func engineVersionAndSettingsMakeAnotherArtifact() {
        let record = record(.refused("no"))
        var same = recipe
        (same.summary, same.expectedSize, same.fileName) = ("another text", 7, "other.gguf")
        #expect(record.isResult(of: same, from: digest))
        #expect(!record.isResult(of: recipe, from: SHA256Digest(hashing: Data("other".utf8))))
        for change in [\Recipe.engine, \Recipe.engineVersion, \Recipe.settings] {
            var other = recipe
            other[keyPath: change] = "2"
            #expect(!record.isResult(of: other, from: digest))
        }
    }
}
