import Foundation
import HearthBase
import HearthCatalog
import Testing

@testable import HearthPublishing

@Suite(.timeLimit(.minutes(10))) struct TrustRepositoryTests {
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)
    private let keys: [MetadataRole: Ed25519Key] = Dictionary(
        uniqueKeysWithValues: MetadataRole.topLevel.map { ($0, Ed25519Key()) })

    private func repository() throws -> TrustRepository {
        try TrustRepository(
            roles: keys.mapValues { RoleDraft(keys: [$0]) }, signers: Array(keys.values), now: Self.now)
    }

    private func key(_ role: MetadataRole) throws -> Ed25519Key { try #require(keys[role]) }

    private static let file = TargetFile(
        path: "models.json", length: 2, digests: ListedDigests(of: Data("{}".utf8)))

    /// Brings a device up to date and returns what it then trusts.
    private func device(
        _ stored: inout [MetadataRole: Data], _ repository: TrustRepository, roots: [String: Data] = [:],
        now: Date = now
    ) throws -> TargetFile? {
        let origin = Dictionary(uniqueKeysWithValues: try repository.files.map { ($0.name, $0.data) })
            .merging(roots) { $1 }
        var update = try TrustUpdate(root: try #require(stored[.root]), now: now)
        var event = TrustUpdate.Event.start
        while true {
            for effect in try update.next(event) {
                switch effect {
                case .forget(let role): stored[role] = nil
                case .keep(let role, let data): stored[role] = data
                case .load(let role): event = .stored(stored[role])
                case .fetch(_, let name, _): event = origin[name].map { .received($0) } ?? .absent
                case .refreshed: event = .search("models.json")
                case .found(let file): return file
                }
            }
        }
    }

    @Test func aDeviceTrustsWhatWasPublished() throws {
        var repository = try repository()
        var stored = [MetadataRole.root: repository.root.data]
        #expect(try device(&stored, repository) == nil)
        try repository.list([Self.file], signers: Array(keys.values), now: Self.now)
        #expect(try device(&stored, repository) == Self.file)
        #expect(
            try repository.files.map(\.name) == [
                "1.root.json", "2.targets.json", "2.snapshot.json", "timestamp.json",
            ])
    }

    @Test func itsFilesAreReadBack() throws {
        var repository = try repository()
        try repository.list([Self.file], signers: Array(keys.values), now: Self.now)
        let read = try TrustRepository(
            root: repository.root.data, targets: repository.targets.data, snapshot: repository.snapshot.data,
            timestamp: repository.timestamp.data)
        #expect(read == repository)
        #expect(try read.listedFiles == ["models.json": Self.file])
        var other = repository.targets
        other.signatures = []
        #expect(throws: TrustError.self) {
            try TrustRepository(
                root: repository.root.data, targets: other.data, snapshot: repository.snapshot.data,
                timestamp: repository.timestamp.data)
        }
    }

    @Test func aTimestampIsRenewedWithItsKeyAlone() throws {
        var repository = try repository()
        let before = repository
        let later = Self.now.addingTimeInterval(31 * 86400)
        var stored = [MetadataRole.root: repository.root.data]
        let error = #expect(throws: TrustError.self) { try device(&stored, before, now: later) }
        #expect(error?.code.rawValue == "metadata-expired")
        try repository.renew(signers: [key(.timestamp)], now: later)
        #expect(repository.snapshot == before.snapshot)
        _ = try device(&stored, repository, now: later)
        #expect(throws: TrustError.self) { try repository.renew(signers: [key(.snapshot)], now: later) }
    }

    @Test(arguments: [MetadataRole.targets, .snapshot, .timestamp])
    func aListNeedsAllKeysBelowIt(_ missing: MetadataRole) throws {
        var repository = try repository()
        let before = repository
        let signers = keys.filter { $0.key != missing }.values
        let error = #expect(throws: TrustError.self) {
            try repository.list([Self.file], signers: Array(signers), now: Self.now)
        }
        #expect(error?.code.rawValue == "too-few-signatures")
        #expect(repository == before)
    }

    @Test(arguments: MetadataRole.topLevel) func everyKeyCanBeReplaced(_ role: MetadataRole) throws {
        var repository = try repository()
        var stored = [MetadataRole.root: repository.root.data]
        try repository.list([Self.file], signers: Array(keys.values), now: Self.now)
        #expect(try device(&stored, repository) == Self.file)
        let fresh = Ed25519Key()
        let signers = Array(keys.values) + [fresh]
        let next = try repository.successor([role: RoleDraft(keys: [fresh])], signers: signers, now: Self.now)
        try repository.take(root: next, signers: signers, now: Self.now)
        #expect(try device(&stored, repository) == Self.file)
        #expect(stored[.root] == next.data)
        // The withdrawn key is nowhere in the new root, and signs nothing any more.
        let former = try key(role)
        #expect(!String(decoding: next.data, as: UTF8.self).contains(former.publicBytes.hexadecimal))
        if role != .root {
            #expect(throws: TrustError.self) {
                try repository.list([], signers: Array(keys.values), now: Self.now)
            }
        }
        try repository.list([], signers: signers, now: Self.now)
        #expect(try device(&stored, repository) == nil)
    }

    @Test func aRootIsSignedOnSeveralMachines() throws {
        let owners = [Ed25519Key(), Ed25519Key(), Ed25519Key()]
        var roles = keys.mapValues { RoleDraft(keys: [$0]) }
        roles[.root] = RoleDraft(keys: owners, threshold: 2)
        var repository = try TrustRepository(
            roles: roles, signers: Array(keys.values) + owners.prefix(2), now: Self.now)
        let fresh = Ed25519Key()
        var draft = try repository.successor(
            [.timestamp: RoleDraft(keys: [fresh])], signers: [owners[0]], now: Self.now)
        let before = repository
        #expect(throws: TrustError.self) { try repository.take(root: draft, signers: [fresh], now: Self.now) }
        #expect(repository == before)
        // The draft travels as a file to the second owner and back.
        draft = try SignedMetadata(parsing: draft.data, .root)
        try draft.sign(with: owners[2])
        try repository.take(root: draft, signers: [fresh], now: Self.now)
        // The same draft is no successor of itself.
        let error = #expect(throws: TrustError.self) {
            try repository.take(root: draft, signers: [fresh], now: Self.now)
        }
        #expect(error?.code.rawValue == "metadata-mismatch")
    }

    @Test func rolesThatNobodyCanSatisfyAreRefused() throws {
        let key = Ed25519Key()
        let drafts = [
            RoleDraft(keys: [], threshold: 1), RoleDraft(keys: [key], threshold: 2),
            RoleDraft(keys: [key], threshold: 0),
            RoleDraft(keys: [key, key], threshold: 2),
        ]
        for draft in drafts {
            var roles = keys.mapValues { RoleDraft(keys: [$0]) }
            roles[.targets] = draft
            let error = #expect(throws: TrustError.self) {
                try TrustRepository(roles: roles, signers: Array(keys.values) + [key], now: Self.now)
            }
            #expect(error?.code.rawValue == "bad-key")
        }
        var few = keys.mapValues { RoleDraft(keys: [$0]) }
        few[.snapshot] = nil
        #expect(throws: TrustError.self) {
            try TrustRepository(roles: few, signers: Array(keys.values), now: Self.now)
        }
    }

    @Test func fieldsOfOtherToolsAreKept() throws {
        var repository = try repository()
        var targets = try #require(repository.targets.signed.members)
        targets["x-tool"] = .string("kept")
        targets["targets"] = .object([
            "models.json": .object([
                "length": .integer(1), "hashes": .object(["sha256": .string(String(repeating: "0", count: 64))]),
                "custom": .object(["note": .string("kept")]),
            ])
        ])
        var file = SignedMetadata(.targets, signed: .object(targets))
        try file.sign(with: key(.targets))
        repository = try TrustRepository(
            root: repository.root.data, targets: file.data, snapshot: repository.snapshot.data,
            timestamp: repository.timestamp.data)
        try repository.list([Self.file], signers: Array(keys.values), now: Self.now)
        let text = String(decoding: repository.targets.data, as: UTF8.self)
        #expect(text.contains("\"x-tool\": \"kept\""))
        #expect(text.contains("\"note\": \"kept\""))
        #expect(try repository.listedFiles == ["models.json": Self.file])
    }
}
