import Foundation
import HearthBase
import HearthCatalog
import HearthPublishing
import HearthTestSupport
import Testing

@testable import HearthCommand

/// Keys of a publisher that are encrypted, held by a program, or cannot be read.
@Suite(.timeLimit(.minutes(10))) struct TrustKeyTests {
    private let desk: TrustDesk

    init() throws { desk = try TrustDesk() }

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
        // More than the pipe holds: the program is gone before it has all, which must not end this process by SIGPIPE.
        let key = try #require(MetadataKey(text: made.output))
        let signer = CommandSigner(key: key, words: ["true"], environment: ["PATH": path])
        let error = #expect(throws: TrustError.self) { try signer.signature(of: Data(count: 1 << 20)) }
        #expect(error?.code == .badKey)
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

    /// The files of the origin by name.
    private func state() throws -> [String: Data] {
        let (fileSystem, origin) = (LocalFileSystem(), Path(desk.origin))
        return try Dictionary(
            uniqueKeysWithValues: fileSystem.files(below: origin).map {
                ($0, try fileSystem.contents(ofFile: origin.joined($0), limit: 1 << 20))
            })
    }

    @Test(arguments: ["folder", "gone", "huge", "cut", "locked"])
    func aKeyThatCannotBeReadLeavesTheOriginAsItWas(_ damage: String) async throws {
        // The superuser reads every file.
        guard damage != "locked" || getuid() != 0 else { return }
        try await desk.run("trust", "init", "--to", desk.origin)
        let before = try state()
        let key = desk.folder.path("home/trust-keys/timestamp.key")
        let whole = try LocalFileSystem().contents(ofFile: key, limit: 1 << 16)
        try LocalFileSystem().removeFile(key)
        switch damage {
        case "folder": try LocalFileSystem().makeFolders(key)
        case "gone": try LocalFileSystem().makeLink(at: key, to: "none.key")
        case "huge": try Data(count: 1 << 20).write(to: key.url)
        case "cut": try whole.prefix(whole.count / 2).write(to: key.url)
        default: try LocalFileSystem().replaceContents(of: key, with: whole, permissions: 0)
        }
        // A file of the folder that is no key is skipped; a named one is refused.
        let renewal = desk.probe()
        #expect(await renewal.run("trust", "renew", "--to", desk.origin) != 0)
        #expect(renewal.errors.contents.contains("A key file is not used: "))
        #expect(renewal.errors.contents.contains(key.string))
        #expect(renewal.errors.contents.contains("0 of 1 keys are at hand that must sign timestamp.json"))
        #expect(await desk.refusal("trust", "renew", "snapshot", "--to", desk.origin) == "too-few-signatures")
        let named = desk.probe()
        let status = await named.run("trust", "renew", "--to", desk.origin, "--key", key.string)
        #expect(status == 1 && named.errors.contents.contains(key.string))
        let codes = ["[bad-key]", "[file-not-found]", "[io-failure]", "[permission-denied]"]
        #expect(codes.contains { named.errors.contents.contains($0) }, "\(named.errors.contents)")
        let source = try desk.folder.write("sources/m-v1.0.0-q4.gguf", ModelFiles.gguf())
        #expect(await desk.refusal("publish", source.string, "--to", desk.origin, "--sign") == "too-few-signatures")
        #expect(try state() == before)
        #expect(!named.errors.contents.contains("horse"))
    }
}
