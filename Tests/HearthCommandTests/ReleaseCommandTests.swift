import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCommand

/// What is said of releases, of those that may go, and of the way back: with catalogs and files of this machine.
@Suite(.timeLimit(.minutes(10))) struct ReleaseCommandTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// One entry of the catalog.
    private struct Offer {
        var version: String
        var family = "toy"
        var format = "gguf"
        var extra = ""
        /// Tells its bytes from others of the version.
        var text = ""
        /// The length of its weights in bytes.
        var size: Int { 1000 }

        var name: String { "\(family)-v\(version)-q4_1.\(format)" }
    }

    private func offer(_ offers: Offer...) throws {
        let entries = try offers.map { offer in
            let data =
                Data("\(offer.family) \(offer.version)\(offer.text)".utf8.prefix(offer.size)) + Data(count: offer.size)
            let weights = data.prefix(offer.size)
            try folder.write(offer.name, weights)
            return #"""
                {"id": "\#(offer.name)", "version": "\#(offer.version)", "filename": "\#(offer.name)", \#(offer.extra)
                 "format": "\#(offer.format)", "minAppVersion": "0.0.0", "sizeBytes": \#(offer.size),
                 "sha256": "\#(SHA256Digest(hashing: weights).hex)", "downloadUrl": "\#(offer.name)"}
                """#
        }
        try folder.write(
            "models.json", Data(#"{"schemaVersion": 1, "models": [\#(entries.joined(separator: ", "))]}"#.utf8))
    }

    /// Runs a command that ends with `status`; what it printed and what it said.
    @discardableResult
    private func hearth(_ words: String..., status: Int32 = 0) async -> (output: String, said: String) {
        let probe = CommandProbe(
            home: folder.path("home"), environment: ["HEARTH_ORIGIN": folder.path("models.json").string])
        let ended = await probe.run(words)
        #expect(ended == status, "\(words): \(probe.errors.contents)")
        return (probe.output.contents, probe.errors.contents)
    }

    private func json(_ words: String..., status: Int32 = 0) async throws -> Any {
        let probe = CommandProbe(
            home: folder.path("home"), environment: ["HEARTH_ORIGIN": folder.path("models.json").string])
        let ended = await probe.run(words + ["--format", "json"])
        #expect(ended == status, "\(words): \(probe.errors.contents)")
        return try JSONSerialization.jsonObject(with: Data(probe.output.contents.utf8))
    }

    /// The lines of a table as words, without its heading.
    private func lines(_ table: String) -> [[Substring]] {
        table.split(separator: "\n").dropFirst().map { $0.split(separator: " ") }
    }

    /// The version that is shown as the active one.
    private func activeVersion() async throws -> String? {
        let release = (try await json("show", "toy") as? [String: Any])?["release"] as? [String: Any]
        return release?["active"] as? Bool == true ? release?["version"] as? String : nil
    }

    // MARK: What may go

    /// 0.9.0 was overtaken, 1.0.0 is active, 2.0.0 is not older.
    private func installThree() async throws {
        try offer(Offer(version: "0.9.0"), Offer(version: "1.0.0"), Offer(version: "2.0.0"))
        await hearth("pull", "toy@1.0.0", "--no-probe")
        for version in ["0.9.0", "2.0.0"] { await hearth("pull", "toy@\(version)", "--no-activate") }
    }

    private func installed() async -> [String] {
        lines(await hearth("list").output).map { String($0[1]) }
    }

    @Test func aDryRunSaysWhatWouldGoAndRemovesNothing() async throws {
        try await installThree()
        let (output, said) = await hearth("prune", "--dry-run")
        #expect(output.hasPrefix("WOULD GO"))
        let rows = output.split(separator: "\n").dropFirst()
        #expect(rows.count == 1)
        #expect(rows.first?.hasPrefix("release toy@0.9.0:q4_1 ") == true)
        #expect(rows.first?.contains(" 1.0 kB ") == true && rows.first?.hasSuffix("a newer release is active") == true)
        #expect(said.contains("toy@1.0.0:q4_1 stays: it is active\n"))
        #expect(said.contains("toy@2.0.0:q4_1 stays: ") && said.hasSuffix("That would free 1.0 kB.\n"))

        let report = try #require(try await json("prune", "--dry-run") as? [String: Any])
        #expect(report["dryRun"] as? Bool == true)
        #expect(report["freedBytes"] as? Int == 1000 && report["remainingBytes"] as? Int ?? 0 >= 2000)
        let removed = try #require(report["removed"] as? [[String: Any]])
        #expect(removed.map { $0["name"] as? String } == ["toy@0.9.0:q4_1"])
        #expect(removed.first?["kind"] as? String == "release" && removed.first?["reason"] as? String == "superseded")
        let kept = try #require(report["kept"] as? [[String: Any]])
        #expect(kept.map { $0["reasons"] as? [String] ?? [] }.map { $0.first } == ["active", "not-older"])
        #expect(await installed() == ["0.9.0", "1.0.0", "2.0.0"])

        #expect(await hearth("prune").output.hasPrefix("REMOVED"))
        #expect(await installed() == ["1.0.0", "2.0.0"])
    }

    @Test func whatHasToStayMayNotFitTheBudget() async throws {
        try await installThree()
        let dry = try #require(try await json("prune", "--dry-run", "--budget", "10", status: 1) as? [String: Any])
        #expect(dry["budgetBytes"] as? Int == 10)
        let reasons = (dry["removed"] as? [[String: Any]])?.map { $0["reason"] as? String }
        #expect(reasons == ["superseded", "over-budget"])
        #expect(await installed().count == 3)
        let pruned = await hearth("prune", "--budget", "10", status: 1)
        #expect(pruned.output.contains("toy@2.0.0:q4_1") && pruned.output.contains("it was used longest ago"))
        #expect(pruned.said.contains("more than the budget of 10 B [over-budget]"), "\(pruned.said)")
        #expect(await installed() == ["1.0.0"])
        await hearth("prune", "--budget", "1M")
    }

    // MARK: What is on offer

    @Test(.enabled(if: hasEngine)) func whatThisDeviceMayNotHaveSaysWhy() async throws {
        let huge = #""requirements": {"memoryBytes": 4503599627370496},"#
        let nobody = #""rollout": {"percent": 0, "seed": "x"},"#
        try offer(
            Offer(version: "1.0.0"), Offer(version: "1.0.0", family: "large", extra: huge),
            Offer(version: "1.0.0", family: "later", extra: nobody),
            Offer(version: "1.0.0", family: "other", format: "coreml"))
        await hearth("pull", "toy", "--no-probe")
        try offer(
            Offer(version: "1.0.0"), Offer(version: "1.1.0"), Offer(version: "1.0.0", family: "large", extra: huge),
            Offer(version: "1.0.0", family: "later", extra: nobody),
            Offer(version: "1.0.0", family: "other", format: "coreml"))
        await hearth("pull", "toy", "--no-probe")
        await hearth("rollback", "toy")
        let entries = try #require(try await json("list", "--available") as? [[String: Any]])
        let reasons = Dictionary(
            uniqueKeysWithValues: entries.filter { !($0["catalog"] is [String: Any]) }.map { entry in
                ("\(entry["family"] ?? "")@\(entry["version"] ?? "")", entry["reason"] as? String ?? "none")
            })
        #expect(
            reasons == [
                "toy@1.0.0": "none", "toy@1.1.0": "held-back", "large@1.0.0": "not-enough-memory",
                "later@1.0.0": "not-in-rollout", "other@1.0.0": "no-engine",
            ])
        #expect(entries.allSatisfy { $0.keys.contains("reason") }, "null where nothing speaks against it")
        let table = await hearth("list", "--available").output
        for text in ["needs 4503.6 TB of memory", "rollout of 0 %", "no engine for coreml"] {
            #expect(table.contains(text), "\(table)")
        }
        await hearth("config", "set", "ignoreMemory", "true")
        let insisted = try #require(try await json("list", "--available") as? [[String: Any]])
        let large = try #require(insisted.first { $0["family"] as? String == "large" })
        #expect(large["reason"] as? String == nil, "as for a pull")
    }

    // MARK: What is held back

    /// Other bytes of a version are another release, which has a name of its own and is held back alone.
    @Test(.enabled(if: hasEngine)) func aReleaseWithAContentTagIsShownAndNamed() async throws {
        try offer(Offer(version: "1.0.0"))
        await hearth("pull", "toy", "--no-probe")
        try offer(Offer(version: "1.0.0", text: "other"))
        await hearth("pull", "toy", "--no-probe")
        let listed = try #require(try await json("list") as? [[String: Any]])
        let versions = listed.compactMap { $0["version"] as? String }
        let tagged = try #require(versions.last)
        #expect(versions.first == "1.0.0" && tagged.hasPrefix("1.0.0+") && tagged.utf8.count == 14)
        #expect(listed.map { $0["active"] as? Bool } == [false, true])
        await hearth("rollback", "toy")
        let tag = tagged.dropFirst(6)
        #expect(try await activeVersion() == "1.0.0")
        let held = try await note("held-back")
        #expect(held?["message"]?.hasPrefix("toy@1.0.0:q4_1+\(tag) is held back since ") == true, "\(held ?? [:])")

        // Named by a person, it is tried again.
        let again = await hearth("pull", "toy", "--no-probe")
        #expect(again.said.contains("toy@1.0.0:q4_1+\(tag) is held back: "), "\(again.said)")
        #expect(try await activeVersion() == tagged)
        for name in ["toy@\(tagged)", "toy@1.0.0:q4_1+\(tag)", "toy@\(tagged):q4_1"] {
            #expect(await hearth("verify", name).output.contains("toy@1.0.0:q4_1+\(tag): intact"), "\(name)")
        }
        #expect(await hearth("verify", "toy@1.0.0").output == "toy@1.0.0:q4_1: intact\n")
        #expect(await hearth("remove", "toy@1.0.0:q4_1+\(tag)").output == "toy@1.0.0:q4_1+\(tag)\n")
        #expect(try await activeVersion() == "1.0.0")
    }

    // MARK: Refused artifacts

    /// Writes the record of a refused artifact of toy@1.0.0.
    private func refuseArtifact(because reason: String) async throws {
        let file = try #require(
            ((try await json("show", "toy") as? [String: Any])?["files"] as? [[String: Any]])?.first)
        let digest = try #require(file["sha256"] as? String)
        let record: [String: Any] = [
            "format": 1, "sourceSha256": digest, "made": 1_800_000_000, "refused": reason,
            "recipe": [
                "engine": "llama.cpp", "engineVersion": "1", "settings": "q4_0", "fileName": "made.gguf",
                "expectedSize": 10, "summary": "Q4_0, since F16 does not fit",
            ],
        ]
        try folder.write(
            "home/prepared/toy/1.0.0~q4_1/0123456789abcdef/artifact.json",
            JSONSerialization.data(withJSONObject: record))
    }

    private func note(_ code: String) async throws -> [String: String]? {
        let probe = CommandProbe(home: folder.path("home"))
        // Its status tells of the engine as well.
        _ = await probe.run("doctor", "--format", "json")
        let report = try JSONSerialization.jsonObject(with: Data(probe.output.contents.utf8)) as? [String: Any]
        return (report?["findings"] as? [[String: String]])?.first { $0["code"] == code }
    }

    @Test(.enabled(if: hasEngine)) func whyAnArtifactIsNotUsedIsShown() async throws {
        try offer(Offer(version: "1.0.0"))
        await hearth("pull", "toy", "--no-probe")
        let before = try #require(try await json("show", "toy") as? [String: Any])
        #expect(before["refusedArtifact"] == nil)
        #expect(await !hearth("show", "toy").output.contains("prepared"))
        #expect(try await note("artifact-refused") == nil)

        try await refuseArtifact(
            because: "it did not pass its probe: its answer \"\u{1B}[2J\u{202E}?\" does not match Paris")
        let told = "Q4_0, since F16 does not fit; it did not pass its probe: its answer \" [2J ?\" does not match Paris"
        let line = await hearth("show", "toy").output.split(separator: "\n").first { $0.hasPrefix("prepared ") }
        #expect(line?.hasSuffix(" not used: \(told)") == true, "\(line ?? "")")
        #expect((try await json("show", "toy") as? [String: Any])?["refusedArtifact"] as? String == told)
        let found = try #require(try await note("artifact-refused"))
        #expect(found["message"] == "The artifact of toy@1.0.0:q4_1 for this device is not used: \(told)")
        #expect(found["cure"]?.contains("'hearth remove toy@1.0.0:q4_1'") == true && found["severity"] == "note")

        await hearth("config", "set", "ignoreMemory", "true")
        let insisted = try await json("show", "toy") as? [String: Any]
        #expect(insisted?["refusedArtifact"] == nil, "nothing is made then")
    }

    // MARK: The way back

    @Test func aRollbackHoldsBackWhatItLeaves() async throws {
        for version in ["1.0.0", "1.1.0"] {
            try offer(Offer(version: version))
            await hearth("pull", "toy", "--no-probe")
        }
        let fresh = try #require(try await json("show", "toy") as? [String: Any])
        #expect(fresh["probation"] as? String == "0 of 3 answers, 0 s of use")
        #expect((fresh["heldBack"] as? [String])?.isEmpty == true)

        let back = await hearth("rollback", "toy")
        #expect(back.output.isEmpty)
        #expect(back.said == "toy@1.0.0:q4_1 is active again; toy@1.1.0:q4_1 is held back.\n")
        let states = lines(await hearth("list").output).map { $0.dropFirst(5).joined(separator: " ") }
        #expect(states.first == "active" && states.last?.hasSuffix("held back") == true, "\(states)")
        let shown = await hearth("show", "toy").output
        #expect(shown.contains("toy@1.1.0:q4_1 since ") && shown.contains(": it was rolled back by hand"), "\(shown)")
        #expect(!shown.contains("of 3 answers"), "it has proved itself before")

        #expect(
            await hearth("update").output
                == "toy@1.0.0: 1.1.0 is held back on this device, until something newer appears\n")
        #expect(await hearth("rollback", "toy", status: 1).said.contains("[nothing-before]"))
        #expect(await hearth("rollback", "none", status: 1).said.contains("[not-installed]"))
        // A person who names the model or the release has it tried again.
        let again = await hearth("pull", "toy", "--no-probe").said
        #expect(
            again.contains("toy@1.1.0:q4_1 is held back: it was rolled back by hand. It is tried again.\n"), "\(again)")
        #expect(try await activeVersion() == "1.1.0")
        await hearth("rollback", "toy")
        await hearth("use", "toy@1.1.0", "--no-probe")
        #expect(try await activeVersion() == "1.1.0")
        await hearth("rollback", "toy")
        #expect(try await activeVersion() == "1.0.0")
        // A release newer than the held-back one is an update again.
        try offer(Offer(version: "1.1.0"), Offer(version: "1.2.0"))
        await hearth("update", "--no-probe")
        #expect(try await activeVersion() == "1.2.0")
    }
}
