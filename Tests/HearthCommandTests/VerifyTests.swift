import Foundation
import Hearth
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthHTTP
import HearthStore
import HearthTestSupport
import HearthTransfer
import Testing

@testable import HearthCommand

/// What `verify` shows and repairs, with catalogs and files of this machine.
@Suite(.timeLimit(.minutes(10))) struct VerifyTests {
    private let folder: TemporaryFolder
    private let home: Path

    init() throws {
        folder = try TemporaryFolder()
        home = folder.path("home")
    }

    /// Installs models as their origin has them.
    private func install(_ families: String...) async throws {
        let entries = try families.map { family in
            let data = Data("weights of \(family)".utf8)
            try folder.write("\(family).gguf", data)
            return #"""
                {"id": "\#(family)", "family": "\#(family)", "version": "1.0.0", "filename": "\#(family).gguf",
                 "sizeBytes": \#(data.count), "sha256": "\#(SHA256Digest(hashing: data).hex)", "minAppVersion": "0.0.0",
                 "downloadUrl": "\#(family).gguf"}
                """#
        }
        try folder.write(
            "models.json", Data(#"{"schemaVersion": 1, "models": [\#(entries.joined(separator: ", "))]}"#.utf8))
        for family in families { #expect(await hearth("pull", family, "--no-probe").status == 0) }
    }

    private func hearth(_ words: String...) async -> (status: Int32, output: String, said: String) {
        let probe = CommandProbe(
            home: home, environment: ["HEARTH_ORIGIN": folder.path("models.json").string, "HEARTH_NETWORK": "offline"])
        let status = await probe.run(words)
        return (status, probe.output.contents, probe.errors.contents)
    }

    private func events(_ text: String) throws -> [[String: Any]] {
        try text.split(separator: "\n").map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
    }

    private func release(_ family: String) async throws -> InstalledRelease {
        let family = try #require(Family(family))
        return try #require(try await ModelStore(home: home).active(family))
    }

    private func damage(_ path: Path) throws {
        let file = try FileHandle(forWritingTo: path.url)
        try file.write(contentsOf: Data("X".utf8))
        try file.close()
    }

    // MARK: - Several

    /// The first in order cannot be repaired: its file is gone from its origin.
    @Test func repairsTheOthersIfOneCannotBeRepaired() async throws {
        try await install("one", "three", "two")
        for family in ["one", "two"] { try damage(try #require(try await release(family).weights)) }
        try LocalFileSystem().removeFile(folder.path("one.gguf"))
        let repaired = await hearth("verify", "--repair")
        #expect(repaired.status == 1)
        #expect(repaired.output == "three@1.0.0: intact\ntwo@1.0.0: intact\n")
        #expect(
            repaired.said.contains("one@1.0.0: ") && repaired.said.contains("[missing-at-origin]"), "\(repaired.said)")
        #expect(repaired.said.contains("two@1.0.0: repaired two.gguf with "))
        #expect(
            repaired.said.hasSuffix("hearth: 1 of 3 releases could not be repaired [verification-failed]\n"),
            "\(repaired.said)")
        let failed = try events(await hearth("verify", "--repair", "--format", "json").output)
        #expect(failed.filter { $0["event"] as? String == "failed" }.map { $0["model"] as? String } == ["one@1.0.0"])
        #expect(failed.last?["code"] as? String == "verification-failed")
        // Where there is one, its failure is that of the command.
        #expect(await hearth("verify", "one", "--repair").said.contains("hearth: ") == true)
        #expect(await !hearth("verify", "one", "--repair").said.contains("[verification-failed]"))
        #expect(await hearth("verify").said.hasSuffix("Repair it with 'hearth verify one@1.0.0 --repair'.\n"))
    }

    /// What only waits for a network is told as such.
    @Test func whatMayWorkLaterSaysSo() async throws {
        try await install("one", "two")
        let manifest = try String(contentsOf: folder.path("models.json").url, encoding: .utf8)
        try folder.write(
            "models.json",
            Data(
                manifest.replacingOccurrences(
                    of: #""downloadUrl": ""#, with: #""downloadUrl": "https://models.invalid/"#
                )
                .utf8))
        try damage(try #require(try await release("one").weights))
        let repaired = await hearth("verify", "--repair")
        #expect(repaired.status == 75 && repaired.output == "two@1.0.0: intact\n", "\(repaired.said)")
        #expect(repaired.said.contains("[offline]"), "\(repaired.said)")
    }

    // MARK: - What was made for this device

    private func prepare(_ family: String) async throws -> Path {
        try await ModelManager(
            home: home, origins: [], network: UnmonitoredNetwork(), deviceMemory: 1 << 40,
            preparer: FixedPreparer(name: "made.bin", contents: Data("made of it".utf8))
        ).weightsToOpen(of: try await release(family))
    }

    @Test func whatWasMadeForThisDeviceIsReadToo() async throws {
        try await install("one")
        let made = try await prepare("one")
        let whole = await hearth("verify", "--format", "json")
        #expect(whole.status == 0)
        let first = try #require(try events(whole.output).first { $0["event"] as? String == "release" })
        #expect(first["intact"] as? Bool == true)
        #expect((first["prepared"] as? [[String: String]]) == [["path": made.string, "outcome": "intact"]])

        try damage(made)
        let told = await hearth("verify")
        #expect(told.status == 1 && told.output == "one@1.0.0: damaged\n")
        #expect(
            told.said.contains("one@1.0.0: made.bin, made from it for this device, has the SHA-256 "), "\(told.said)")
        #expect(told.said.contains("[release-damaged]") && told.said.contains("hearth verify one@1.0.0 --repair"))
        let damaged = try #require(
            try events(await hearth("verify", "--format", "json").output).first { $0["event"] as? String == "release" })
        #expect(damaged["intact"] as? Bool == false)
        #expect((damaged["prepared"] as? [[String: String]])?.map { $0["outcome"] } == ["changed"])

        // No preparer makes it again here: the release is used as published.
        let repaired = await hearth("verify", "--repair")
        #expect(repaired.status == 0 && repaired.output == "one@1.0.0: intact\n")
        #expect(repaired.said.contains("one@1.0.0: made.bin was damaged and is removed\n"), "\(repaired.said)")
        #expect(await hearth("verify").status == 0)
    }

    @Test func programsHearWhatIsGone() async throws {
        try await install("one")
        let made = try await prepare("one")
        try damage(made)
        let repaired = await hearth("verify", "--repair", "--format", "json")
        #expect(repaired.status == 0)
        let event = try #require(try events(repaired.output).first { $0["event"] as? String == "repaired" })
        #expect(event["dropped"] as? [String] == [made.string] && event["remade"] == nil)
        #expect((event["files"] as? [String])?.isEmpty == true && event["fetchedBytes"] as? Int == 0)
    }
}
