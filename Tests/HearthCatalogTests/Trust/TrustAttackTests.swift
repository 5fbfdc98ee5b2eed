import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCatalog

/// The attacks that The Update Framework names, and how a device that has seen an origin answers each.
@Suite(.timeLimit(.minutes(10))) struct TrustAttackTests {
    /// A publisher with a file, and a device that has seen version 5 of everything.
    private static func settled(_ change: (inout TrustLab) -> Void = { _ in }) throws -> (TrustLab, TrustDevice) {
        var lab = TrustLab()
        lab.files["models.json"] = Data("{}".utf8)
        lab.versions = [.root: 1, .timestamp: 5, .snapshot: 5, .targets: 5]
        change(&lab)
        var device = TrustDevice(root: try lab.root())
        #expect(try device.update(lab.published(), find: ["models.json"]).first??.length == 2)
        device.requests = []
        return (lab, device)
    }

    @Test func anUnchangedOriginCostsTwoRequests() throws {
        var (lab, device) = try Self.settled()
        try device.update(lab.published())
        #expect(device.requests == ["2.root.json", "timestamp.json"])
        lab.bump(.targets, .snapshot, .timestamp)
        device.requests = []
        try device.update(lab.published())
        #expect(device.requests == ["2.root.json", "timestamp.json", "6.snapshot.json", "6.targets.json"])
    }

    @Test(arguments: MetadataRole.topLevel) func arbitraryInstallation(_ role: MetadataRole) throws {
        var (lab, device) = try Self.settled()
        lab.bump(.root, .targets, .snapshot, .timestamp)
        let stranger = Ed25519Key()
        lab.signers = { $0 == role ? [stranger] : $1 }
        #expect(device.refusal(try lab.published()) == "too-few-signatures")
        #expect(device.stored[role].map { SHA256Digest(hashing: $0) } != nil)
    }

    @Test(arguments: [MetadataRole.timestamp, .snapshot, .targets]) func rollback(_ role: MetadataRole) throws {
        var (lab, device) = try Self.settled()
        // Everything above the role is new, so that only its own version tells.
        lab.bump(.targets, .snapshot, .timestamp)
        lab.versions[role] = 4
        let before = device.stored
        #expect(device.refusal(try lab.published()) == "metadata-rollback")
        #expect(device.stored[role] == before[role])
    }

    @Test func aRoleCannotVanishFromTheSnapshot() throws {
        var (lab, device) = try Self.settled { $0.delegated["publisher.json"] = 1 }
        lab.delegated = [:]
        lab.bump(.snapshot, .timestamp)
        #expect(device.refusal(try lab.published()) == "metadata-rollback")
    }

    @Test(arguments: [[MetadataRole.timestamp], [.snapshot], [.timestamp, .snapshot]])
    func fastForward(_ stolen: [MetadataRole]) throws {
        var (lab, device) = try Self.settled()
        for role in stolen { lab.versions[role] = 1 << 52 }
        if !stolen.contains(.timestamp) { lab.bump(.timestamp) }
        #expect(device.refusal(try lab.published()) == nil)
        // The publisher withdraws the stolen keys and goes on counting where it was.
        let former = lab.keys(.root)
        for role in [MetadataRole.timestamp, .snapshot] { lab.roles[role] = TrustLab.Role() }
        lab.versions = [.root: 2, .timestamp: 6, .snapshot: 6, .targets: 6]
        var origin = try lab.published()
        origin["2.root.json"] = try lab.root(former: former)
        #expect(device.refusal(origin) == nil)
        let timestamp = try SignedMetadata(parsing: try #require(device.stored[.timestamp]), .timestamp)
        #expect(try TimestampMetadata(timestamp).fields.version == 6)
    }

    @Test(arguments: MetadataRole.topLevel) func indefiniteFreeze(_ role: MetadataRole) throws {
        var (lab, device) = try Self.settled { $0.expiries[role] = TrustLab.now.addingTimeInterval(60) }
        let later = TrustLab.now.addingTimeInterval(61)
        let origin = try lab.published()
        #expect(device.refusal(origin) == nil)
        #expect(device.refusal(origin, now: later) == "metadata-expired")
        // The first moment after the last valid one is refused as well.
        #expect(device.refusal(origin, now: TrustLab.now.addingTimeInterval(60)) == "metadata-expired")
        // A renewed origin is accepted again.
        lab.expiries = [:]
        let former = lab.keys(.root)
        lab.bump(.root, .targets, .snapshot, .timestamp)
        var renewed = try lab.published()
        renewed["2.root.json"] = try lab.root(former: former)
        #expect(device.refusal(renewed, now: later) == nil)
    }

    @Test(arguments: [(MetadataRole.snapshot, "5.snapshot.json"), (.targets, "5.targets.json")])
    func mixAndMatch(_ role: MetadataRole, _ name: String) throws {
        // A device that has seen nothing gets a validly signed file of another day.
        var lab = TrustLab()
        lab.versions = [.root: 1, .timestamp: 5, .snapshot: 5, .targets: 5]
        var origin = try lab.published()
        for digests in [true, false] {
            lab.listsDigests = digests
            origin = try lab.published()
            var other = lab
            other.versions[role] = 6
            other.files["another"] = Data()
            origin[name] = role == .snapshot ? try other.snapshot() : try other.targets()
            var device = TrustDevice(root: try lab.root())
            #expect(device.refusal(origin) == "metadata-mismatch")
            #expect(device.stored[role] == nil)
        }
    }

    @Test(arguments: ["2.root.json", "timestamp.json", "6.snapshot.json", "6.targets.json"])
    func endlessData(_ name: String) throws {
        var (lab, device) = try Self.settled()
        lab.bump(.root, .targets, .snapshot, .timestamp)
        lab.listsDigests = false
        var origin = try lab.published()
        if name != "2.root.json" { origin["2.root.json"] = nil }
        origin[name] = Data(repeating: UInt8(ascii: " "), count: 6_000_000)
        #expect(device.refusal(origin) == "metadata-too-large")
    }

    @Test func wrongSoftware() throws {
        let (lab, device) = try Self.settled()
        var copy = device
        #expect(try copy.update(lab.published(), find: ["../models.json", "", "MODELS.JSON"]) == [nil, nil, nil])
        let file = try #require(try copy.update(lab.published(), find: ["models.json"]).first ?? nil)
        try file.check(Data("{}".utf8))
        for bytes in ["{ }", "{]", ""] {
            let error = #expect(throws: TrustError.self) { try file.check(Data(bytes.utf8)) }
            #expect(error?.code.rawValue == "target-mismatch")
        }
    }

    @Test func oneStolenKeyOfTwoIsNotEnough() throws {
        let pair = TrustLab.Role(keys: [Ed25519Key(), Ed25519Key()], threshold: 2)
        for role in MetadataRole.topLevel {
            var (lab, device) = try Self.settled { lab in for role in lab.roles.keys { lab.roles[role] = pair } }
            lab.bump(.root, .targets, .snapshot, .timestamp)
            lab.signers = { $0 == role ? [$1[0], $1[0]] : $1 }
            #expect(device.refusal(try lab.published()) == "too-few-signatures")
        }
    }

    @Test func oneKeyUnderTwoNamesCountsOnce() throws {
        let key = Ed25519Key()
        var lab = TrustLab()
        lab.roles[.timestamp] = TrustLab.Role(keys: [key], threshold: 2)
        lab.edit = { role, members in
            guard role == .root, var keys = members["keys"]?.members, var roles = members["roles"]?.members else {
                return
            }
            keys["alias"] = MetadataKeys.entry(key.publicBytes)
            members["keys"] = .object(keys)
            roles["timestamp"] = .object([
                "keyids": .array([.string(MetadataKeys.id(of: key)), .string("alias")]), "threshold": .integer(2),
            ])
            members["roles"] = .object(roles)
        }
        var origin = try lab.published()
        var timestamp = try SignedMetadata(parsing: try #require(origin["timestamp.json"]), .timestamp)
        var alias = timestamp.signatures[0]
        alias.keyID = "alias"
        alias.members["keyid"] = .string("alias")
        timestamp.signatures.append(alias)
        origin["timestamp.json"] = timestamp.data
        var device = TrustDevice(root: try lab.root())
        #expect(device.refusal(origin) == "too-few-signatures")
    }

    @Test(arguments: ["timestamp.json", "5.snapshot.json", "5.targets.json"])
    func aMissingFileIsNamed(_ name: String) throws {
        var lab = TrustLab()
        lab.versions = [.root: 1, .timestamp: 5, .snapshot: 5, .targets: 5]
        var origin = try lab.published()
        origin[name] = nil
        var device = TrustDevice(root: try lab.root())
        #expect(device.refusal(origin) == "metadata-missing")
    }
}
