import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCommand

/// `hearth gateway`: keys from the command line, and what is refused before anything listens.
@Suite(.timeLimit(.minutes(1)))
struct GatewayCommandTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func run(_ words: String...) async -> (status: Int32, output: String, errors: String) {
        let probe = CommandProbe(home: folder.path("home"))
        let status = await probe.run(words)
        return (status, probe.output.contents, probe.errors.contents)
    }

    @Test func keysAreCreatedListedAndRevoked() async throws {
        let first = await run("gateway", "keys", "create", "app", "--addresses", "500")
        #expect(first.status == 0 && first.errors == "This key is shown once.\n")
        let key = try #require(first.output.split(separator: "\n").first)
        #expect(key.hasPrefix("hearth-"))
        let chat = await run(
            "gateway", "keys", "create", "anna", "--scopes", "download,chat", "--credits", "3", "--expires",
            "2099-06-30")
        #expect(chat.status == 0)
        let list = await run("gateway", "keys", "list", "--format", "json")
        let entries = try JSONValue(parsing: Data(list.output.utf8))
        guard case .array(let keys) = entries else {
            Issue.record("\(list)")
            return
        }
        func value(_ index: Int, _ name: String) -> JSONValue? { keys[index].members?[name] }
        let app = try #require(keys.firstIndex { $0.members?["name"] == .string("app") })
        #expect(value(app, "tier") == .string("free") && value(app, "addresses") == .integer(500))
        #expect(value(app, "credits") == .null && value(app, "state") == .string("works"))
        let anna = 1 - app
        #expect(value(anna, "tier") == .string("starter") && value(anna, "creditsLeft") == .integer(3))
        #expect(value(anna, "expires") == .string("2099-06-30T00:00:00Z"))
        #expect(!list.output.contains(key.suffix(64)))

        let id = String(key.split(separator: "-")[1])
        #expect(await run("gateway", "keys", "revoke", id).status == 0)
        #expect(await run("gateway", "keys", "list").output.contains("revoked"))
        let absent = await run("gateway", "keys", "revoke", "absent")
        #expect(absent.status == 1 && absent.errors.contains("[unknown-key]"))
    }

    @Test(
        arguments: [
            ["keys", "create", "x", "--expires", "2020-01-01"], ["keys", "create", "x", "--expires", "soon"],
            ["keys", "create", "x", "--scopes", "admin"], ["keys", "create", "x", "--scopes", ""],
            ["keys", "create", "x", "--tier", "gold"], ["keys", "create", "x", "--credits", "-1"],
            ["keys", "create", "x", "--addresses", "0"], ["keys", "create", ""], ["keys", "create", "a\u{1B}[2J"],
            ["keys", "other"], ["create", "x"], ["serve"], ["serve", "--bucket", "http://s3.example/b"],
            ["serve", "--bucket", "https://s3.example/b"], ["serve", "--lifetime", "604801"],
            ["serve", "--tls-cert", "x"],
        ])
    func wrongWordsAreRefused(words: [String]) async {
        let probe = CommandProbe(home: folder.path("home"))
        #expect(await probe.run(["gateway"] + words) == 64, "\(probe.errors.contents)")
        #expect(probe.output.contents.isEmpty)
    }

    @Test func aFolderOfCommandsHasHelp() async {
        for words in [["gateway", "keys", "--help"], ["help", "gateway", "keys"]] {
            let probe = CommandProbe(home: folder.path("home"))
            #expect(await probe.run(words) == 0)
            #expect(probe.output.contents.hasPrefix("hearth gateway keys:"))
            #expect(probe.output.contents.contains("\n  create "))
        }
        let help = await run("help", "gateway", "keys", "create")
        #expect(help.output.hasPrefix("hearth gateway keys create:"))
        let group = await run("gateway", "--help")
        #expect(group.output.contains("\n  keys create ") && group.output.contains("\n  serve "))
    }
}
