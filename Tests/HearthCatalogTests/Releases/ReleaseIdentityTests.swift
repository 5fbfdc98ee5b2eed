import Foundation
import HearthBase
import Testing

@testable import HearthCatalog

@Suite struct ReleaseIdentityTests {
    private static let family = Family("m")

    private func identity(_ version: String, _ variant: String? = nil, _ content: String? = nil) throws
        -> ReleaseIdentity
    {
        ReleaseIdentity(
            family: try #require(Self.family), version: try #require(ReleaseVersion(version)),
            variant: try variant.map { try #require(Variant($0)) },
            content: try content.map { try #require(ContentTag($0)) })
    }

    @Test(
        arguments: [
            ("1.0.0", "1.0.0", nil, nil), ("1.0.0~q4", "1.0.0", "q4", nil),
            ("1.0.0+1a2b3c4d", "1.0.0", nil, "1a2b3c4d"), ("1.0.0~q4+1a2b3c4d", "1.0.0", "q4", "1a2b3c4d"),
            // A publisher's own build metadata.
            ("1.0.0+build~q4", "1.0.0+build", "q4", nil), ("1.0.0+1A2B3C4D", "1.0.0+1A2B3C4D", nil, nil),
            ("1.0.0+1a2b3c4", "1.0.0+1a2b3c4", nil, nil), ("1.0.0+1a2b3c4d5", "1.0.0+1a2b3c4d5", nil, nil),
            ("1.0.0+1a2b3c4d~", "1.0.0+1a2b3c4d", nil, nil), ("1.0.0+1a2b3c4d~q4", "1.0.0+1a2b3c4d", "q4", nil),
            ("1.0.0+1a2b3c4d+00000000", "1.0.0+1a2b3c4d", nil, "00000000"),
        ] as [(String, String, String?, String?)])
    func aFolderNameHasOneMeaning(_ name: String, _ version: String, _ variant: String?, _ content: String?) throws {
        let identity = try identity(version, variant, content)
        #expect(identity.folderName == name)
        #expect(ReleaseIdentity(family: identity.family, folderName: name) == identity)
    }

    @Test(arguments: ["", "~", "+1a2b3c4d", "1.0.0~", "1.0.0~+1a2b3c4d", "1.0.0~q4~", "1.0.0~Q4", "1.0.0~q4+1A2B3C4D"])
    func otherNamesAreNoReleases(_ name: String) throws {
        #expect(ReleaseIdentity(family: try #require(Self.family), folderName: name) == nil)
    }

    @Test func aReferenceMeansThePlainReleaseFirst() throws {
        let (plain, tagged) = (try identity("1.0.0", "q4"), try identity("1.0.0", "q4", "1a2b3c4d"))
        let (own, other) = (try identity("1.0.0+build", "q4"), try identity("2.0.0", "q8", "1a2b3c4d"))
        let all = [plain, tagged, own, other]
        func named(_ text: String) throws -> [ReleaseIdentity] {
            guard case .family(_, let version, let variant) = try ModelReference(parsing: text) else { return [] }
            return all.named(version, variant)
        }
        for identity in all { #expect(try named(identity.description) == [identity]) }
        #expect(try named("m@1.0.0") == [plain])
        #expect(try named("m@1.0.0+1a2b3c4d") == [tagged])
        #expect(try named("m@2.0.0") == [other], "where the plain name is not there")
        #expect(try named("m:q4") == [plain, tagged, own])
        #expect(try named("m@1.0.0:q8").isEmpty && named("m@1.0.0+00000000").isEmpty)
        #expect(throws: CatalogError.self) { try ModelReference(parsing: "m:q4+1a2b3c4d") }
    }

    @Test(arguments: ["", "Q4", "a b", "../x", String(repeating: "a", count: 65)])
    func anUnusableNameIsNotDecoded(_ text: String) throws {
        let data = try JSONEncoder().encode([text])
        #expect(throws: DecodingError.self) { try JSONDecoder().decode([Variant].self, from: data) }
        #expect(throws: DecodingError.self) { try JSONDecoder().decode([ContentTag].self, from: data) }
    }

    @Test func aNameIsEncodedAsItsText() throws {
        let identity = try identity("1.0.0", "q4", "1a2b3c4d")
        #expect(try JSONEncoder().encode([identity.family]) == Data(#"["m"]"#.utf8))
        #expect(try JSONEncoder().encode([identity.version]) == Data(#"["1.0.0"]"#.utf8))
        #expect(try JSONDecoder().decode([ContentTag].self, from: Data(#"["1a2b3c4d"]"#.utf8)) == [identity.content])
    }
}
