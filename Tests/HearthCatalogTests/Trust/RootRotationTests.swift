import Foundation
import HearthBase
import Testing

@testable import HearthCatalog

@Suite(.timeLimit(.minutes(10))) struct RootRotationTests {
    private static func version(_ device: TrustDevice) throws -> UInt64 {
        let data = try #require(device.stored[.root])
        return try RootMetadata(SignedMetadata(parsing: data, .root)).fields.version
    }

    /// Roots 2 to `last`, each with new keys, signed by those before and its own.
    private static func chain(_ lab: inout TrustLab, to last: UInt64) throws -> [String: Data] {
        var origin: [String: Data] = [:]
        while let version = lab.versions[.root], version < last {
            let former = lab.keys(.root)
            lab.roles[.root] = TrustLab.Role()
            lab.bump(.root)
            origin["\(version + 1).root.json"] = try lab.root(former: former)
        }
        return origin
    }

    @Test func aDeviceFollowsEveryRoot() throws {
        var lab = TrustLab()
        var device = TrustDevice(root: try lab.root())
        let roots = try Self.chain(&lab, to: 12)
        try device.update(lab.published().merging(roots) { $1 })
        #expect(try Self.version(device) == 12)
        #expect(Array(device.requests.prefix(12)) == (2...13).map { "\($0).root.json" })
    }

    @Test func aGapEndsTheChain() throws {
        var lab = TrustLab()
        let first = lab
        var device = TrustDevice(root: try lab.root())
        var roots = try Self.chain(&lab, to: 5)
        roots["3.root.json"] = nil
        // The rest of the origin is still signed by the keys that the reached root names.
        try device.update(first.published().merging(roots) { $1 })
        #expect(try Self.version(device) == 2)
    }

    @Test func oneUpdateFollowsAtMost256Roots() throws {
        var lab = TrustLab()
        var device = TrustDevice(root: try lab.root())
        let roots = try Self.chain(&lab, to: 300)
        try device.update(lab.published().merging(roots) { $1 })
        #expect(try Self.version(device) == 257)
        try device.update(lab.published().merging(roots) { $1 })
        #expect(try Self.version(device) == 300)
    }

    @Test(
        arguments: [
            // The signers of root 2 with new keys, whether the former keys sign, and the refusal.
            (true, true, nil), (true, false, "too-few-signatures"), (false, true, "too-few-signatures"),
        ] as [(Bool, Bool, String?)])
    func bothRootsMustSign(_ own: Bool, _ former: Bool, _ refusal: String?) throws {
        var lab = TrustLab()
        var device = TrustDevice(root: try lab.root())
        let keys = lab.keys(.root)
        lab.roles[.root] = TrustLab.Role()
        lab.bump(.root)
        let next = lab.keys(.root)
        lab.signers = { role, given in role == .root ? (own ? next : []) + (former ? keys : []) : given }
        var origin = try lab.published()
        origin["2.root.json"] = try lab.root()
        #expect(device.refusal(origin) == refusal)
        #expect(try Self.version(device) == (refusal == nil ? 2 : 1))
    }

    @Test(arguments: [1, 3] as [UInt64]) func aRootOfAnotherVersionIsRefused(_ version: UInt64) throws {
        var lab = TrustLab()
        var device = TrustDevice(root: try lab.root())
        lab.versions[.root] = version
        var origin = try lab.published()
        origin["2.root.json"] = try lab.root()
        #expect(device.refusal(origin) == "metadata-mismatch")
        #expect(try Self.version(device) == 1)
    }

    @Test func anExpiredRootIsReplacedByItsSuccessor() throws {
        var lab = TrustLab()
        lab.expiries[.root] = TrustLab.now.addingTimeInterval(-1)
        var device = TrustDevice(root: try lab.root())
        #expect(device.refusal(try lab.published()) == "metadata-expired")
        lab.expiries = [:]
        lab.bump(.root)
        #expect(device.refusal(try lab.published()) == nil)
    }

    @Test func anUnsignedFirstRootIsRefusedBeforeAnyRequest() throws {
        var lab = TrustLab()
        lab.signers = { _, _ in [] }
        var device = TrustDevice(root: try lab.root())
        #expect(device.refusal([:]) == "too-few-signatures")
        #expect(device.requests.isEmpty)
    }
}
