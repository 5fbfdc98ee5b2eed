#if Llama
import Foundation
import HearthBase
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthCommand

/// A model that does not fit is refused wherever it is wanted, with numbers, and goes through where somebody insists.
@Suite(.timeLimit(.minutes(10))) struct IgnoreMemoryTests {
    /// Far less than the default model needs.
    private static let memory: UInt64 = 64 << 20

    private let folder: TemporaryFolder
    private let server: FaultServer

    /// An origin of two versions: a small one, and the default model.
    init() throws {
        folder = try TemporaryFolder()
        let files = [
            "1.0.0": Data("a file of no format".utf8),
            "2.0.0": try Data(contentsOf: TestModel.path.url, options: .alwaysMapped),
        ]
        let entries = files.map { version, data in
            #"""
            {"id": "m-\#(version)", "family": "m", "version": "\#(version)", "filename": "m-\#(version).gguf",
             "sizeBytes": \#(data.count), "sha256": "\#(SHA256Digest(hashing: data).hex)", "minAppVersion": "0.0.0",
             "downloadUrl": "\#(version)"}
            """#
        }
        let manifest = #"{"schemaVersion": 1, "models": [\#(entries.joined(separator: ", "))]}"#
        server = try FaultServer { request in
            guard let data = files[String(request.path.dropFirst())] else { return .text(manifest) }
            return FaultServer.answer(request, with: .data(data))
        }
    }

    private func hearth(_ words: String...) async throws -> (status: Int32, output: String, said: String) {
        try await run(words)
    }

    private func active() async throws -> String? {
        let list = try await hearth("list", "--format", "json").output
        let entries = try JSONSerialization.jsonObject(with: Data(list.utf8)) as? [[String: Any]]
        return entries?.first { $0["active"] as? Bool == true }?["version"] as? String
    }

    /// - Parameter code: what the refusal is called.
    private func expectRefused(_ code: String, _ words: String...) async throws {
        let refused = try await run(words)
        #expect(refused.status == 1, "\(words)")
        #expect(refused.said.contains("[\(code)]"), "\(words): \(refused.said)")
        // What it needs, and what there is.
        #expect(
            refused.said.contains("the model needs ") && refused.said.contains("of the device's 64 MiB"),
            "\(refused.said)")
        let insisted = try await run(words + ["--ignore-memory"])
        #expect(insisted.status == 0, "\(words): \(insisted.said)")
    }

    private func run(_ words: [String]) async throws -> (status: Int32, output: String, said: String) {
        var probe = CommandProbe(
            home: folder.path("home"), environment: ["HEARTH_ORIGIN": try server.url("/models.json").absoluteString]
        )
        probe.device = { MemoryPlan.Device(memory: Self.memory) }
        probe.usableMemory = Self.memory
        let status = await probe.run(words)
        return (status, probe.output.contents, probe.errors.contents)
    }

    @Test(.enabled(if: TestExtent.isFull)) func whatDoesNotFitIsRefusedUnlessSomebodyInsists() async throws {
        #expect(try await hearth("pull", "m@1.0.0", "--no-probe").status == 0)
        try await expectRefused("not-enough-memory", "pull", "m@2.0.0")
        #expect(try await active() == "2.0.0")
        #expect(try await hearth("rollback", "m").status == 0)
        try await expectRefused("probe-failed", "use", "m@2.0.0")
        #expect(try await active() == "2.0.0")
        try await expectRefused("not-enough-memory", "chat", "m", "--prompt", "Hello", "--max-tokens", "1")
    }
}
#endif
