import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthStore

@Suite struct ContentDigestTests {
    /// The content digest of a catalog's entry equals that of the receipt.
    @Test func theContentDigestIsKnownBeforeTheInstallation() async throws {
        let fixture = try StoreFixture()
        let identity = try StoreFixture.identity()
        let names = ["weights.gguf", "a/mmproj.gguf"]
        var release = try StoreFixture.release(identity, names: names)
        let content = try #require(release.content)
        #expect(try await fixture.install(identity, names: names).receipt.content == content)
        release.file.digest = nil
        #expect(release.content == nil)
        release = try StoreFixture.release(identity, names: names)
        release.file.size = .about(1, limit: 2)
        #expect(release.content == nil)
        release = try StoreFixture.release(identity)
        release.archive = Archive(format: .zip)
        #expect(release.content == nil, "the files of an archive are unknown")
    }
}
