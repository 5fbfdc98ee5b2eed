import Foundation
import HearthBase
import Testing

@testable import HearthCatalog

@Suite struct RegistryReferenceTests {
    private static let digest = "sha256:" + String(repeating: "0a", count: 32)

    @Test(
        arguments: [
            ("oci://h.example/m", "oci://h.example/m:latest", "oci--h.example--m", "https://h.example"),
            ("oci://h.example/a/b:1.0", "oci://h.example/a/b:1.0", "oci--h.example--a--b", "https://h.example"),
            (
                "OCI://H.Example:5000/a/b", "oci://h.example:5000/a/b:latest", "oci--h.example_5000--a--b",
                "https://h.example:5000"
            ),
            ("oci://localhost:5000/m:x", "oci://localhost:5000/m:x", "oci--localhost_5000--m", "http://localhost:5000"),
            ("oci://127.0.0.1/m:x", "oci://127.0.0.1/m:x", "oci--127.0.0.1--m", "http://127.0.0.1"),
            (
                "oci://docker.io/ai/smollm2", "oci://docker.io/ai/smollm2:latest", "oci--docker.io--ai--smollm2",
                "https://registry-1.docker.io"
            ),
            (
                "oci://index.docker.io/m:1", "oci://docker.io/library/m:1", "oci--docker.io--library--m",
                "https://registry-1.docker.io"
            ),
            ("oci://h.example/m@\(digest)", "oci://h.example/m@\(digest)", "oci--h.example--m", "https://h.example"),
            (
                "oci://h.example/m:1@\(digest)", "oci://h.example/m:1@\(digest)", "oci--h.example--m",
                "https://h.example"
            ),
        ])
    func readsAReference(_ text: String, _ plain: String, _ family: String, _ base: String) throws {
        guard case .registry(let reference) = try ModelReference(parsing: text) else {
            Issue.record("\(text) is read as something else")
            return
        }
        #expect(reference.description == plain)
        #expect(reference.family?.name == family)
        #expect(reference.base?.absoluteString == base)
        #expect(RepositoryReference(record: reference.record) == .registry(reference))
        let named = reference.named(Family("lupus-diary"))
        #expect(RepositoryReference(record: named.record) == .registry(named))
        #expect(named.family?.name == "lupus-diary")
    }

    @Test(
        arguments: [
            "oci://", "oci://h.example", "oci://h.example/", "oci:///m", "oci://h.example/M", "oci://h.example/a//b",
            "oci://h.example/../b", "oci://h.example/a/./b", "oci://h.example/m:", "oci://h.example/m:.x",
            "oci://h.example/m:a/b", "oci://h.example/m@sha256:00", "oci://h.example/m@sha512:00",
            "oci://h.example/m@\(digest.uppercased())", "oci://u:p@h.example/m", "oci://h.example:0/m",
            "oci://h.example:65536/m", "oci://h.example:05/m", "oci://h.example/m?x=1", "oci://h.example/m#x",
            "oci://-h/m", "oci://h..x/m", "oci://h.example/a%2Fb", "oci://[::1]:5000/m",
            "oci://h.example/" + String(repeating: "a", count: 256),
            "oci://h.example/m:" + String(repeating: "a", count: 129),
        ])
    func refusesWhatNamesNoModel(_ text: String) {
        let error = #expect(throws: CatalogError.self) { try ModelReference(parsing: text) }
        #expect(error?.code == .badReference)
    }

    @Test func repositoriesThatLookAlikeHaveFamiliesOfTheirOwn() throws {
        let names = ["h.example/a/b", "h.example/a--b", "h.example/a-b", "h.example:5/a", "h.example-5/a"]
        var families: Set<Family> = []
        for name in names {
            guard case .registry(let reference) = try ModelReference(parsing: "oci://\(name)") else { continue }
            families.insert(try #require(reference.family))
        }
        #expect(families.count == names.count)
        let long = try #require(
            RegistryReference(host: "h.example", repository: String(repeating: "a", count: 200)))
        #expect(long.family?.name.utf8.count == 64)
    }

    @Test func theVersionIsTheTagElseTheShortDigest() throws {
        let digest = try #require(SHA256Digest(tagged: Self.digest))
        let tagged = try #require(RegistryReference(host: "h.example", repository: "m", tag: "8b-q4_K_M"))
        #expect(tagged.version(digest)?.name == "8b-q4_K_M")
        #expect(tagged.at(digest).version(digest)?.name == "8b-q4_K_M")
        let bare = try #require(RegistryReference(host: "h.example", repository: "m", digest: digest))
        #expect(bare.version(digest)?.name == "0a0a0a0a0a0a")
        let long = try #require(
            RegistryReference(host: "h.example", repository: "m", tag: String(repeating: "a", count: 100)))
        #expect(long.version(digest)?.name == "0a0a0a0a0a0a")
    }

    @Test(arguments: ["hf:o/m=oci://h/m", "x y=oci://h/m", "oci://", "=oci://h/m", "models.json", "Upper=oci://h/m:1"])
    func aRecordOfAnotherSourceNamesNoRegistry(_ record: String) {
        if case .registry? = RepositoryReference(record: record) { Issue.record("\(record)") }
    }
}
