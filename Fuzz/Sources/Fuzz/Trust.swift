import Foundation

@testable import HearthBase
@testable import HearthCatalog
@testable import HearthPublishing

/// The key of all roles in these targets; any 32 bytes are one.
private let signer = Ed25519Key(seed: [UInt8](repeating: 7, count: 32)) ?? Ed25519Key()

/// A root that gives all roles that key.
private let trustedRoot: Data = {
    let role = JSONValue.object([
        "keyids": .array([.string(MetadataKeys.id(of: signer))]), "threshold": .integer(1),
    ])
    let names = MetadataRole.topLevel.map { ($0.name, role) }
    var file = SignedMetadata(
        .root,
        signed: .object([
            "_type": .string("root"), "spec_version": .string("1.0.31"), "version": .integer(1),
            "expires": .string("2099-01-01T00:00:00Z"), "consistent_snapshot": .boolean(true),
            "keys": .object([MetadataKeys.id(of: signer): MetadataKeys.entry(signer.publicBytes)]),
            "roles": .object(JSONMembers(names)),
        ]))
    _ = typed { try file.sign(with: signer) }
    return file.data
}()

/// Reads a metadata file of the role that the first byte chooses. An accepted file is the same when it is written and
/// read, and its fields are in their ranges.
func fuzzTrustMetadata(_ data: Data) {
    let roles = MetadataRole.topLevel + [MetadataRole(delegated: "someone") ?? .targets]
    let role = roles[Int(data.first ?? 0) % roles.count]
    guard let file = typed({ try SignedMetadata(parsing: Data(data.dropFirst()), role) }) else { return }
    precondition(file.signatures.count <= SignedMetadata.signatureLimit, "too many signatures came through")
    precondition(typed { try SignedMetadata(parsing: file.data, role) } == file, "a file changed when it was written")
    _ = typed { try file.message() }
    switch role {
    case .root:
        guard let root = typed({ try RootMetadata(file) }) else { return }
        requireRange(root.fields)
        for role in MetadataRole.topLevel {
            let keys = root.keys(role)
            precondition(keys.threshold >= 1, "a role needs no signature")
            precondition(Set(keys.keys.keys).isSubset(of: keys.ids), "a key of another role came through")
            if let count = typed({ try file.signatureCount(by: keys) }) { precondition(count <= keys.threshold) }
        }
    case .timestamp: if let timestamp = typed({ try TimestampMetadata(file) }) { requireRange(timestamp.fields) }
    case .snapshot: if let snapshot = typed({ try SnapshotMetadata(file) }) { requireRange(snapshot.fields) }
    default:
        guard let targets = typed({ try TargetsMetadata(file) }) else { return }
        requireRange(targets.fields)
        for (path, target) in targets.files {
            // A path without a name has no address; every other address stays below its folder.
            guard !path.isEmpty, let name = target.addressName(isConsistent: true) else { continue }
            precondition(!name.contains("\\") && !name.contains("?") && !name.contains("#"), "\(name) leads elsewhere")
            for delegated in targets.delegations?.roles(for: path) ?? [] {
                precondition(!MetadataRole.topLevel.contains(delegated.role), "a role of the root was delegated to")
                let file = delegated.role.fileName
                precondition(!file.contains("/") && file.utf8.count <= 255, "\(file) leaves its folder")
            }
        }
    }
}

/// Signs the parts of an input, which NUL separates, and offers them in order as a device requests files. What is kept is
/// what was offered; the same device, asked again, is refused nothing that it had.
func fuzzTrustUpdate(_ data: Data) {
    let offered = data.split(separator: 0, maxSplits: 8, omittingEmptySubsequences: false).compactMap { part -> Data? in
        // A part that is no JSON is a file that the server does not have.
        guard let signed = try? JSONValue(parsing: Data(part)) else { return nil }
        var file = SignedMetadata(.targets, signed: signed)
        guard typed({ try file.sign(with: signer) }) != nil else { return nil }
        return file.data
    }
    guard var update = typed({ try TrustUpdate(root: trustedRoot, now: Date(timeIntervalSince1970: 1_800_000_000)) })
    else { return }
    var rest = offered[...]
    var stored: [MetadataRole: Data] = [:]
    var event = TrustUpdate.Event.start
    for _ in 0..<1000 {
        guard let effects = typed({ try update.next(event) }) else { return }
        for effect in effects {
            switch effect {
            case .forget(let role): stored[role] = nil
            case .keep(let role, let data):
                precondition(offered.contains(data), "bytes that no server sent were kept")
                stored[role] = data
            case .load(let role): event = .stored(stored[role])
            case .fetch(let role, let name, let limit):
                precondition(limit <= role.sizeLimit && !name.contains("/"), "\(name) is not bounded")
                event = role == .root ? .absent : rest.popFirst().map { .received($0) } ?? .absent
            case .refreshed: event = .search("models.json")
            case .found: return
            }
        }
    }
    preconditionFailure("an update does not end")
}

/// Reads a publisher's key in all forms. An accepted one is the same when it is written and read.
func fuzzTrustKey(_ data: Data) {
    if let key = typed({ try PublicKeyFile.read(data, file: "a.pub") }) {
        precondition(MetadataKey(key.verifying.scheme, text: key.text) == key, "a key changed when it was written")
    }
    guard let file = typed({ try TrustKeyFile(parsing: data, file: "a.key") }) else { return }
    precondition(typed { try TrustKeyFile(parsing: file.data, file: "a.key") } == file, "a file changed")
}

private func requireRange(_ fields: SignedFields) {
    precondition(SignedFields.versions.contains(fields.version), "the version \(fields.version) came through")
}

extension MetadataKeys {
    /// A key as metadata lists it.
    fileprivate static func entry(_ publicBytes: [UInt8]) -> JSONValue {
        .object([
            "keytype": .string("ed25519"), "scheme": .string(SignatureScheme.ed25519.rawValue),
            "keyval": .object(["public": .string(publicBytes.hexadecimal)]),
        ])
    }

    /// The name of a key.
    fileprivate static func id(of key: Ed25519Key) -> String { id(entry(key.publicBytes)) }
}
