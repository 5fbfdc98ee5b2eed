import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthStore

@Suite struct UpdatePlanTests {
    private func release(_ version: String, size: UInt64) throws -> Release {
        let identity = ReleaseIdentity(
            family: try #require(Family("m")), version: try #require(ReleaseVersion(version)))
        return Release(
            identity: identity, id: "\(identity)",
            file: RemoteFile(
                name: try #require(RelativePath("m.gguf")), size: .exact(size),
                digest: SHA256Digest(hashing: Array(version.utf8)), locations: []))
    }

    @Test func countsSharedAndFetchedBytes() throws {
        var new = try release("2.0.0", size: 1000)
        func companion(_ name: String, _ text: String, size: UInt64) throws -> RemoteFile {
            RemoteFile(
                name: try #require(RelativePath(name)), role: .projector, size: .exact(size),
                digest: SHA256Digest(hashing: Array(text.utf8)), locations: [])
        }
        new.companions = [try companion("mmproj.gguf", "same", size: 300), try companion("other", "new", size: 50)]
        func installed(isVerified: Bool) throws -> InstalledRelease {
            let identity = try release("1.0.0", size: 1).identity
            let files = try [("mmproj.gguf", "same", 300), ("m.gguf", "old", 900)].map { name, text, size in
                Receipt.File(
                    name: try #require(RelativePath(name)), role: .weights, size: UInt64(size),
                    digest: SHA256Digest(hashing: Array(text.utf8)))
            }
            return InstalledRelease(
                identity: identity, folder: Path("/x"),
                receipt: Receipt(
                    try release("1.0.0", size: 1), files: files, isVerified: isVerified, origin: nil, at: Date()),
                isActive: true)
        }
        let plan = UpdatePlan(new, installed: [try installed(isVerified: true)]) {
            $0.name.string == "m.gguf" ? 400 : 0
        }
        #expect(plan.sharedFiles.map(\.string) == ["mmproj.gguf"])
        #expect(plan.sharedBytes == 300)
        #expect(plan.fetchedBytes == 600 + 50)
        let unproven = UpdatePlan(new, installed: [try installed(isVerified: false)])
        #expect(unproven.sharedBytes == 0, "bytes nobody vouched for are not shared")
        #expect(unproven.fetchedBytes == 1350)
        new.file.size = .exact(.max)
        #expect(UpdatePlan(new, installed: []).fetchedBytes == .max, "absurd sizes do not overflow")
    }
}
