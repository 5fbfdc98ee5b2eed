import Foundation
import HearthBase
import HearthCatalog
import HearthPublishing
import HearthTestSupport
import Testing

@testable import Hearth
@testable import HearthCommand

/// A device that meets a signed origin, from the command line.
@Suite(.timeLimit(.minutes(10))) struct TrustAcceptTests {
    private let desk: TrustDesk
    private let fingerprint: String

    init() async throws {
        desk = try TrustDesk()
        try await desk.run("trust", "init", "--to", desk.origin)
        try await desk.publish("m-v1.0.0-q4.gguf", [1], "--sign")
        fingerprint = SHA256Digest(hashing: try await desk.repository().root.data).hex
        try await desk.run("config", "set", "origins.main", desk.list)
    }

    private func list(_ input: String? = nil, _ environment: [String: String] = [:]) async -> (Int32, String) {
        let probe = desk.probe(environment, terminal: input != nil)
        let status = await probe.run(
            "list", "--available", input: FixedSource(text: input ?? "", isTerminal: input != nil))
        return (status, probe.output.contents + probe.errors.contents)
    }

    @Test func withoutATerminalTheCommandIsNamed() async throws {
        let (status, text) = await list()
        #expect(status == 1)
        #expect(text.contains("is signed, and this device does not know its keys yet [no-trusted-root]"))
        #expect(text.contains("Compare the fingerprint \(fingerprint) with the publisher's"))
        #expect(text.contains("`hearth trust accept \(desk.list)`"))
        #expect(await desk.refusal("trust", "accept", "main") == "no-trusted-root")
        // The fingerprint answers the question.
        #expect(
            await desk.refusal("trust", "accept", "main", "--fingerprint", String(repeating: "0", count: 64))
                == "no-trusted-root")
        try await desk.run("trust", "accept", "main", "--fingerprint", fingerprint)
        #expect(await list().0 == 0)
    }

    @Test func atATerminalAPersonIsAskedOnce() async throws {
        let refused = await list("n\n")
        #expect(refused.0 == 1)
        #expect(refused.1.contains("fingerprint: \(fingerprint)"))
        let accepted = await list("y\n")
        #expect(accepted.0 == 0 && accepted.1.contains("1.0.0"))
        #expect(!(await list("")).1.contains("fingerprint"))
        // From now on nothing unsigned is accepted.
        try LocalFileSystem().removeTree(Path(desk.origin + "/metadata"))
        let unsigned = await list("y\n")
        #expect(unsigned.1.contains("metadata") && !unsigned.1.contains("1.0.0"))
    }

    @Test(arguments: [true, false]) func theSettingNamesTheRoot(_ isPath: Bool) async throws {
        let value = isPath ? desk.origin + "/metadata/1.root.json" : fingerprint
        try await desk.run("config", "set", "trust.main", value)
        #expect(try await desk.run("config", "get", "trust.main").output == value + "\n")
        #expect(try await desk.run("config", "list").output.contains("trust.main = \(value)"))
        #expect(await list().0 == 0)
        try await desk.run("config", "unset", "trust.main")
        #expect(await list().0 == 0)
    }

    @Test func anotherAddressOfTheOriginIsAskedForAnew() async throws {
        try await desk.run("trust", "accept", "main", "--fingerprint", fingerprint)
        #expect(await list().0 == 0)
        // The publisher moves; the device has seen nothing of the new address.
        let moved = desk.folder.path("moved")
        try FileManager.default.copyItem(atPath: desk.origin, toPath: moved.string)
        try await desk.run("config", "set", "origins.main", moved.string + "/models.json")
        #expect(await list().1.contains("[no-trusted-root]"))
        // A root in the settings holds for every address, and an address without signatures is refused then.
        try await desk.run("config", "set", "trust.main", fingerprint)
        #expect(await list().0 == 0)
        try LocalFileSystem().removeTree(moved.joined("metadata"))
        #expect(!(await list()).1.contains("1.0.0"))
        try await desk.run("config", "set", "origins.main", desk.list)
        #expect(await list().0 == 0)
        let third = desk.folder.path("third")
        try FileManager.default.copyItem(atPath: moved.string, toPath: third.string)
        try await desk.run("config", "set", "origins.main", third.string + "/models.json")
        #expect(await list().1.contains("has the configured fingerprint [no-trusted-root]"))
    }

    @Test func theEnvironmentNamesOriginAndRoot() async throws {
        let variables = ["HEARTH_ORIGIN": desk.list, "HEARTH_ORIGIN_ROOT": fingerprint]
        #expect(await list(nil, variables).0 == 0)
        let wrong = String(repeating: "0", count: 64)
        let other = await list(nil, variables.merging(["HEARTH_ORIGIN_ROOT": wrong]) { $1 })
        #expect(other.0 == 1 && other.1.contains("has the configured fingerprint [no-trusted-root]"))
    }

    @Test func aRootThatCannotBeReadIsNamed() async throws {
        try await desk.run("config", "set", "trust.main", desk.folder.path("none").string)
        let (status, text) = await list()
        #expect(status == 1 && text.contains("[invalid-configuration]") && text.contains("cannot be read from"))
        for (key, value) in [("trust.UPPER", "x"), ("trust.main", "")] {
            #expect(await desk.refusal("config", "set", key, value) == "invalid-configuration")
        }
    }

    @Test func signaturesThatEndSoonAreAnnounced() async throws {
        try await desk.run("trust", "accept", "main", "--fingerprint", fingerprint)
        #expect(!(await list()).1.contains("signatures"))
        desk.clock.advance(by: .seconds(25 * 86400))
        #expect((await list()).1.contains("main: its signatures expire on 2027-02-14T08:00:00Z, in 5 days."))
        desk.clock.advance(by: .seconds(6 * 86400))
        let (status, text) = await list()
        #expect(status == 1 && text.contains("timestamp.json expired on 2027-02-14T08:00:00Z [metadata-expired]"))
        #expect(text.contains("What is installed keeps working."))
    }

    @Test func anAppShipsARoot() async throws {
        let root = try await desk.repository().root.data
        var settings = Configuration()
        settings.use(Origin(name: "app", manifestURL: Path(desk.list).url, root: root))
        #expect(try settings.origins(environment: [:]).map(\.root) == [root])
        // In a file of settings it is a fingerprint.
        let read = try Configuration(json: settings.json())
        #expect(try read.origins(environment: [:]).map(\.rootDigest) == [SHA256Digest(hashing: root)])
    }

    @Test func theDoctorSaysWhatIsSigned() async throws {
        try await desk.run("trust", "accept", "main", "--fingerprint", fingerprint)
        let probe = desk.probe()
        _ = await probe.run("doctor")
        #expect(probe.output.contents.contains("models.json, signed"))
    }

    @Test func theClientReadsARepository() async throws {
        let trusted = desk.folder.path("trusted").string
        let base = Path(desk.origin).url.absoluteString
        try await desk.run(
            "trust", "client", "--metadata-dir", trusted, "init", desk.origin + "/metadata/1.root.json")
        let metadata = base + "/metadata"
        try await desk.run("trust", "client", "--metadata-dir", trusted, "--metadata-url", metadata, "refresh")
        let got = desk.folder.path("got")
        try LocalFileSystem().makeFolders(got)
        let words = [
            "trust", "client", "--metadata-dir", trusted, "--metadata-url", metadata, "--target-base-url",
            base + "/targets", "--target-dir", got.string, "--target-name", "models.json", "download",
        ]
        let probe = desk.probe()
        #expect(await probe.run(words) == 0)
        let name = try #require(try LocalFileSystem().contents(of: got).first)
        let list = try LocalFileSystem().contents(ofFile: Path(desk.list), limit: 1 << 20)
        #expect(
            try LocalFileSystem().contents(ofFile: got.appending(try #require(PathComponent(name))), limit: 1 << 20)
                == list)
        let other = desk.probe()
        #expect(await other.run(words.map { $0 == "models.json" ? "other.json" : $0 }) == 1)
        #expect(other.errors.contents.contains("[unknown-target]"))
    }
}
