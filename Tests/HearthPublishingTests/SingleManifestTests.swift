import Foundation
import HearthBase
import HearthCatalog
import HearthTestSupport
import Testing

@testable import HearthPublishing

/// Folders such as `.mlpackage`, lists of classes, and the manifest of one model: what seed NomLens publishes.
@Suite struct SingleManifestTests {
    /// A Core ML package and a list of three classes.
    private func leaf(_ origin: TestOrigin) throws -> (package: Path, classes: Path) {
        let folder = "sources/NomLensClassifier_1.0.0.mlpackage"
        try origin.folder.write("\(folder)/Manifest.json", Data("{}".utf8))
        try origin.folder.write("\(folder)/Data/com.apple.CoreML/model.mlmodel", Data(repeating: 7, count: 700))
        let classes = try origin.folder.write("sources/classes/v1.txt", Data("4EBA\n5927\n\n5C0F\n".utf8))
        return (origin.folder.path(folder), classes)
    }

    @Test func aPackageIsPackedAndDescribed() async throws {
        let origin = try TestOrigin()
        let (package, classes) = try leaf(origin)
        let report = try await origin.publish(package) {
            $0.classes = classes
            $0.trainedOn = "2026-03-27"
            $0.singleManifest = RelativePath("manifest.json")
            $0.publicAddress = URL(string: "https://models.example/models.json")
        }
        #expect(report.items.map(\.identity.description) == ["nomlensclassifier@1.0.0"])
        let release = try #require(try origin.catalog().releases.first)
        #expect(release.format == .coreml && release.role == .classifier)
        #expect(release.archive?.format == .tar)
        #expect(
            release.companions.map(\.name.string).sorted() == [
                "NomLensClassifier_1.0.0.mlpackage/Data/com.apple.CoreML/model.mlmodel",
                "NomLensClassifier_1.0.0.mlpackage/Manifest.json",
            ])
        #expect(release.classes?.count == 3)
        #expect(release.classes?.listVersion == "v1")
        #expect(release.classes?.labels?.name.string == "v1.txt")
        #expect(release.trainedOn == "2026-03-27")

        // The other dialect, as an app of that kind reads it.
        let path = origin.folder.path("origin/manifest.json")
        let data = try LocalFileSystem().contents(ofFile: path, limit: 1 << 16)
        let text = String(decoding: data, as: UTF8.self)
        #expect(text.contains("\"url\": \"https://models.example/models/nomlensclassifier-v1.0.0.tar\""))
        #expect(text.contains("\"size_mb\": 0.1"))
        let url = try #require(URL(string: "https://models.example/manifest.json"))
        let single = try #require(try Catalog(manifest: data, url: url, familyHint: Family("nom")).releases.first)
        #expect(single.file.digest == release.file.digest)
        #expect(single.classes?.count == 3 && single.classes?.listVersion == "v1")
        #expect(single.trainedOn == "2026-03-27")
    }

    /// The list of classes lies where readers of the manifest look for it, and its version names one list for ever.
    @Test func theListLiesBesideTheManifest() async throws {
        let origin = try TestOrigin()
        let (package, classes) = try leaf(origin)
        let disk = LocalFileSystem()
        let list = try disk.contents(ofFile: classes, limit: 1 << 16)
        for place in ["manifest.json", "nom/manifest.json"] {
            try await origin.publish(package) {
                $0.classes = classes
                $0.singleManifest = RelativePath(place)
            }
            let manifest = origin.folder.path("origin/\(place)")
            let data = try disk.contents(ofFile: manifest, limit: 1 << 16)
            let single = try Catalog(manifest: data, url: manifest.url, familyHint: Family("nom")).releases.first
            let address = try #require(single?.classes?.listAddress)
            #expect(try disk.contents(ofFile: Path(address.path), limit: 1 << 16) == list)
        }
        // Without --classes it is that of the catalog.
        let place = origin.folder.path("origin/classes/v1.txt")
        try disk.removeFile(place)
        try await origin.publish(package) { $0.singleManifest = RelativePath("manifest.json") }
        #expect(try disk.contents(ofFile: place, limit: 1 << 16) == list)
        // A manifest at the root names it, so that it stays.
        let publisher = Publisher(folder: origin.path)
        #expect(try await publisher.prune(keeping: 0).removed.allSatisfy { $0.place.string != "classes/v1.txt" })
        #expect(try disk.contents(ofFile: place, limit: 1 << 16) == list)
        // Another list under the same version is refused, and changes nothing.
        let other = try origin.folder.write("sources/other/v1.txt", Data("5C0F\n5927\n4EBA\n".utf8))
        let error = try await #require(throws: PublishingError.self) {
            try await origin.publish(package) {
                $0.classes = other
                $0.singleManifest = RelativePath("manifest.json")
            }
        }
        #expect(error.code == .releaseExists)
        #expect(try disk.contents(ofFile: place, limit: 1 << 16) == list)
        let digest = SHA256Digest(hashing: list)
        #expect(try origin.catalog().releases.first?.classes?.labels?.digest == digest)
    }

    @Test func aPackageIsPackedTheSameWayEachTime() async throws {
        let origin = try TestOrigin()
        let package = try leaf(origin).package
        try await origin.publish(package)
        #expect(try await origin.publish(package).items.map(\.outcome) == [.unchanged])
        try origin.folder.write("sources/NomLensClassifier_1.0.0.mlpackage/Manifest.json", Data("{ }".utf8))
        let error = try await #require(throws: PublishingError.self) { try await origin.publish(package) }
        #expect(error.code == .releaseExists)
    }

    @Test(arguments: ["", "\n \n", "\u{0}"])
    func aListWithoutClassesIsRefused(_ text: String) async throws {
        let origin = try TestOrigin()
        let package = try leaf(origin).package
        let classes = try origin.folder.write("sources/classes/v2.txt", Data(text.utf8))
        let error = try await #require(throws: PublishingError.self) {
            try await origin.publish(package) { $0.classes = classes }
        }
        #expect(error.code == .notPublishable)
        #expect(try LocalFileSystem().status(at: origin.path) == nil)
    }

    @Test func aLinkInAPackageIsRefused() async throws {
        let origin = try TestOrigin()
        let package = try leaf(origin).package
        try LocalFileSystem().makeLink(at: package.joined("link"), to: "Manifest.json")
        let error = try await #require(throws: PublishingError.self) { try await origin.publish(package) }
        #expect(error.code == .notPublishable)
    }

    @Test(arguments: [(100, true), (256, true), (257, false), (400, false)])
    func aPathMustFitIntoTheHeader(_ length: Int, _ fits: Bool) {
        // Divided at the only slash, 100 bytes before the end.
        let name = String(repeating: "n", count: min(100, length))
        let path = length <= 100 ? name : String(repeating: "p", count: length - 101) + "/" + name
        let header = TarHeader(path: path, size: 1)
        #expect((header != nil) == fits)
        #expect(header.map { $0.bytes.count == 512 } ?? true)
        #expect(TarHeader(path: "a", size: 1 << 33) == nil)
    }
}
