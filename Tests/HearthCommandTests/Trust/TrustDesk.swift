import Foundation
import HearthBase
import HearthCatalog
import HearthPublishing
import HearthTestSupport
import Testing

@testable import HearthCommand

/// A publisher's machine: an origin, a folder of keys, a clock.
struct TrustDesk {
    let folder: TemporaryFolder
    let clock: ManualClock
    var passphrase = "correct horse"

    init() throws {
        folder = try TemporaryFolder()
        clock = ManualClock()
    }

    var origin: String { folder.path("origin").string }
    var list: String { origin + "/models.json" }

    func probe(_ environment: [String: String] = [:], terminal: Bool = false) -> CommandProbe {
        CommandProbe(
            home: folder.path("home"),
            environment: ["HEARTH_TRUST_PASSPHRASE": passphrase, "HOME": folder.path.string].merging(environment) {
                $1
            },
            errors: CaptureSink(width: terminal ? 80 : nil), time: clock.time)
    }

    /// Runs a command that is expected to succeed.
    @discardableResult
    func run(_ words: String...) async throws -> (output: String, talk: String) {
        let probe = probe()
        let status = await probe.run(words)
        #expect(status == 0, "\(words): \(probe.errors.contents)")
        return (probe.output.contents, probe.errors.contents)
    }

    /// The code of a command that is expected to fail.
    func refusal(_ words: String...) async -> String? {
        let probe = probe()
        guard await probe.run(words) != 0 else { return nil }
        return probe.errors.contents.split(separator: "\n").first { $0.hasSuffix("]") }
            .flatMap { $0.split(separator: "[").last.map { String($0.dropLast()) } }
    }

    func repository() async throws -> TrustRepository {
        try await required(SignedOrigin(folder: Path(origin)).repository())
    }

    func id(_ role: MetadataRole) async throws -> String {
        try await required(repository().rootMetadata.keys(role).ids.first)
    }

    func publish(_ name: String, _ payload: [UInt8] = [1], _ words: String...) async throws {
        let file = try folder.write("sources/" + name, ModelFiles.gguf(payload: payload))
        let probe = probe()
        let status = await probe.run(["publish", file.string, "--to", origin] + words)
        #expect(status == 0, "\(probe.errors.contents)")
    }
}
