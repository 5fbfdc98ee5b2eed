import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCommand

/// Releases of several files and of archives, from the publisher's command to the device's, over HTTP.
@Suite(.timeLimit(.minutes(5))) struct ArchiveEndToEndTests {
    private static let weights = ModelFiles.gguf(payload: Array(repeating: 7, count: 1 << 20))
    private static let labels = Data("oak\nash\n".utf8)

    private func archive(in lab: HearthLab) throws -> Path {
        try lab.folder.write(
            "leaf-v1.0.0-q8_0.tar.gz",
            ArchiveFiles.gzip(
                ArchiveFiles.tar([("leaf/model.gguf", Self.weights), ("leaf/labels.txt", Self.labels)])))
    }

    /// The lines of a listing about one model or version; there is at least one.
    private func lines(of lab: HearthLab, with word: String) async throws -> [Substring] {
        let lines = try await lab.run("list").output.split(separator: "\n").filter { $0.contains(word) }
        try #require(!lines.isEmpty)
        return lines
    }

    @Test func anArchiveIsPulledListedShownVerifiedAndRepaired() async throws {
        let lab = try HearthLab()
        let archive = try archive(in: lab)
        let published = try await lab.serve(archive)
        #expect(
            published.output == "leaf@1.0.0:q8_0  1.1 MB  published, 2 files packed, current\n", "\(published.errors)")

        let offered = try await lab.run("show", "leaf")
        for line in ["archive", "leaf/model.gguf", "leaf/labels.txt"] { #expect(offered.output.contains(line)) }
        let pulled = try await lab.run("pull", "leaf", "--no-probe")
        #expect(pulled.status == 0, "\(pulled.errors)")
        #expect(try await lines(of: lab, with: "leaf").allSatisfy { $0.contains("1.0.0") && $0.contains("active") })
        let shown = try await lab.run("show", "leaf")
        #expect(shown.output.contains("weights") && shown.output.contains("leaf/model.gguf"))
        #expect(shown.output.contains("labels") && shown.output.contains("leaf/labels.txt"))
        #expect(try await lab.run("verify", "leaf").output == "leaf@1.0.0:q8_0: intact\n")
        #expect(try await lab.run("pull", "leaf").errors.contains("nothing was fetched"))

        // A byte of one of its files changes on the disk.
        let place = lab.folder.path("home/models/leaf/1.0.0~q8_0/leaf")
        let weights = Path(place.string + "/model.gguf")
        let sound = try LocalFileSystem().status(at: Path(place.string + "/labels.txt"))?.identity
        var bytes = Self.weights
        bytes[bytes.count - 10] ^= 1
        try bytes.write(to: weights.url)
        let damaged = try await lab.run("verify", "leaf")
        #expect(damaged.status == 1)
        #expect(damaged.errors.contains("leaf/model.gguf has the SHA-256"))
        let before = lab.modelReplies.count
        let repaired = try await lab.run("verify", "leaf", "--repair")
        #expect(repaired.status == 0, "\(repaired.errors)")
        #expect(repaired.errors.contains("repaired leaf/model.gguf with 1.1 MB fetched"))
        #expect(try Data(contentsOf: weights.url) == Self.weights)
        // Only what was damaged is another file now.
        #expect(try LocalFileSystem().status(at: Path(place.string + "/labels.txt"))?.identity == sound)
        #expect(lab.modelReplies.count > before)

        // With the archive gone there is nothing to repair it from, and the message says so.
        try bytes.write(to: weights.url)
        try LocalFileSystem().removeTree(lab.folder.path("origin/models"))
        #expect(try await lab.run("verify", "leaf", "--repair").status == 1)
    }

    @Test func aModelOfSeveralFilesComesOverWhole() async throws {
        let lab = try HearthLab()
        func part(_ number: UInt32) -> Data {
            ModelFiles.gguf(numbers: [("split.no", number - 1), ("split.count", 2)], payload: [UInt8(number)])
        }
        let first = try lab.folder.write("see-v1.0.0-q4-00001-of-00002.gguf", part(1))
        try lab.folder.write("see-v1.0.0-q4-00002-of-00002.gguf", part(2))
        let projector = try lab.folder.write(
            "eye.gguf", ModelFiles.gguf(texts: [("general.architecture", "clip")]))
        let labels = try lab.folder.write("names.txt", Self.labels)
        let published = try await lab.serve(
            first, "--with", "projector=\(projector)", "--with", "labels=\(labels)", "--format", "json")
        #expect(published.status == 0, "\(published.errors)")
        let event = try #require(published.output.split(separator: "\n").last)
        for role in ["weights", "shard", "projector", "labels"] { #expect(event.contains("\"role\":\"\(role)\"")) }

        #expect(try await lab.run("pull", "see", "--no-probe").status == 0)
        let folder = lab.folder.path("home/models/see/1.0.0~q4")
        #expect(
            try LocalFileSystem().contents(of: folder).sorted() == [
                "eye.gguf", "names.txt", "receipt.json", "see-v1.0.0-q4-00001-of-00002.gguf",
                "see-v1.0.0-q4-00002-of-00002.gguf",
            ])
        #expect(try await lab.run("verify").output == "see@1.0.0:q4: intact\n")

        // A second version with the same projector and labels fetches neither.
        let next = try lab.folder.write("see-v2.0.0-q4.gguf", ModelFiles.gguf(payload: [3]))
        let again = try await lab.run(
            "publish", next.string, "--with", "projector=\(projector)", "--with", "labels=\(labels)", "--to", lab.origin
        )
        #expect(again.status == 0, "\(again.errors)")
        let before = lab.modelReplies.count
        #expect(try await lab.run("update", "--no-probe", "--refresh").status == 0)
        #expect(lab.modelReplies.count == before + 1)
        #expect(try await lab.run("list").output.contains("2.0.0"))
    }

    @Test func aLargeProjectorIsRepairedByItsChunks() async throws {
        let lab = try HearthLab()
        let model = try lab.folder.write("see-v1.0.0-q4.gguf", ModelFiles.gguf())
        let payload = (0..<5120).flatMap { [UInt8](repeating: UInt8(truncatingIfNeeded: $0), count: 4096) }
        let data = ModelFiles.gguf(texts: [("general.architecture", "clip")], payload: payload)
        let projector = try lab.folder.write("mmproj.gguf", data)
        #expect(try await lab.serve(model, projector.string).status == 0)
        #expect(try await lab.run("pull", "see", "--no-probe").status == 0)
        let place = lab.folder.path("home/models/see/1.0.0~q4/mmproj.gguf")
        let file = try FileHandle(forWritingTo: place.url)
        try file.seek(toOffset: 9 << 20)
        try file.write(contentsOf: Data("damage".utf8))
        try file.close()
        let repaired = try await lab.run("verify", "see", "--repair")
        #expect(repaired.status == 0, "\(repaired.errors)")
        #expect(repaired.errors.contains("repaired mmproj.gguf with 8.4 MB fetched"))
        #expect(try Data(contentsOf: place.url) == data)
    }

    @Test func canariesPinsAndTrialsThroughTheCommand() async throws {
        let lab = try HearthLab()
        let first = try lab.folder.write("diary-v1.0.0-q4.gguf", ModelFiles.gguf())
        let published = try await lab.serve(
            first, "--canary-prompt", "Two and two?", "--canary-pattern", "[4f]", "--canary-tokens", "8",
            "--canary-rate", "0.5", "--canary-memory", "3G")
        #expect(published.status == 0, "\(published.errors)")
        let manifest = try String(contentsOf: lab.folder.path("origin/models.json").url, encoding: .utf8)
        for line in [
            #""prompt": "Two and two?""#, #""pattern": "[4f]""#, #""maxNewTokens": 8"#,
            #""minTokensPerSecond": 0.5"#, #""maxMemoryBytes": 3000000000"#,
        ] { #expect(manifest.contains(line), "\(line)") }
        // The file is no model: whoever tries it does not take it.
        let tried = try await lab.run("pull", "diary")
        #expect(tried.status == 1 && tried.errors.contains("[probe-failed]"))
        #expect(try await lab.run("list").output.contains("held back"))
        #expect(try await lab.run("use", "diary@1.0.0").status == 1)
        let used = try await lab.run("use", "diary@1.0.0", "--no-probe", "--pin")
        #expect(used.status == 0)
        #expect(used.errors == "diary@1.0.0:q4 is active and pinned.\n")
        #expect(try await lab.run("show", "diary").output.contains("Two and two? -> [4f]"))

        let next = try lab.folder.write("diary-v2.0.0-q4.gguf", ModelFiles.gguf(payload: [9]))
        #expect(try await lab.run("publish", next.string, "--to", lab.origin).status == 0)
        #expect(try await lab.run("update", "--check", "--refresh").output == "diary@1.0.0: pinned to 1.0.0\n")
        let json = try await lab.run("update", "--no-probe", "--format", "json")
        #expect(json.output.contains(#""reason":"pinned""#))
        #expect(try await lab.run("use", "diary", "--unpin").errors == "diary follows its publisher again.\n")
        #expect(try await lab.run("update", "--check").output.hasPrefix("diary@1.0.0: 2.0.0 is available; "))

        // Tried, it fails and is held back; from then on the reason is told.
        let failed = try await lab.run("update")
        #expect(failed.status == 1 && failed.errors.contains("[probe-failed]"))
        let held = try await lab.run("update", "--check")
        #expect(held.output.hasPrefix("diary@1.0.0: 2.0.0 ") && held.output.contains("held back"), "\(held.output)")
        #expect(try await lab.run("update", "--check", "--format", "json").output.contains(#""reason":"held-back""#))
        #expect(try await lab.run("update").output == held.output)
        #expect(try await lines(of: lab, with: "1.0.0").allSatisfy { $0.contains("active") })
        // Named and untried, it is taken.
        #expect(try await lab.run("use", "diary@2.0.0", "--no-probe").status == 0)
    }

    @Test func aBadHubAddressFailsTheHubAndNothingElse() async throws {
        let lab = try HearthLab()
        let model = try lab.folder.write("diary-v1.0.0-q4.gguf", ModelFiles.gguf())
        _ = try await lab.serve(model)
        var environment = lab.environment
        environment["HF_ENDPOINT"] = "ftp://nowhere"
        environment["HF_TOKEN"] = "hf_secret"
        #expect(try await ChildProcess.run(["pull", "diary", "--no-probe"], environment: environment).status == 0)
        #expect(try await ChildProcess.run(["list"], environment: environment).status == 0)
        let hub = try await ChildProcess.run(["pull", "hf:org/repo"], environment: environment)
        #expect(hub.status == 1 && hub.errors.contains("[bad-endpoint]"))
        let doctor = try await ChildProcess.run(["doctor"], environment: environment)
        #expect(doctor.errors.contains("[bad-endpoint]") || doctor.output.contains("[bad-endpoint]"))
        #expect(!(doctor.output + doctor.errors).contains("hf_secret"))
    }
}
