import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCommand

/// What `update` does with several models, from catalogs and files of this machine.
@Suite(.timeLimit(.minutes(10))) struct UpdateTests {
    private let folder: TemporaryFolder
    private let probe: CommandProbe

    init() throws {
        folder = try TemporaryFolder()
        probe = CommandProbe(
            home: folder.path("home"),
            environment: ["HEARTH_NETWORK": "offline", "HEARTH_ORIGIN": folder.path("models.json").string])
    }

    private static func bytes(_ family: String, _ version: String) -> Data { Data("\(family) \(version)".utf8) }

    /// Lists a version of three models.
    /// - Parameter memory: what they are said to need, in bytes.
    private func offer(_ version: String, at addresses: [String: String] = [:], memory: UInt64 = 1) throws {
        let entries = try ["one", "three", "two"].map { family in
            let data = Self.bytes(family, version)
            let name = "\(family)-v\(version)-q4_1.gguf"
            try folder.write(name, data)
            return #"""
                {"id": "\#(family)", "family": "\#(family)", "version": "\#(version)", "filename": "\#(name)",
                 "sizeBytes": \#(data.count), "sha256": "\#(SHA256Digest(hashing: data).hex)",
                 "requirements": {"memoryBytes": \#(memory)}, "minAppVersion": "0.0.0", "downloadUrl": "\#(addresses[family] ?? name)"}
                """#
        }
        try folder.write(
            "models.json", Data(#"{"schemaVersion": 1, "models": [\#(entries.joined(separator: ", "))]}"#.utf8))
    }

    private func installAll() async throws {
        try offer("1.0.0")
        for family in ["one", "two", "three"] { #expect(await probe.run("pull", family, "--no-probe") == 0) }
    }

    private func active() async throws -> [String] {
        let list = CommandProbe(home: folder.path("home"))
        #expect(await list.run("list", "--format", "json") == 0)
        let entries = try JSONSerialization.jsonObject(with: Data(list.output.contents.utf8)) as? [[String: Any]]
        return (entries ?? []).filter { $0["active"] as? Bool == true }.compactMap { entry in
            (entry["family"] as? String).flatMap { family in (entry["version"] as? String).map { "\(family)@\($0)" } }
        }
    }

    /// What needs more memory than any device has comes where the setting insists.
    @Test(arguments: [false, true]) func theSettingHoldsForUpdates(insists: Bool) async throws {
        try await installAll()
        try offer("1.1.0", memory: 1 << 50)
        if insists { #expect(await probe.run("config", "set", "ignoreMemory", "true") == 0) }
        #expect(await probe.run("update", "one", "--no-probe") == 0)
        #expect(try await active() == ["one@1.\(insists ? 1 : 0).0", "three@1.0.0", "two@1.0.0"])
    }

    /// The first in order cannot be had: on no network, or because its file is gone.
    @Test(arguments: [("https://models.invalid/one.gguf", Int32(75), "offline"), ("gone.gguf", 1, "missing-at-origin")])
    func oneThatFailsKeepsNoOtherBack(address: String, status: Int32, code: String) async throws {
        try await installAll()
        try offer("1.1.0", at: ["one": address])
        #expect(await probe.run("update", "--no-probe") == status)
        #expect(try await active() == ["one@1.0.0", "three@1.1.0", "two@1.1.0"])
        let said = probe.errors.contents
        #expect(said.contains("one@1.1.0:q4_1: ") && said.contains("[\(code)]"), "\(said)")
        #expect(said.hasSuffix("hearth: 1 of 3 updates could not be brought [updates-failed]\n"), "\(said)")
    }

    @Test func programsHearOfEachThatFailed() async throws {
        try await installAll()
        try offer("1.1.0", at: ["one": "gone.gguf", "two": "gone.gguf"])
        #expect(await probe.run("update", "--no-probe", "--format", "json") == 1)
        let events = try probe.output.contents.split(separator: "\n").map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
        let failed = events.filter { $0["event"] as? String == "failed" }
        #expect(failed.map { $0["model"] as? String } == ["one@1.1.0:q4_1", "two@1.1.0:q4_1"])
        #expect(failed.allSatisfy { $0["code"] as? String == "missing-at-origin" })
        #expect(events.last?["event"] as? String == "error" && events.last?["code"] as? String == "updates-failed")
    }

    /// Where there is one to be brought, its own failure is that of the command.
    @Test func theFailureOfTheOnlyOneIsTheCommands() async throws {
        try await installAll()
        try offer("1.1.0", at: ["one": "gone.gguf"])
        #expect(await probe.run("update", "one", "--no-probe") == 1)
        #expect(probe.errors.contents.contains("[missing-at-origin]"))
        #expect(!probe.errors.contents.contains("[updates-failed]"))
    }
}
