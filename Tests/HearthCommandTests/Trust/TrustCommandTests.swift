import Foundation
import HearthBase
import HearthCatalog
import HearthPublishing
import HearthTestSupport
import Testing

@testable import HearthCommand

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
        try await desk.publish("m-v1.1.0-q4.gguf", [2], "--unsigned")
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

    @Test(arguments: [
        ["trust", "innit"], ["trust", "init"], ["trust", "init", "--to", "x", "--threshold", "root"],
        ["trust", "sign"],
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
