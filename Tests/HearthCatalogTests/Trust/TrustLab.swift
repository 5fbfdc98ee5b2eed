import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport

@testable import HearthCatalog

/// A publisher that signs anything, also what no honest one would.
struct TrustLab {
    /// One role of the origin: its keys and how many must sign.
    struct Role {
        var keys = [Ed25519Key()]
        var threshold = 1
    }

    /// The time of all tests.
    static let now = Date(timeIntervalSince1970: 1_800_000_000)
    static let later = now.addingTimeInterval(30 * 86400)

    var roles: [MetadataRole: Role] = [
        .root: Role(), .timestamp: Role(), .snapshot: Role(), .targets: Role(),
    ]
    var versions: [MetadataRole: UInt64] = [.root: 1, .timestamp: 1, .snapshot: 1, .targets: 1]
    var expiries: [MetadataRole: Date] = [:]
    var files: [String: Data] = [:]
    var delegations: JSONValue?
    /// Versions of delegated roles in the snapshot.
    var delegated: [String: UInt64] = [:]
    var isConsistent = true
    var listsDigests = true

    /// Changes the signed part of a role before it is signed.
    var edit: (MetadataRole, inout JSONMembers) -> Void = { _, _ in }
    /// Changes who signs a role.
    var signers: (MetadataRole, [Ed25519Key]) -> [Ed25519Key] = { $1 }

    static func entry(_ role: Role) -> JSONMembers {
        [
            "keyids": .array(role.keys.map { .string(MetadataKeys.id(of: $0)) }),
            "threshold": .integer(role.threshold),
        ]
    }

    static func keys(_ keys: [Ed25519Key]) -> JSONValue {
        .object(JSONMembers(keys.map { (MetadataKeys.id(of: $0), MetadataKeys.entry($0.publicBytes)) }))
    }

    static func listed(_ version: UInt64, _ data: Data?) -> JSONValue {
        var members: JSONMembers = ["version": .integer(version)]
        if let data {
            members["length"] = .integer(data.count)
            members["hashes"] = .object(["sha256": .string(SHA256Digest(hashing: data).hex)])
        }
        return .object(members)
    }

    func sign(_ role: MetadataRole, _ fields: JSONMembers, by keys: [Ed25519Key]) throws -> Data {
        var members = fields
        members["_type"] = members["_type"] ?? .string(MetadataRole.topLevel.contains(role) ? role.name : "targets")
        members["spec_version"] = .string("1.0.31")
        members["version"] = .integer(versions[role] ?? 1)
        members["expires"] = .string((expiries[role] ?? Self.later).timestamp)
        edit(role, &members)
        var file = SignedMetadata(role, signed: .object(members))
        for key in signers(role, keys) { try file.sign(with: key) }
        return file.data
    }

    /// The root; `former` keys sign it too.
    func root(former: [Ed25519Key] = []) throws -> Data {
        let listed = Self.keys(roles.values.flatMap(\.keys))
        let entries = JSONMembers(roles.map { ($0.key.name, JSONValue.object(Self.entry($0.value))) })
        return try sign(
            .root, ["consistent_snapshot": .boolean(isConsistent), "keys": listed, "roles": .object(entries)],
            by: keys(.root) + former)
    }

    func keys(_ role: MetadataRole) -> [Ed25519Key] { roles[role]?.keys ?? [] }

    func targets() throws -> Data {
        let listed = files.mapValues { data -> JSONValue in
            let hashes: JSONValue = .object(["sha256": .string(SHA256Digest(hashing: data).hex)])
            return .object(["length": .integer(data.count), "hashes": hashes])
        }
        var members: JSONMembers = ["targets": .object(JSONMembers(listed))]
        members["delegations"] = delegations
        return try sign(.targets, members, by: keys(.targets))
    }

    func snapshot() throws -> Data {
        var meta = delegated.mapValues { Self.listed($0, nil) }
        meta["targets.json"] = Self.listed(versions[.targets] ?? 1, listsDigests ? try targets() : nil)
        return try sign(.snapshot, ["meta": .object(JSONMembers(meta))], by: keys(.snapshot))
    }

    func timestamp() throws -> Data {
        let listed = Self.listed(versions[.snapshot] ?? 1, listsDigests ? try snapshot() : nil)
        return try sign(.timestamp, ["meta": .object(["snapshot.json": listed])], by: keys(.timestamp))
    }

    /// All files of the origin by the names that a device requests.
    func published() throws -> [String: Data] {
        func name(_ role: MetadataRole) -> String {
            role.addressName(version: isConsistent || role == .root ? versions[role] : nil)
        }
        return [
            name(.root): try root(), "timestamp.json": try timestamp(), name(.snapshot): try snapshot(),
            name(.targets): try targets(),
        ]
    }

    mutating func bump(_ changed: MetadataRole...) {
        for role in changed { versions[role, default: 1] += 1 }
    }
}

/// Runs an update against an origin in memory, as a device does.
struct TrustDevice {
    var stored: [MetadataRole: Data]
    /// The names of the requested files, in order.
    var requests: [String] = []

    init(root: Data) { stored = [.root: root] }

    /// Runs a refresh and a search of each path.
    /// - Returns: the files found.
    @discardableResult
    mutating func update(
        _ origin: [String: Data], find paths: [String] = [], now: Date = TrustLab.now
    ) throws -> [TargetFile?] {
        var update = try TrustUpdate(root: stored[.root] ?? Data(), now: now)
        _ = try run(&update, .start, origin)
        return try paths.map { try run(&update, .search($0), origin) }
    }

    private mutating func run(
        _ update: inout TrustUpdate, _ first: TrustUpdate.Event, _ origin: [String: Data]
    ) throws -> TargetFile? {
        var event = first
        for _ in 0..<2000 {
            for effect in try update.next(event) {
                switch effect {
                case .forget(let role): stored[role] = nil
                case .keep(let role, let data): stored[role] = data
                case .load(let role): event = .stored(stored[role])
                case .fetch(_, let name, let limit):
                    requests.append(name)
                    event = origin[name].map { .received($0.prefix(limit + 1)) } ?? .absent
                case .refreshed: return nil
                case .found(let file): return file
                }
            }
        }
        throw TrustError(.metadataInvalid, "the update does not end")
    }

    /// The code with which an update is refused, `nil` if it is accepted.
    mutating func refusal(
        _ origin: [String: Data], find paths: [String] = [], now: Date = TrustLab.now
    ) -> String? {
        do {
            try update(origin, find: paths, now: now)
            return nil
        } catch let error as TrustError {
            return error.code.rawValue
        } catch {
            return "\(error)"
        }
    }
}
