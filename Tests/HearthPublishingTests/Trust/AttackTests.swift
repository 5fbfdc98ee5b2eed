import Foundation
import HearthBase
import HearthCatalog
import HearthPublishing
import HearthTestSupport
import Testing

/// The attacks that The Update Framework names, on a device that reads a published origin, with the sentence that a person
/// reads. In each the device goes on to see what it saw before.
@Suite(.timeLimit(.minutes(10))) struct AttackTests {
    private let lab: SignedOriginLab
    private let device: OriginSource

    init() async throws {
        lab = try SignedOriginLab()
        let first = try await lab.begin()
        try await lab.publish("m-v1.0.0-q4.gguf")
        device = try lab.device(root: first.root.data)
        #expect(try await lab.seen(device) == ["1.0.0"])
    }

    /// The present state of the origin, file by file.
    private func state() throws -> [String: Data] {
        var files: [String: Data] = [:]
        for folder in ["metadata", "targets"] {
            for name in try lab.names(folder) where name.hasSuffix(".json") {
                files["\(folder)/\(name)"] = try lab.contents("\(folder)/\(name)")
            }
        }
        return files
    }

    private func attack(_ changes: [String: TamperedNetwork.Answer], code: String, sentence: String) async throws {
        for (name, answer) in changes { lab.network.tamper(name, answer) }
        let refusal = await lab.refusal(device)
        #expect(refusal?.code == code)
        #expect(refusal?.sentence == sentence)
        for name in changes.keys { lab.network.tamper(name, nil) }
        #expect(try await lab.seen(device).contains("1.0.0"))
    }

    @Test func arbitrarySoftware() async throws {
        // A list of the attacker's, named by metadata that the attacker's own keys signed.
        let strangers = try SignedOriginLab()
        try await strangers.begin()
        try await strangers.publish("evil-v9.9.9-q4.gguf")
        var changes: [String: TamperedNetwork.Answer] = [:]
        for folder in ["metadata", "targets"] {
            for name in try strangers.names(folder) where name.hasSuffix(".json") && !name.hasSuffix("root.json") {
                changes["\(folder)/\(name)"] = .bytes(try strangers.contents("\(folder)/\(name)"))
            }
        }
        try await attack(
            changes, code: "too-few-signatures", sentence: "timestamp.json is signed by 0 of 1 trusted keys")
    }

    @Test func wrongSoftware() async throws {
        // The signed list is exchanged for another one of the same length.
        let name = try #require(try lab.names("targets").first { $0.hasSuffix("models.json") })
        let changed = Data(
            String(decoding: try lab.contents("targets/\(name)"), as: UTF8.self)
                .replacing("\"1.0.0\"", with: "\"6.6.6\"").utf8)
        // A device that has the list does not ask for it again, so a new one reads it.
        lab.network.tamper("targets/\(name)", .bytes(changed))
        let another = try lab.device(root: lab.contents("metadata/1.root.json"), name: "another")
        let refusal = await lab.refusal(another)
        #expect(refusal?.code == "target-mismatch")
        #expect(refusal?.sentence == "\"models.json\" is not the file that its publisher signed")
    }

    @Test func endlessData() async throws {
        try await attack(
            ["metadata/timestamp.json": .endless], code: "metadata-too-large",
            sentence: "timestamp.json is larger than it may be")
        try await attack(
            ["metadata/2.root.json": .endless], code: "metadata-too-large",
            sentence: "2.root.json is larger than it may be")
    }

    @Test func extraneousDependencies() async throws {
        // A file beside the model, which its publisher did not list, makes the list another one.
        let name = try #require(try lab.names("targets").first { $0.hasSuffix("models.json") })
        var list = try #require(try JSONValue(parsing: lab.contents("targets/\(name)")).members)
        guard case .array(var models)? = list["models"], var entry = models.first?.members else {
            Issue.record("the list has no model")
            return
        }
        entry["files"] = .array([
            .object([
                "path": .string("more.bin"), "role": .string("other"), "sizeBytes": .integer(1),
                "sha256": .string(String(repeating: "0", count: 64)), "url": .string("models/more.bin"),
            ])
        ])
        models[0] = .object(entry)
        list["models"] = .array(models)
        let changed = JSONValue.object(list).data
        lab.network.tamper("targets/\(name)", .bytes(changed))
        let another = try lab.device(root: lab.contents("metadata/1.root.json"), name: "another")
        #expect(await lab.refusal(another)?.code == "metadata-too-large")
        lab.network.tamper("targets/\(name)", .bytes(changed.prefix(try lab.contents("targets/\(name)").count)))
        #expect(await lab.refusal(another)?.sentence == "\"models.json\" is not the file that its publisher signed")
    }

    @Test func fastForward() async throws {
        // With the stolen key of the timestamp an attacker raises its version; the publisher takes the key away.
        let stolen = try lab.key(.timestamp)
        var repository = try #require(try await lab.folder.repository())
        for _ in 0..<20 { try repository.renew(signers: [stolen], now: lab.now) }
        lab.network.tamper("metadata/timestamp.json", .bytes(repository.timestamp.data))
        #expect(try await lab.seen(device) == ["1.0.0"])
        lab.network.tamper("metadata/timestamp.json", nil)
        let refusal = await lab.refusal(device)
        #expect(refusal?.code == "metadata-rollback")
        #expect(refusal?.sentence == "the origin offers an older timestamp.json than this device has seen from it")
        let fresh = Ed25519Key()
        var own = try #require(try await lab.folder.repository())
        let signers: [any MetadataSigner] = lab.signers + [fresh]
        let next = try own.successor([.timestamp: RoleDraft(keys: [fresh])], signers: signers, now: lab.now)
        try own.take(root: next, signers: signers, now: lab.now)
        try await lab.folder.write(own)
        #expect(try await lab.seen(device) == ["1.0.0"])
    }

    @Test func indefiniteFreeze() async throws {
        let expires = lab.now.addingTimeInterval(30 * 86400).timestamp
        lab.origin.clock.advance(by: .seconds(31 * 86400))
        let refusal = await lab.refusal(device)
        #expect(refusal?.code == "metadata-expired")
        #expect(refusal?.sentence == "timestamp.json expired on \(expires)")
        var repository = try #require(try await lab.folder.repository())
        try repository.renew(signers: [lab.key(.timestamp)], now: lab.now)
        try await lab.folder.write(repository)
        #expect(try await lab.seen(device) == ["1.0.0"])
    }

    @Test func maliciousMirrors() async throws {
        // The server withholds what is new: an old state is refused, a part of a new one too.
        let old = try state()
        try await lab.publish("m-v1.1.0-q4.gguf", [4])
        #expect(try await lab.seen(device).contains("1.1.0"))
        let timestamp = try #require(old["metadata/timestamp.json"])
        try await attack(
            ["metadata/timestamp.json": .bytes(timestamp)], code: "metadata-rollback",
            sentence: "the origin offers an older timestamp.json than this device has seen from it")
        try await lab.publish("m-v1.2.0-q4.gguf", [5])
        try await attack(
            ["metadata/4.snapshot.json": .missing], code: "metadata-missing",
            sentence: "the origin has no snapshot.json")
    }

    @Test func mixAndMatch() async throws {
        let old = try state()
        try await lab.publish("m-v1.1.0-q4.gguf", [4])
        // The old list of files under the name of the new one.
        let targets = try #require(old["metadata/2.targets.json"])
        try await attack(
            ["metadata/3.targets.json": .bytes(targets)], code: "metadata-mismatch",
            sentence: "targets.json has another digest than the origin's signed list says")
    }

    @Test func rollback() async throws {
        let old = try state()
        try await lab.publish("m-v1.1.0-q4.gguf", [4])
        #expect(try await lab.seen(device).contains("1.1.0"))
        var changes: [String: TamperedNetwork.Answer] = [:]
        for (name, data) in old { changes[name] = .bytes(data) }
        try await attack(
            changes, code: "metadata-rollback",
            sentence: "the origin offers an older timestamp.json than this device has seen from it")
    }

    @Test func slowRetrieval() async throws {
        // A silent origin leaves the last signed list, and the listing says so.
        lab.network.tamper("metadata/timestamp.json", .slow)
        let listing = try await device.listing(.now)
        guard case .cached(_, let reason) = listing.freshness else {
            Issue.record("not cached: \(listing.freshness)")
            return
        }
        #expect(
            reason
                == "https://models.example/o/metadata/timestamp.json cannot be reached: it did not answer within 60 s")
        // A device without a list is told to try again later.
        let another = try lab.device(root: lab.contents("metadata/1.root.json"), name: "another")
        #expect(await lab.refusal(another)?.code == "origin-unreachable")
    }

    @Test func vulnerabilityToKeyCompromise() async throws {
        // The key of the timestamp alone adds no model: the attacker's snapshot is not signed.
        let stolen = try lab.key(.timestamp)
        var attacker = try #require(try await lab.folder.repository())
        let entry = TargetFile(path: "models.json", length: 2, digests: ListedDigests(of: Data("{}".utf8)))
        for role in [MetadataRole.timestamp, .snapshot] {
            #expect(throws: TrustError.self) {
                try attacker.list([entry], signers: [stolen, lab.key(role)], now: lab.now)
            }
        }
        // The key of the root that was taken away signs no further root.
        let fresh = Ed25519Key()
        var own = try #require(try await lab.folder.repository())
        let signers: [any MetadataSigner] = lab.signers + [fresh]
        let next = try own.successor([.root: RoleDraft(keys: [fresh])], signers: signers, now: lab.now)
        try own.take(root: next, signers: signers, now: lab.now)
        try await lab.folder.write(own)
        #expect(try await lab.seen(device) == ["1.0.0"])
        let forged = try own.successor([.root: RoleDraft(keys: [Ed25519Key()])], signers: [], now: lab.now)
        var signed = forged
        try signed.sign(with: lab.key(.root))
        try await attack(
            ["metadata/3.root.json": .bytes(signed.data)], code: "too-few-signatures",
            sentence: "root.json is signed by 0 of 1 trusted keys")
    }
}
