import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCatalog

/// Metadata that is malformed, although the right keys signed it.
@Suite(.timeLimit(.minutes(10))) struct HostileMetadataTests {
    private typealias Edit = @Sendable (inout JSONMembers) -> Void

    private struct Case: CustomTestStringConvertible, Sendable {
        let name: String
        let role: MetadataRole
        let edit: Edit
        init(_ name: String, _ role: MetadataRole, _ edit: @escaping Edit) {
            (self.name, self.role, self.edit) = (name, role, edit)
        }
        var testDescription: String { name }
    }

    private static func common(_ role: MetadataRole) -> [Case] {
        [
            Case("\(role): another type", role) { $0["_type"] = .string("mirrors") },
            Case("\(role): no type", role) { $0["_type"] = nil },
            Case("\(role): version 0", role) { $0["version"] = .integer(0) },
            Case("\(role): negative version", role) { $0["version"] = .integer(-1) },
            Case("\(role): version beyond 2^53", role) { $0["version"] = .number("9007199254740993") },
            Case("\(role): version as text", role) { $0["version"] = .string("1") },
            Case("\(role): no expiry", role) { $0["expires"] = nil },
            Case("\(role): a day without time", role) { $0["expires"] = .string("2027-02-20") },
            Case("\(role): expiry as number", role) { $0["expires"] = .integer(1) },
            Case("\(role): specification 2", role) { $0["spec_version"] = .string("2.0.0") },
            Case("\(role): specification 1", role) { $0["spec_version"] = .string("1") },
            Case("\(role): specification in words", role) { $0["spec_version"] = .string("1.x") },
        ]
    }

    private static let special: [Case] = [
        Case("meta is a list", .timestamp) { $0["meta"] = .array([]) },
        Case("no snapshot", .timestamp) { $0["meta"] = .object([:]) },
        Case("digest of odd length", .timestamp) {
            $0["meta"] = .object([
                "snapshot.json": .object(["version": .integer(1), "hashes": .object(["sha256": .string("abc")])])
            ])
        },
        Case("digest of another length", .timestamp) {
            $0["meta"] = .object([
                "snapshot.json": .object(["version": .integer(1), "hashes": .object(["sha256": .string("abcd")])])
            ])
        },
        Case("length 0", .timestamp) {
            $0["meta"] = .object(["snapshot.json": .object(["version": .integer(1), "length": .integer(0)])])
        },
        Case("no meta", .snapshot) { $0["meta"] = nil },
        Case("an entry without version", .snapshot) { $0["meta"] = .object(["targets.json": .object([:])]) },
        Case("targets is a list", .targets) { $0["targets"] = .array([]) },
        Case("a file without digest", .targets) {
            $0["targets"] = .object(["a": .object(["length": .integer(1)])])
        },
        Case("a file without length", .targets) {
            $0["targets"] = .object(["a": .object(["hashes": .object([:])])])
        },
        Case("delegations without roles", .targets) { $0["delegations"] = .object(["keys": .object([:])]) },
        Case("delegation to root", .targets) { $0["delegations"] = delegation(["name": .string("root")]) },
        Case("delegation without a name", .targets) { $0["delegations"] = delegation(["name": .string("")]) },
        Case("delegation with a long name", .targets) {
            $0["delegations"] = delegation(["name": .string(String(repeating: "n", count: 81))])
        },
        Case("delegation without paths", .targets) { $0["delegations"] = delegation(["paths": .null]) },
        Case("delegation with both kinds of paths", .targets) {
            $0["delegations"] = delegation(["path_hash_prefixes": .array([])])
        },
        Case("delegation that needs no key", .targets) { $0["delegations"] = delegation(["threshold": .integer(0)]) },
        Case("delegation with a key twice", .targets) {
            $0["delegations"] = delegation(["keyids": .array([.string("a"), .string("a")])])
        },
        Case("bins of no bit", .targets) {
            $0["delegations"] = .object([
                "keys": .object([:]),
                "succinct_roles": .object([
                    "keyids": .array([]), "threshold": .integer(1), "bit_length": .integer(0),
                    "name_prefix": .string("bin"),
                ]),
            ])
        },
    ]

    private static func delegation(_ change: JSONMembers) -> JSONValue {
        let role: JSONMembers = [
            "name": .string("a"), "keyids": .array([]), "threshold": .integer(1), "terminating": .boolean(false),
            "paths": .array([.string("*")]),
        ]
        let merged = change.after(role).filter { $0.value != .null }
        return .object(["keys": .object([:]), "roles": .array([.object(merged)])])
    }

    private static let cases = [MetadataRole.timestamp, .snapshot, .targets].flatMap(common) + special

    @Test(arguments: cases) private func malformedFieldsAreRefused(_ test: Case) throws {
        var lab = TrustLab()
        lab.listsDigests = false
        var device = TrustDevice(root: try lab.root())
        lab.edit = { if $0 == test.role { test.edit(&$1) } }
        #expect(device.refusal(try lab.published()) == "metadata-invalid")
        #expect(device.stored[test.role] == nil)
    }

    private static let roots: [Case] =
        common(.root) + [
            Case("consistent snapshots in words", .root) { $0["consistent_snapshot"] = .string("yes") },
            Case("no keys", .root) { $0["keys"] = nil },
            Case("keys are a list", .root) { $0["keys"] = .array([]) },
            Case("a key without scheme", .root) { $0["keys"] = .object(["a": .object(["keytype": .string("rsa")])]) },
            Case("no roles", .root) { $0["roles"] = .object([:]) },
            Case("a threshold of 0", .root) { members in
                guard var roles = members["roles"]?.members, var role = roles["targets"]?.members else { return }
                role["threshold"] = .integer(0)
                roles["targets"] = .object(role)
                members["roles"] = .object(roles)
            },
        ]

    @Test(arguments: roots) private func malformedRootsAreRefused(_ test: Case) throws {
        var lab = TrustLab()
        lab.edit = { if $0 == .root { test.edit(&$1) } }
        var device = TrustDevice(root: try lab.root())
        #expect(device.refusal([:]) == "metadata-invalid")
        #expect(device.requests.isEmpty)
    }

    @Test(arguments: [
        "", "null", "[]", "{}", "{\"signed\": {}}", "{\"signed\": [], \"signatures\": []}",
        "{\"signed\": {}, \"signatures\": {}}", "{\"signed\": {}, \"signatures\": [1]}",
        "{\"signed\": {}, \"signatures\": [{\"keyid\": \"a\"}]}",
        "{\"signed\": {}, \"signed\": {}, \"signatures\": []}",
        "{\"signed\": {\"version\": 1, \"version\": 2}, \"signatures\": []}",
        "{\"signed\": {}, \"signatures\": [{\"keyid\": \"a\", \"sig\": \"\"}, {\"keyid\": \"a\", \"sig\": \"\"}]}",
        "{\"signed\": {}, \"signatures\": []} trailing", "<html></html>", "\u{0}",
        "{\"signed\": " + String(repeating: "[", count: 100_000),
        "{\"signed\": {\"a\": " + String(repeating: "{\"a\": ", count: 80) + "1"
            + String(repeating: "}", count: 80) + "}, \"signatures\": []}",
    ])
    func brokenEnvelopesAreRefused(_ text: String) throws {
        let error = #expect(throws: TrustError.self) {
            try SignedMetadata(parsing: Data(text.utf8), .targets)
        }
        #expect(error?.code.rawValue == "metadata-invalid")
    }

    @Test func anUnevenNumberHasNoSignedForm() throws {
        for number in ["1.0", "1e3", "-0", "0.5"] {
            let file = try SignedMetadata(
                parsing: Data("{\"signed\": {\"x\": \(number)}, \"signatures\": []}".utf8), .targets)
            #expect(throws: TrustError.self) { try file.message() }
        }
    }

    @Test func manySignaturesAreRefused() throws {
        let entries = (0..<257).map { "{\"keyid\": \"\($0)\", \"sig\": \"00\"}" }.joined(separator: ",")
        #expect(throws: TrustError.self) {
            try SignedMetadata(parsing: Data("{\"signed\": {}, \"signatures\": [\(entries)]}".utf8), .targets)
        }
    }

    @Test(arguments: ["", "zz", "00", String(repeating: "0", count: 128), "e"])
    func aBadSignatureBesideAGoodOneDoesNoHarm(_ text: String) throws {
        var lab = TrustLab()
        let second = Ed25519Key()
        lab.roles[.timestamp]?.keys.append(second)
        var origin = try lab.published()
        var file = try SignedMetadata(parsing: try #require(origin["timestamp.json"]), .timestamp)
        for index in file.signatures.indices where file.signatures[index].keyID == MetadataKeys.id(of: second) {
            file.signatures[index].members["sig"] = .string(text)
        }
        origin["timestamp.json"] = file.data
        var device = TrustDevice(root: try lab.root())
        #expect(device.refusal(origin) == nil)
    }

    @Test func unknownFieldsAreSignedAndKept() throws {
        var lab = TrustLab()
        lab.edit = {
            $1["x-extra"] = .object(["b": .integer(1), "a": .array([.null, .boolean(true), .string("é\n")])])
        }
        var device = TrustDevice(root: try lab.root())
        let origin = try lab.published()
        #expect(device.refusal(origin) == nil)
        #expect(device.stored[.timestamp] == origin["timestamp.json"])
        let file = try SignedMetadata(parsing: try #require(origin["timestamp.json"]), .timestamp)
        #expect(file.data == origin["timestamp.json"])
        var altered = file
        altered.signed = .object(JSONMembers([("x-extra", .null)]).after(try #require(file.signed.members)))
        var changed = origin
        changed["timestamp.json"] = altered.data
        var other = TrustDevice(root: try lab.root())
        #expect(other.refusal(changed) == "too-few-signatures")
    }
}
