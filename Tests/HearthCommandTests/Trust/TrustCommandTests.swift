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

@Suite(.timeLimit(.minutes(10))) struct TrustCommandTests {
    private let desk: TrustDesk

    init() throws { desk = try TrustDesk() }

    @Test func anOriginIsSignedFromNothing() async throws {
        let made = try await desk.run("trust", "init", "--to", desk.origin)
        #expect(made.output.hasPrefix("root 1  "))
        let fingerprint = SHA256Digest(hashing: try await desk.repository().root.data)
        #expect(made.output == "root 1  \(fingerprint.hex)\n")
        for role in ["root", "targets", "snapshot", "timestamp"] {
            let path = desk.folder.path("home/trust-keys/\(role).key")
            let mode = try FileManager.default.attributesOfItem(atPath: path.string)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
        try await desk.publish("m-v1.0.0-q4.gguf", [1], "--sign")
        #expect(try await desk.repository().listedFiles.keys.contains("models.json"))
        let shown = try await desk.run("trust", "show", desk.origin)
        #expect(shown.output.hasPrefix("fingerprint  \(fingerprint.hex)\n"))
        #expect(shown.output.contains("timestamp        2  2027-02-14T08:00:00Z  1 of 1"))
        #expect(shown.talk.isEmpty)
        #expect(await desk.refusal("trust", "init", "--to", desk.origin) == "already-signed")
    }

    @Test func whatIsPublishedUnsignedIsSignedLater() async throws {
        try await desk.publish("m-v1.0.0-q4.gguf")
        try await desk.run("trust", "init", "--to", desk.origin)
        // The first root signs the list that is there.
        #expect(try await desk.repository().listedFiles.keys.contains("models.json"))
        try await desk.publish("m-v1.1.0-q4.gguf", [2])
        let shown = try await desk.run("trust", "show", desk.origin)
        #expect(shown.talk.contains("models.json has changed since it was signed"))
        #expect(try await desk.run("trust", "sign", "--to", desk.origin).talk.contains("is signed."))
        #expect(try await desk.run("trust", "sign", "--to", desk.origin).talk.contains("was signed already."))
        #expect(try await desk.run("trust", "show", desk.origin).talk.isEmpty)
    }

    @Test func aTimestampIsRenewedWithItsKeyAlone() async throws {
        try await desk.run("trust", "init", "--to", desk.origin)
        desk.clock.advance(by: .seconds(24 * 86400))
        let shown = try await desk.run("trust", "show", desk.origin)
        #expect(shown.talk == "timestamp expires on 2027-02-14T08:00:00Z: renew it with `hearth trust renew`.\n")
        desk.clock.advance(by: .seconds(10 * 86400))
        #expect(try await desk.run("trust", "show", desk.origin).talk.hasPrefix("timestamp expired on 2027-02-14"))
        // On the server there is no other key.
        let server = desk.folder.path("server")
        try LocalFileSystem().makeFolders(server)
        try FileManager.default.copyItem(
            atPath: desk.folder.path("home/trust-keys/timestamp.key").string, toPath: server.string + "/t.key")
        let renewed = try await desk.run(
            "trust", "renew", "--to", desk.origin, "--keys", server.string, "--days", "3")
        #expect(renewed.output.contains("timestamp        2  2027-02-21T08:00:00Z"))
        #expect(
            await desk.refusal("trust", "renew", "targets", "--to", desk.origin, "--keys", server.string)
                == "too-few-signatures")
        #expect(try await desk.repository().timestamp.version() == 2)
        #expect(try await desk.run("trust", "renew", "root", "--to", desk.origin).output.hasPrefix("root 2  "))
    }

    @Test func theTimerRenewsEveryDay() async throws {
        try await desk.run("trust", "init", "--to", desk.origin)
        let pass = try desk.folder.write("pass $1 \"x\"", Data("correct horse\n".utf8))
        let made = try await desk.run(
            "trust", "renew", "--to", desk.origin, "--passphrase-file", pass.string, "--days", "9", "--install-timer")
        let paths = made.output.split(separator: "\n").map { Path(String($0)) }
        #expect(paths.map(\.fileExtension) == ["service", "timer"])
        let service = String(decoding: try LocalFileSystem().contents(ofFile: paths[0], limit: 9999), as: UTF8.self)
        #expect(service.contains("\"trust\" \"renew\" \"--to\" \"\(desk.origin)\""))
        #expect(service.contains("pass $$1 \\\"x\\\"\" \"--days\" \"9\""))
        #expect(try await desk.repository().timestamp.version() == 1)
    }

    @Test func keysAreAddedRotatedAndRevoked() async throws {
        try await desk.run("trust", "init", "--to", desk.origin)
        let first = try await desk.id(.targets)
        #expect(try await desk.run("trust", "add", "targets", "--to", desk.origin).output.hasPrefix("root 2  "))
        #expect(try await desk.repository().rootMetadata.keys(.targets).ids.count == 2)
        #expect(await desk.refusal("trust", "revoke", "targets", "00000000", "--to", desk.origin) == "bad-key")
        #expect(
            try await desk.run("trust", "revoke", "targets", String(first.prefix(12)), "--to", desk.origin).output
                .hasPrefix("root 3  "))
        #expect(try await desk.id(.targets) != first)
        // The only key of a role cannot be taken away.
        let only = try await desk.id(.targets)
        #expect(await desk.refusal("trust", "revoke", "targets", only, "--to", desk.origin) == "bad-key")
        let timestamp = try await desk.id(.timestamp)
        try await desk.run("trust", "rotate", "timestamp", "--to", desk.origin)
        #expect(try await desk.id(.timestamp) != timestamp)
        let root = try await desk.id(.root)
        try await desk.run("trust", "rotate", "root", "--to", desk.origin)
        #expect(try await desk.id(.root) != root)
        #expect(try await desk.repository().rootMetadata.fields.version == 5)
        try await desk.publish("m-v1.0.0-q4.gguf", [1], "--sign")
    }

    @Test func aRootIsSignedOnSeveralMachines() async throws {
        let folder = desk.folder
        func path(_ name: String) -> String { folder.path(name).string }
        for owner in ["a", "b", "c"] { try await desk.run("trust", "key", path("\(owner).key")) }
        for owner in ["b", "c"] {
            let key = try TrustKeyFile(
                parsing: try LocalFileSystem().contents(ofFile: folder.path("\(owner).key"), limit: 9999), file: owner)
            try folder.write("\(owner).pub", Data(key.key.text.utf8))
        }
        let draft = path("1.root.json")
        let prepared = try await desk.run(
            "trust", "init", "--to", desk.origin, "--role-key", "root=\(path("a.key"))", "--role-key",
            "root=\(path("b.pub"))", "--role-key", "root=\(path("c.pub"))", "--threshold", "root=2", "--key",
            path("a.key"), "--draft", draft)
        #expect(prepared.output == draft + "\n")
        #expect(prepared.talk.contains("It lacks 1 of 2 signatures of its own keys."))
        #expect(try await !SignedOrigin(folder: Path(desk.origin)).isSigned())
        #expect(await desk.refusal("trust", "sign", draft, "--to", desk.origin) == "too-few-signatures")
        // The second owner has the draft and a key of their own.
        let signed = try await desk.run("trust", "sign", draft, "--key", path("c.key"), "--keys", path("none"))
        #expect(signed.output.hasPrefix("root 1, expires on "))
        #expect(signed.output.contains("root       2 of 3"))
        #expect(signed.talk == "\(draft) has all signatures.\n")
        let done = try await desk.run("trust", "sign", draft, "--to", desk.origin)
        #expect(done.output.contains("\nroot 1  "))
        // A change needs two owners of the present root again.
        let next = path("2.root.json")
        let change = try await desk.run(
            "trust", "rotate", "timestamp", "--to", desk.origin, "--key", path("a.key"), "--draft", next)
        #expect(change.talk.contains("1 of 2 signatures of the present root's keys"))
        try await desk.run("trust", "sign", next, "--key", path("b.key"), "--keys", path("none"))
        try await desk.run("trust", "sign", next, "--to", desk.origin)
        #expect(try await desk.repository().rootMetadata.fields.version == 2)
        #expect(await desk.refusal("trust", "sign", next, "--to", desk.origin) == "metadata-mismatch")
    }

    @Test func aCommandSigns() async throws {
        // An ECDSA key that only openssl reads, as a token would.
        let folder = desk.folder
        let secret = folder.path("token.pem").string
        let made = try await ChildProcess.run(
            [
                "-c", "openssl ecparam -name prime256v1 -genkey -noout -out \"$0\" && openssl ec -in \"$0\" -pubout",
                secret,
            ],
            program: Path("/bin/sh"), environment: ["PATH": "/usr/bin:/bin"])
        try #require(made.status == 0, "\(made.errors)")
        try folder.write("token.pub", Data(made.output.utf8))
        let script = "openssl dgst -sha256 -sign \"$0\" | od -An -v -tx1 | tr -d ' \\n'"
        try await desk.run(
            "trust", "key", folder.path("token.key").string, "--public", folder.path("token.pub").string, "--command",
            "/bin/sh", "--command=-c", "--command", script, "--command", secret)
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let probe = desk.probe(["PATH": path])
        let status = await probe.run(
            "trust", "init", "--to", desk.origin, "--role-key", "root=\(folder.path("token.key").string)", "--key",
            folder.path("token.key").string)
        #expect(status == 0, "\(probe.errors.contents)")
        #expect(try await desk.repository().rootMetadata.keys(.root).keys.values.map(\.scheme) == [.ecdsaP256])
        // A program that fails, or signs nothing.
        for (program, part) in [("false", "failed, with the status 1"), ("true", "printed no signature")] {
            let bad = folder.path("\(program).key").string
            try await desk.run(
                "trust", "key", bad, "--public", folder.path("token.pub").string, "--command", program)
            let probe = desk.probe(["PATH": path])
            #expect(
                await probe.run("trust", "renew", "root", "--to", desk.origin, "--key", bad, "--keys", "none") == 1)
            #expect(probe.errors.contents.contains("the signing command \"\(program)\" \(part)"))
            #expect(probe.errors.contents.contains("[bad-key]"))
        }
    }

    @Test func passphrasesAreNeededAndChecked() async throws {
        var desk = self.desk
        try await desk.run("trust", "init", "--to", desk.origin)
        desk.passphrase = "wrong horse"
        #expect(await desk.refusal("trust", "renew", "--to", desk.origin) == "passphrase-wrong")
        desk.passphrase = ""
        #expect(await desk.refusal("trust", "renew", "--to", desk.origin) == "passphrase-needed")
        desk.passphrase = "short"
        #expect(await desk.refusal("trust", "key", desk.folder.path("x.key").string) == "passphrase-wrong")
        let open = try desk.folder.write("open", Data("correct horse\n".utf8))
        #expect(
            await desk.refusal("trust", "renew", "--to", desk.origin, "--passphrase-file", open.string)
                == "passphrase-needed")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: open.string)
        #expect(await desk.refusal("trust", "renew", "--to", desk.origin, "--passphrase-file", open.string) == nil)
        // At a terminal it is asked for, again after a mistake.
        desk.passphrase = ""
        let probe = desk.probe(terminal: true)
        let status = await probe.run(
            "trust", "renew", "--to", desk.origin, input: FixedSource(text: "correct horse\n", isTerminal: true))
        #expect(status == 0, "\(probe.errors.contents)")
        #expect(probe.errors.contents.contains("Passphrase of timestamp.key: "))
        #expect(!(probe.errors.contents + probe.output.contents).contains("horse"))
    }

    @Test func aPassphraseIsNotShown() async throws {
        let words = ["trust", "key", desk.folder.path("mine.key").string]
        let hearth = try TerminalProcess(
            words, environment: ["HEARTH_HOME": desk.folder.path("home").string, "HOME": desk.folder.path.string])
        await hearth.showsLine { $0.contains("New passphrase") }
        hearth.type("battery staple\n")
        await hearth.showsLine { $0.contains("The same again") }
        hearth.type("battery staple\n")
        #expect(await hearth.status() == 0)
        #expect(!hearth.screen.text.contains { $0.contains("staple") })
        #expect(hearth.attributes == hearth.attributesBefore)
        // Interrupted, it gives the terminal back as well.
        let another = try TerminalProcess(
            ["trust", "key", desk.folder.path("other.key").string],
            environment: ["HEARTH_HOME": desk.folder.path("home").string, "HOME": desk.folder.path.string])
        await another.showsLine { $0.contains("New passphrase") }
        another.send(SIGINT)
        #expect(await another.status() == 130)
        #expect(another.attributes == another.attributesBefore)
    }

    @Test(arguments: [
        ["trust"], ["trust", "init"], ["trust", "init", "--to", "x", "--threshold", "root"], ["trust", "sign"],
        ["trust", "init", "--to", "x", "--threshold", "king=1"], ["trust", "init", "--to", "x", "--role-key", "root"],
        ["trust", "add", "--to", "x"], ["trust", "add", "king", "--to", "x"], ["trust", "revoke", "root", "--to", "x"],
        ["trust", "revoke", "root", "xyz", "--to", "x"], ["trust", "renew", "--to", "x", "--days", "0"],
        ["trust", "key", "x", "--command", "y"], ["trust", "key", "x", "--public", "y"], ["trust", "accept"],
        ["trust", "accept", "x", "--fingerprint", "00"], ["trust", "client", "refresh"],
        ["trust", "client", "--metadata-dir", "x", "init"], ["trust", "client", "--metadata-dir", "x", "refresh"],
        ["trust", "client", "--metadata-dir", "x", "--metadata-url", "https://x", "download"],
    ])
    func wrongUsageExits64(words: [String]) async throws {
        let probe = desk.probe()
        #expect(await probe.run(words) == 64)
        #expect(probe.output.contents.isEmpty)
    }

    @Test func rubbishLeavesTheOriginAsItWas() async throws {
        try await desk.run("trust", "init", "--to", desk.origin)
        let rubbish = try desk.folder.write("rubbish", Data("{\"signed\": 1}".utf8))
        #expect(await desk.refusal("trust", "sign", rubbish.string, "--to", desk.origin) == "metadata-invalid")
        #expect(
            await desk.refusal("trust", "add", "root", "--to", desk.origin, "--new-key", rubbish.string) == "bad-key")
        #expect(await desk.refusal("trust", "renew", "--to", desk.origin, "--key", rubbish.string) == "bad-key")
        #expect(await desk.refusal("trust", "show", desk.folder.path("none").string) == "metadata-missing")
        let before = try await desk.repository()
        try desk.folder.write("origin/metadata/timestamp.json", Data("{}".utf8))
        #expect(await desk.refusal("trust", "renew", "--to", desk.origin) == "metadata-invalid")
        try desk.folder.write("origin/metadata/timestamp.json", before.timestamp.data)
        #expect(try await desk.repository() == before)
    }
}
