import Foundation
import HearthBase
import Testing

@testable import HearthCatalog

@Suite(.timeLimit(.minutes(10))) struct DelegationTests {
    @Test(arguments: [
        ("*", "a", true), ("*", "", true), ("*", "a/b", false), ("*/*", "a/b", true), ("a/*", "a/b", true),
        ("a/*", "A/b", false), ("*.json", "models.json", true), ("*.json", "models.jsonx", false),
        ("foo-?.tgz", "foo-1.tgz", true), ("foo-?.tgz", "foo-12.tgz", false), ("?", "/", false), ("[a-c]", "b", true),
        ("[a-c]", "d", false), ("[!a-c]", "d", true), ("[!a-c]", "b", false), ("[]]", "]", true), ("[a", "[a", true),
        ("a**b", "axxb", true), ("*a*b*c", "xaxbxc", true), ("*a*b*c", "xaxcxb", false), ("", "", true),
        ("", "a", false),
        ("é?", "éx", true),
    ])
    func patterns(_ pattern: String, _ path: String, _ matches: Bool) {
        #expect(PathPattern(pattern).matches(path) == matches)
    }

    @Test func aPatternOfManyStarsEndsSoon() {
        let pattern = PathPattern(String(repeating: "*a", count: 200) + "b")
        #expect(!pattern.matches(String(repeating: "a", count: 3000)))
    }

    @Test(arguments: [
        ("plain", "1.plain.json"), ("a/b", "1.a%2Fb.json"), ("../x", "1...%2Fx.json"), ("?", "1.%3F.json"),
        ("#", "1.%23.json"), ("%2F", "1.%252F.json"), ("é", "1.%C3%A9.json"), ("A b", "1.A%20b.json"),
    ])
    func roleNamesStayInTheirFolder(_ name: String, _ address: String) throws {
        let role = try #require(MetadataRole(delegated: name))
        #expect(role.addressName(version: 1) == address)
        #expect(!role.fileName.contains("/"))
        #expect(role.fileName == role.fileName.lowercased())
    }

    @Test func namesThatDifferOnlyInCapitalsHaveTwoFiles() throws {
        let upper = try #require(MetadataRole(delegated: "Root"))
        #expect(upper.fileName != MetadataRole.root.fileName)
        #expect(MetadataRole(delegated: "root") == nil)
    }

    /// An origin with delegated roles: `(delegator, name, pattern, terminating)`.
    private struct Tree {
        var lab = TrustLab()
        var keys: [String: Ed25519Key] = [:]
        var origin: [String: Data] = [:]

        init(
            _ delegations: [(String, String, String, Bool)], files: [String: [String]] = [:],
            unsigned: Set<String> = []
        ) throws {
            var lists: [String: [JSONValue]] = [:]
            for (delegator, name, pattern, terminating) in delegations {
                let key = keys[name] ?? Ed25519Key()
                keys[name] = key
                lab.delegated["\(name).json"] = 1
                lists[delegator, default: []].append(
                    .object(
                        JSONMembers([
                            ("name", .string(name)), ("terminating", .boolean(terminating)),
                            ("paths", .array([.string(pattern)])),
                        ]).after(TrustLab.entry(TrustLab.Role(keys: [key])))))
            }
            let all = TrustLab.keys(Array(keys.values))
            func delegation(_ name: String) -> JSONValue? {
                lists[name].map { .object(["keys": all, "roles": .array($0)]) }
            }
            lab.delegations = delegation("targets")
            for (name, key) in keys {
                let role = try #require(MetadataRole(delegated: name))
                let list = (files[name] ?? []).map { path in
                    let entry: JSONValue = .object([
                        "length": .integer(name.utf8.count),
                        "hashes": .object(["sha256": .string(SHA256Digest(hashing: Data(name.utf8)).hex)]),
                    ])
                    return (path, entry)
                }
                var members: JSONMembers = [
                    "targets": .object(JSONMembers(list))
                ]
                members["delegations"] = delegation(name)
                let signer = unsigned.contains(name) ? Ed25519Key() : key
                origin[role.addressName(version: 1)] = try lab.sign(role, members, by: [signer])
            }
            for (name, data) in try lab.published() { origin[name] = data }
        }

        /// The roles visited for a path, and the code of the refusal.
        func visits(_ path: String) throws -> ([String], String?) {
            var device = TrustDevice(root: try lab.root())
            let code = device.refusal(origin, find: [path])
            return (device.requests.dropFirst(4).map { String($0.dropFirst(2).dropLast(5)) }, code)
        }
    }

    @Test func rolesAreVisitedDepthFirstAndOnce() throws {
        let cases: [([(String, String, String, Bool)], [String])] = [
            ([("targets", "A", "*", false), ("targets", "B", "*", false)], ["A", "B"]),
            ([("targets", "A", "*", false), ("targets", "B", "*", false), ("A", "C", "*", false)], ["A", "C", "B"]),
            ([("targets", "A", "*", false), ("targets", "B", "*", false), ("A", "C", "*", true)], ["A", "C"]),
            ([("targets", "A", "*.py", false), ("targets", "B", "*", false), ("A", "C", "*", false)], ["B"]),
            ([("targets", "A", "*", false), ("A", "B", "*", false), ("B", "A", "*", false)], ["A", "B"]),
        ]
        for (delegations, order) in cases {
            let (visits, code) = try Tree(delegations).visits("missing")
            #expect(visits == order)
            #expect(code == nil)
        }
    }

    @Test func theFirstRoleThatListsAFileWins() throws {
        let tree = try Tree(
            [("targets", "A", "*", false), ("targets", "BB", "*", false)], files: ["A": ["x"], "BB": ["x", "y"]])
        var device = TrustDevice(root: try tree.lab.root())
        let found = try device.update(tree.origin, find: ["x", "y", "z"])
        #expect(found.map { $0?.length } == [1, 2, nil])
    }

    @Test func aRoleVouchesOnlyForItsPaths() throws {
        let tree = try Tree([("targets", "A", "a/*", false)], files: ["A": ["models.json", "a/x"]])
        var device = TrustDevice(root: try tree.lab.root())
        let found = try device.update(tree.origin, find: ["models.json", "a/x"])
        #expect(found.map { $0?.length } == [nil, 1])
    }

    @Test func aRoleSignedByAnotherKeyEndsTheSearch() throws {
        let tree = try Tree([("targets", "A", "*", false), ("targets", "B", "*", false)], unsigned: ["A"])
        #expect(try tree.visits("x").1 == "too-few-signatures")
    }

    @Test func aRoleThatTheSnapshotDoesNotListIsNotRequested() throws {
        var tree = try Tree([("targets", "A", "*", false)])
        tree.lab.delegated = [:]
        for (name, data) in try tree.lab.published() { tree.origin[name] = data }
        let (visits, code) = try tree.visits("x")
        #expect(visits.isEmpty)
        #expect(code == "metadata-missing")
    }

    @Test func aSearchThroughTooManyRolesEnds() throws {
        let names = (0..<40).map { "r\($0)" }
        let tree = try Tree(zip(["targets"] + names, names).map { ($0, $1, "*", false) })
        let (visits, code) = try tree.visits("x")
        #expect(visits.count == TrustUpdate.visitLimit - 1)
        #expect(code == "too-many-delegations")
    }

    @Test func binsFollowTheDigestOfThePath() throws {
        let key = Ed25519Key()
        let bins: JSONMembers = ["bit_length": .integer(10), "name_prefix": .string("bin")]
        let entry = bins.after(TrustLab.entry(TrustLab.Role(keys: [key])))
        let value = JSONValue.object(["keys": TrustLab.keys([key]), "succinct_roles": .object(entry)])
        let delegations = try Delegations(MetadataReader(value, file: "targets.json"))
        // SHA-256 of "a" begins with ca97, so its first ten bits are 0x32a.
        #expect(delegations.roles(for: "a").map(\.role.name) == ["bin-32a"])
        #expect(delegations.roles(for: "a").first?.isTerminating == true)
    }

    @Test func digestPrefixesChooseRoles() throws {
        let role: JSONMembers = [
            "name": .string("A"), "keyids": .array([]), "threshold": .integer(1), "terminating": .boolean(false),
            "path_hash_prefixes": .array([.string("ca97")]),
        ]
        let value = JSONValue.object(["keys": .object([:]), "roles": .array([.object(role)])])
        let delegations = try Delegations(MetadataReader(value, file: "targets.json"))
        #expect(delegations.roles(for: "a").count == 1)
        #expect(delegations.roles(for: "b").isEmpty)
    }
}
