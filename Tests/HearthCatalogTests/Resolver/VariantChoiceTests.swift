import Foundation
import HearthBase
import Testing

@testable import HearthCatalog

private let mebibyte: UInt64 = 1 << 20

private func release(
    _ family: String, _ version: String, _ variant: String? = nil, size: UInt64 = 1, memory: UInt64? = nil
) throws -> Release {
    var release = Release(
        identity: ReleaseIdentity(
            family: try #require(Family(family)), version: try #require(ReleaseVersion(version)),
            variant: try variant.map { try #require(Variant($0)) }),
        id: "\(family)-\(version)-\(variant ?? "")",
        file: RemoteFile(
            name: try #require(RelativePath("m.gguf")), size: .exact(size), digest: nil, locations: []))
    release.requirements.memoryBytes = memory
    return release
}

@Suite struct VariantChoiceTests {
    private let family = Family("m")

    private func choose(
        _ catalog: Catalog, version: String? = nil, variant: String? = nil, memory: UInt64 = .max,
        fitsAfterPreparation: Set<ReleaseIdentity> = []
    ) throws -> Offer {
        let device = DeviceProfile(memory: memory, fitsAfterPreparation: fitsAfterPreparation)
        return try Resolver(catalog: catalog, device: device).offer(
            of: try #require(family), version: try version.map { try #require(ReleaseVersion($0)) },
            variant: try variant.map { try #require(Variant($0)) })
    }

    @Test(
        arguments: [
            (["1.0.0", "1.10.0", "1.9.0"], nil, "1.10.0"),
            (["1.0.0", "2.0.0-rc.1"], nil, "1.0.0"),
            (["2.0.0-rc.2", "2.0.0-rc.10", "2.0.0-beta"], nil, "2.0.0-rc.10"),
            (["1.0.0", "2.0.0"], "1.0.0", "1.0.0"),
            (["abc", "def"], nil, "def"),
            (["zzz", "0.0.1-a"], nil, "0.0.1-a"),
        ] as [([String], String?, String)])
    func theVersionIsThePublishersChoiceElseTheNewest(
        _ versions: [String], _ current: String?, _ expected: String
    ) throws {
        var catalog = Catalog(releases: try versions.map { try release("m", $0) })
        if let current { catalog.current = [try #require(family): try #require(ReleaseVersion(current))] }
        #expect(try choose(catalog).release.identity.version.name == expected)
    }

    @Test func aVersionAskedForWinsOverThePublishersChoice() throws {
        let versions = ["1.0.0", "2.0.0", "3.0.0-rc.1"]
        var catalog = Catalog(releases: try versions.map { try release("m", $0) })
        catalog.current = [try #require(family): try #require(ReleaseVersion("2.0.0"))]
        for version in versions {
            #expect(try choose(catalog, version: version).release.identity.version.name == version)
        }
    }

    @Test(arguments: [
        (UInt64(2000), "q8", false), (UInt64(1999), "q4", false), (UInt64(1000), "q4", false),
        (UInt64(600), "q2", false), (UInt64(499), "q2", true), (UInt64(0), "q2", true),
    ])
    func theVariantIsTheLargestThatFitsElseTheSmallest(_ memory: UInt64, _ expected: String, _ isTooLarge: Bool) throws
    {
        let catalog = Catalog(releases: [
            try release("m", "1.0.0", "q4", size: 40, memory: 1000),
            try release("m", "1.0.0", "q8", size: 80, memory: 2000),
            try release("m", "1.0.0", "q2", size: 20, memory: 500),
            try release("m", "0.9.0", "f16", size: 1, memory: 1),
        ])
        let choice = try choose(catalog, version: "1.0.0", memory: memory)
        #expect(choice.release.identity.variant?.name == expected)
        let variants = ["q2", "q4", "q8"].compactMap { Variant($0) }
        #expect(
            choice.reason
                == (isTooLarge
                    ? .smallestThoughNoneFits(among: variants, needed: 500) : .largestThatFits(among: variants)))
    }

    @Test func smallestThatFitsAfterPreparationIsTakenWhereNoneFits() throws {
        let catalog = Catalog(releases: [
            try release("m", "1.0.0", "f16", size: 80, memory: 2000),
            try release("m", "1.0.0", "q4", size: 20, memory: 500),
            try release("m", "1.0.0", "q8", size: 40, memory: 1000),
        ])
        let large = Set(catalog.releases.filter { $0.identity.variant?.name != "q4" }.map(\.identity))
        let choice = try choose(catalog, version: "1.0.0", memory: 400, fitsAfterPreparation: large)
        #expect(choice.release.identity.variant?.name == "q8")
        #expect(choice.reason == .smallestAfterPreparation(among: ["q4", "q8", "f16"].compactMap { Variant($0) }))
    }

    /// A first shard says nothing of its model's size: the larger model may come in smaller pieces.
    @Test(arguments: [
        (UInt64(64) << 30, "q8", false), (UInt64(9) << 30, "q4", false), (UInt64(1) << 30, "q4", true),
    ])
    func theSizeOfAVariantIsThatOfAllItsShards(_ memory: UInt64, _ expected: String, _ isTooLarge: Bool) throws {
        let whole = try release("m", "1.0.0", "q4", size: 4096 * mebibyte)
        var sharded = try release("m", "1.0.0", "q8", size: 2048 * mebibyte)
        sharded.companions = try (2...4).map { part in
            RemoteFile(
                name: try #require(RelativePath("m-\(part).gguf")), role: .shard, size: .exact(2048 * mebibyte),
                digest: nil, locations: [])
        }
        for releases in [[whole, sharded], [sharded, whole]] {
            let choice = try choose(Catalog(releases: releases), memory: memory)
            #expect(choice.release.identity.variant?.name == expected)
            let variants = ["q4", "q8"].compactMap { Variant($0) }
            #expect(
                choice.reason
                    == (isTooLarge
                        ? .smallestThoughNoneFits(among: variants, needed: whole.requiredMemory)
                        : .largestThatFits(among: variants)))
        }
    }

    /// A projector that only one of two variants has does not make that one the larger model.
    @Test func aProjectorMakesNoVariantLarger() throws {
        var small = try release("m", "1.0.0", "q4", size: 40 * mebibyte)
        small.companions = [
            RemoteFile(
                name: try #require(RelativePath("mmproj.gguf")), role: .projector, size: .exact(60 * mebibyte),
                digest: nil, locations: [])
        ]
        let catalog = Catalog(releases: [small, try release("m", "1.0.0", "q8", size: 80 * mebibyte)])
        #expect(try choose(catalog).release.identity.variant?.name == "q8")
    }

    @Test func withoutAFigureMemoryIsEstimatedFromTheSize() throws {
        let large = try release("m", "1.0.0", "large", size: 1000 * mebibyte)
        #expect(large.requiredMemory == 1456 * mebibyte)
        let catalog = Catalog(releases: [try release("m", "1.0.0", "small", size: 100 * mebibyte), large])
        #expect(try choose(catalog, memory: 1456 * mebibyte).release.identity.variant?.name == "large")
        #expect(try choose(catalog, memory: 1456 * mebibyte - 1).release.identity.variant?.name == "small")
    }

    /// A hub may list 2,048 files of any length.
    @Test(arguments: [UInt64.max, UInt64.max / 6 * 5 + 9, UInt64.max - (256 << 20)])
    func requiredMemoryOfAbsurdSizesDoesNotOverflow(_ size: UInt64) throws {
        let releases = try ["q4", "q8"].map { try release("m", "1.0.0", $0, size: size) }
        #expect(releases[0].requiredMemory == .max)
        let offer = try choose(Catalog(releases: releases), memory: 1 << 40)
        #expect(offer.reason == .smallestThoughNoneFits(among: ["q4", "q8"].compactMap { Variant($0) }, needed: .max))
    }

    @Test func sayWhyAVariantWasTaken() throws {
        let catalog = Catalog(releases: [try release("m", "1.0.0", "q4", memory: 9), try release("m", "1.0.0")])
        #expect(try choose(catalog, variant: "q4", memory: 1).reason == .asked)
        #expect(try choose(Catalog(releases: [try release("m", "1.0.0")]), memory: 0).reason == .only)
    }

    @Test func anUnknownVersionListsWhatThereIs() throws {
        let catalog = Catalog(releases: [
            try release("m", "1.0.0"), try release("m", "1.1.0"), try release("x", "7.0.0"),
        ])
        let error = try #require(throws: CatalogError.self) { try choose(catalog, version: "2.0.0") }
        #expect(error.code == .unknownVersion)
        #expect(error.errorDescription?.contains("one of 1.1.0, 1.0.0") == true)
        #expect(error.errorDescription?.contains("7.0.0") == false)
    }

    @Test func anUnknownVariantListsWhatThereIsAndWhereItExists() throws {
        let catalog = Catalog(releases: [
            try release("m", "1.1.0", "q8"), try release("m", "1.1.0", "q4"), try release("m", "1.0.0", "f16"),
        ])
        let error = try #require(throws: CatalogError.self) { try choose(catalog, variant: "f16") }
        #expect(error.code == .unknownVariant)
        #expect(error.errorDescription?.contains("On offer is q4, q8.") == true)
        #expect(error.errorDescription?.contains("of version 1.0.0") == true)
    }

    @Test(arguments: [
        ("lupus-dairy", ["lupus-diary"]), ("lupus", ["lupus-diary", "lupus-vision"]),
        ("smolm2-135m-instruct", ["smollm2-135m-instruct"]), ("smollm2", ["smollm2-135m-instruct"]),
        ("qwen", []),
    ])
    func anUnknownFamilyListsTheNearNames(_ asked: String, _ near: [String]) throws {
        let families = ["lupus-diary", "lupus-vision", "smollm2-135m-instruct"]
        let catalog = Catalog(releases: try families.map { try release($0, "1.0.0") })
        #expect(catalog.nearNames(to: asked).map(\.name) == near)
        let error = try #require(throws: CatalogError.self) {
            try Resolver(catalog: catalog, device: DeviceProfile(memory: .max)).offer(of: try #require(Family(asked)))
        }
        #expect(error.code == .unknownFamily)
        for name in near.isEmpty ? families : near {
            #expect(error.errorDescription?.contains(name) == true)
        }
    }

    @Test func aManifestOfOneFamilyNeedsNoName() throws {
        let url = try #require(URL(string: "https://me:pw@h.example/models.json?token=x"))
        let one = Catalog(releases: [try release("m", "1.0.0"), try release("m", "2.0.0")])
        #expect(try one.onlyFamily(url: url) == family)
        let two = Catalog(releases: [try release("m", "1.0.0"), try release("n", "2.0.0")])
        let error = try #require(throws: CatalogError.self) { try two.onlyFamily(url: url) }
        #expect(error.code == .familyNeeded)
        #expect(error.errorDescription?.contains("https://h.example/models.json#m; there are m, n") == true)
        #expect(throws: CatalogError.self) { try Catalog(releases: []).onlyFamily(url: url) }
    }
}
