import Foundation
import HearthBase
import HearthCatalog
import HearthPublishing
import HearthTestSupport
import Testing

/// Examinations of signed origins: the signatures count as a device counts them.
@Suite(.timeLimit(.minutes(5))) struct OriginSignatureTests {
    private let lab: SignedOriginLab

    init() async throws {
        lab = try SignedOriginLab()
        try await lab.begin()
        try await lab.publish("m-v1.0.0-q4.gguf")
    }

    private func examine(isComplete: Bool = false) async throws -> OriginReport {
        let url = try #require(URL(string: "https://models.example/o/models.json"))
        return try await OriginCheck(client: lab.network, time: lab.origin.clock.time, isComplete: isComplete).run(url)
    }

    @Test(arguments: [false, true]) func aSignedOriginHasNoFault(_ isComplete: Bool) async throws {
        let report = try await examine(isComplete: isComplete)
        #expect(report.isSigned)
        #expect(report.faults == [])
        #expect(!report.findings.contains { $0.problem.contains("signed") })
        let asked = lab.network.requests.withLock { $0 }
        #expect(asked.contains("metadata/2.targets.json"))
        #expect(asked.contains { $0.hasPrefix("targets/models/") })
    }

    @Test(arguments: [
        ("metadata/timestamp.json", "timestamp.json is signed by 0 of 1 trusted keys"),
        ("metadata/2.snapshot.json", "snapshot.json has another digest than the origin's signed list says"),
        ("metadata/2.targets.json", "targets.json has another digest than the origin's signed list says"),
        ("metadata/1.root.json", "root.json is signed by 0 of 1 trusted keys"),
    ])
    func changedMetadataIsAFault(_ name: String, _ sentence: String) async throws {
        let text = String(decoding: try lab.contents(name), as: UTF8.self)
        // Another date is well formed, and signed by nobody.
        lab.network.tamper(name, .bytes(Data(text.replacing(/"20[0-9][0-9]-/, with: "\"2077-").utf8)))
        let report = try await examine()
        #expect(report.faults.map(\.address) == ["https://models.example/o/metadata/"])
        #expect(report.faults.first?.problem == "is refused by devices that trust the origin: " + sentence)
    }

    @Test(arguments: ["metadata/1.root.json", "metadata/2.snapshot.json", "metadata/2.targets.json"])
    func missingMetadataIsAFault(_ name: String) async throws {
        lab.network.tamper(name, .missing)
        #expect(try await examine().faults.map(\.problem).contains { $0.contains("the origin has no ") })
    }

    @Test func anEndIsAFault() async throws {
        lab.origin.clock.advance(by: .seconds(31 * 86400))
        let faults = try await examine().faults
        #expect(faults.count == 1 && faults.first?.problem.contains("timestamp.json expired on ") == true)
    }

    @Test(arguments: [".models.json", ".m-v1.0.0-q4.index"])
    func changedSignedFilesAreFaults(_ ending: String) async throws {
        let folder = ending.hasSuffix("index") ? "targets/models" : "targets"
        let path = folder + "/" + (try #require(try lab.names(folder).first { $0.hasSuffix(ending) }))
        var data = try lab.contents(path)
        data[data.startIndex + 5] ^= 1
        lab.network.tamper(path, .bytes(data))
        let changed = try await examine().faults.map(\.problem)
        #expect(changed.count == 1 && changed[0].contains("is not the file that its publisher signed"))
        lab.network.tamper(path, .missing)
        #expect(try await examine().faults.map(\.address) == ["https://models.example/o/targets/"])
    }

    @Test func aListThatWasNotSignedIsAdvice() async throws {
        try await lab.origin.publish(lab.origin.source("m-v1.1.0-q4.gguf", [9]))
        let report = try await examine()
        #expect(report.faults == [])
        #expect(report.findings.contains { $0.problem.contains("is not the list that was signed last") })
    }

    @Test func laterRootsAreFollowed() async throws {
        let next = Ed25519Key()
        var repository = try #require(try await lab.folder.repository())
        let root = try repository.successor(
            [.root: RoleDraft(keys: [next])], signers: lab.signers + [next], now: lab.now)
        try repository.take(root: root, signers: lab.signers + [next], now: lab.now)
        try await lab.folder.write(repository)
        #expect(try await examine().faults == [])
        // A root that the first one's keys did not sign ends the chain for every device.
        let stranger = Ed25519Key()
        var other = SignedMetadata(.root, signed: root.signed)
        try other.sign(with: stranger)
        lab.network.tamper("metadata/2.root.json", .bytes(other.data))
        #expect(try await examine().faults.first?.problem.contains("root.json is signed by 0 of 1") == true)
    }
}
