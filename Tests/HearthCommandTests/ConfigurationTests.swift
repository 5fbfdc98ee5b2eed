import Foundation
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthStore
import HearthTestSupport
import HearthTransfer
import Testing

@testable import Hearth
@testable import HearthCommand

@Suite struct ConfigurationTests {
    @Test(arguments: [
        ("origins.main", "https://models.example.org/models.json"),
        ("origins.a.b-c_1", "http://127.0.0.1:8080/models.json"),
        ("origins.six", "http://[::1]:1/m.json"), ("origins.file", "file:///srv/models.json"),
        ("defaultModel", "smollm2-135m-instruct@1.0.0:q4_1"), ("contextLength", "4096"), ("threads", "1"),
        ("maximumNewTokens", "10"), ("temperature", "0.5"), ("cacheType", "q8_0"), ("imageMinTokens", "8"),
        ("imageMaxTokens", "65536"), ("stateFolder", "/var/lib/hearth states"), ("ignoreMemory", "true"),
        ("flashAttention", "off"), ("flashAttention", "auto"), ("flashAttention", "on"), ("network.metered", "allow"),
        ("network.metered", "ask"),
        ("network.metered", "deny"), ("cloud.kind", "gemini-relay"), ("cloud.url", "https://relay.example.org/base"),
        ("cloud.url", "http://127.0.0.1:8080/v1"), ("cloud.model", "gemini-2.5-pro"), ("cloud.keyFile", "/run/key"),
        ("cloud.firstByteSeconds", "5"),
        ("cloud.shares", "none"), ("cloud.shares", "instructions,pictures"),
    ])
    func whatIsSetIsReadBack(key: String, value: String) async throws {
        let folder = try TemporaryFolder()
        let probe = CommandProbe(home: folder.path("home"))
        #expect(await probe.run("config", "set", key, value) == 0)
        #expect(await probe.run("config", "get", key) == 0)
        #expect(probe.output.contents == value + "\n")
        #expect(await probe.run("config", "unset", key) == 0)
        #expect(await probe.run("config", "get", key) == 1)
        #expect(probe.errors.contents.contains("[setting-not-set]"))
    }

    @Test(arguments: [
        ("origins.main", "http://models.example.org/models.json"), ("origins.main", "ftp://x/y"), ("origins.main", ""),
        ("origins.main", "https://"), ("origins.main", "https://a b/\n"), ("origins.main", "file://host/x"),
        ("origins.main", "http://127.0.0.1.evil.org/m.json"), ("origins.main", "http://localhost@evil.org/"),
        ("origins.main", "javascript://x"), ("origins.Main", "https://x/y"), ("origins.", "https://x/y"),
        ("origins.a/b", "https://x/y"), ("threads", "0"), ("threads", "1.5"), ("threads", "99999999999999999999"),
        ("contextLength", "63"), ("contextLength", "-4096"), ("temperature", "nan"), ("temperature", "-1"),
        ("temperature", "inf"), ("defaultModel", ""), ("defaultModel", "Bad Name"), ("defaultModel", "../x"),
        ("network.metered", "yes"), ("network.metered", ""), ("network.metered", "Allow"), ("network", "deny"),
        ("network.", "deny"), ("nonsense", "1"), ("cacheType", "f32"), ("cacheType", ""), ("cacheType", "Q8_0"),
        ("imageMinTokens", "0"), ("imageMaxTokens", "65537"), ("stateFolder", ""), ("stateFolder", "states"), ("", "1"),
        ("ignoreMemory", "yes"), ("ignoreMemory", ""), ("flashAttention", "true"), ("flashAttention", ""),
        ("origins", "x"), ("defaultmodel", "x"), ("cloud.kind", "Gemini"), ("cloud.kind", ""), ("cloud", "gemini"),
        ("cloud.url", "http://cloud.example.org"), ("cloud.url", "https://user@cloud.example.org"), ("cloud.url", ""),
        ("cloud.url", "https://x:99999"),
        ("cloud.url", "https://x/?key=1"), ("cloud.model", ""), ("cloud.model", "a\u{1b}"), ("cloud.keyFile", "key"),
        ("cloud.key", "secret"), ("cloud.firstByteSeconds", "0"), ("cloud.firstByteSeconds", "1.5"),
        ("cloud.shares", "all"), ("cloud.shares", ""), ("cloud.shares", "history,"),
    ])
    func wrongSettingsAreRefusedAndNothingIsWritten(key: String, value: String) async throws {
        let folder = try TemporaryFolder()
        let probe = CommandProbe(home: folder.path("home"))
        #expect(await probe.run("config", "set", key, value) != 0)
        #expect(!FileManager.default.fileExists(atPath: folder.path("home").string))
        #expect(probe.errors.contents.hasPrefix("hearth: "))
    }

    @Test func aKindOfCloudBringsAddressAndModel() throws {
        var configuration = Configuration()
        func values() throws -> [String?] {
            try ["cloud.kind", "cloud.url", "cloud.model", "cloud.keyFile"].map { try configuration.value(of: $0) }
        }
        #expect(try values() == [nil, nil, nil, nil])
        try configuration.set("cloud.kind", to: "gemini")
        #expect(
            try values() == ["gemini", "https://generativelanguage.googleapis.com", "gemini-2.5-flash", nil])
        // Only the choice is written, so that a later version may know a better model.
        let written = try JSONValue(parsing: configuration.json())
        #expect(written == .object(["cloud": .object(["kind": .string("gemini")])]))
        try configuration.set("cloud.model", to: "gemini-2.5-pro")
        try configuration.set("cloud.keyFile", to: "/run/key")
        try configuration.set("cloud.firstByteSeconds", to: "5")
        try configuration.set("cloud.shares", to: "pictures,history")
        try configuration.set("cloud.kind", to: "gemini")
        #expect(try values()[2...] == ["gemini-2.5-pro", "/run/key"])
        let read = try Configuration(json: configuration.json())
        #expect(read == configuration)
        try configuration.set("cloud.kind", to: "anthropic")
        #expect(try values() == ["anthropic", "https://api.anthropic.com", "claude-haiku-4-5", nil])
        #expect(try configuration.value(of: "cloud.firstByteSeconds") == nil)
        #expect(try configuration.value(of: "cloud.shares") == "history,pictures", "it belongs to no kind")
        // An address that is set first stays.
        var other = Configuration()
        try other.set("cloud.url", to: "http://localhost:8080")
        try other.set("cloud.kind", to: "openai")
        #expect(try other.value(of: "cloud.url") == "http://localhost:8080")
    }

    @Test(arguments: [
        "", "[]", "null", "{", "{\"threads\": \"many\"}", "{\"threads\": [1]}", "{\"threads\": true}",
        "{\"threads\": 1.5}", "{\"origins\": []}", "{\"origins\": {\"a\": 1}}",
        "{\"origins\": {\"A b\": \"https://x/\"}}",
        "{\"contextLength\": 1e30}", "{\"cacheType\": 8}", "{\"flashAttention\": false}", "{\"stateFolder\": {}}",
        "{\"stateFolder\": \"a\"}", "\u{0}",
        String(repeating: "[", count: 5000),
        "{\"origins\": {\"a\": \"http://example.org/\"}}", "{\"defaultModel\": {}}",
        "{\"network\": []}", "{\"network\": \"deny\"}", "{\"network\": {\"metered\": true}}",
        "{\"network\": {\"metered\": \"never\"}}", "{\"network\": {\"metered\": {}}}",
    ])
    func brokenFilesAreClearErrors(text: String) async throws {
        let folder = try TemporaryFolder()
        try folder.write("home/config.json", Data(text.utf8))
        let probe = CommandProbe(home: folder.path("home"))
        #expect(await probe.run("config", "list") == 1)
        #expect(probe.errors.contents.contains("[invalid-configuration]"))
        #expect(probe.errors.contents.contains("config.json"))
    }

    @Test(arguments: [("true", true), ("\"true\"", true), ("false", false)])
    func whetherMemoryIsIgnoredIsATruthValue(_ text: String, _ isSet: Bool) throws {
        let configuration = try Configuration(json: Data("{\"ignoreMemory\": \(text)}".utf8))
        #expect(configuration.ignoresMemory == isSet)
        let written = try JSONValue(parsing: configuration.json())
        #expect(written == .object(["ignoreMemory": .boolean(isSet)]))
    }

    @Test(arguments: [("threads", "many"), ("serve", "[1]"), ("network.metered", "perhaps")])
    func anInvalidValueIsNamedAndCorrected(key: String, value: String) async throws {
        let folder = try TemporaryFolder()
        let names = key.split(separator: ".")
        let member = names.count == 2 ? "{\"\(names[1])\": \"\(value)\"}" : "\"\(value)\""
        try folder.write("home/config.json", Data("{\"\(names[0])\": \(member), \"new\": 1}".utf8))
        let key = key == "serve" ? "serve.port" : key
        let probe = CommandProbe(home: folder.path("home"))
        #expect(await probe.run("config", "get", key) == 0)
        #expect(probe.output.contents == value + "\n")
        #expect(probe.errors.contents.contains("[invalid-configuration]"))
        #expect(await probe.run("config", "set", "temperature", "0.5") == 0)
        #expect(await probe.run("config", "get", "temperature") == 0)
        #expect(await probe.run("config", "unset", "temperature") == 0)
        // Records need no settings.
        #expect(await probe.run("notes", "list") == 0)
        #expect(await probe.run("config", "list") == 1)
        #expect(await probe.run("config", "unset", key) == 0)
        #expect(await probe.run("config", "list") == 0)
        let written = try JSONValue(parsing: Data(contentsOf: folder.path("home/config.json").url))
        #expect(written == .object(["new": .integer(1)]))
    }

    @Test func aFreshHomeListsAllSettingsWithTheirDefaults() async throws {
        let folder = try TemporaryFolder()
        let probe = CommandProbe(home: folder.path("home"))
        #expect(await probe.run("config", "list", "--all", "--format", "json") == 0)
        guard case .array(let rows) = try JSONValue(parsing: Data(probe.output.contents.utf8)) else {
            Issue.record("no array")
            return
        }
        #expect(rows.compactMap { $0.members?["key"] } == Configuration.keys.map { .string($0) })
        let port = try required(rows.first { $0.members?["key"] == .string("serve.port") }?.members)
        #expect(port["value"] == .null && port["default"] == .string("4327") && port["type"] == .string("integer"))
        #expect(port["range"] == .object(["minimum": .integer(1), "maximum": .integer(65_535)]))
        for row in rows {
            let names = Set(try required(row.members).keys)
            #expect(names.isSuperset(of: ["key", "value", "default", "type", "unit", "range", "summary"]))
        }
        #expect(await probe.run("config", "--all") == 0)
        for key in Configuration.keys { #expect(probe.output.contents.contains("\n\(key) ")) }
        #expect(!FileManager.default.fileExists(atPath: folder.path("home").string))
    }

    @Test func configAloneLists() async throws {
        let folder = try TemporaryFolder()
        let probe = CommandProbe(home: folder.path("home"))
        #expect(await probe.run("config", "set", "threads", "2") == 0)
        #expect(await probe.run("config") == 0)
        #expect(probe.output.contents == "threads = 2\n")
    }

    @Test func aMistypedKeyGetsTheNearest() async throws {
        let folder = try TemporaryFolder()
        let probe = CommandProbe(home: folder.path("home"))
        #expect(await probe.run("config", "set", "thread", "2") == 1)
        #expect(probe.errors.contents.contains("threads:") && probe.errors.contents.contains("config list --all"))
        #expect(probe.errors.contents.count < 300)
    }

    @Test func aSymbolicLinkStaysOne() async throws {
        let folder = try TemporaryFolder()
        let target = try folder.write("dotfiles/hearth.json", Data("{\"threads\": 2}".utf8))
        try LocalFileSystem().makeFolders(folder.path("home"))
        try LocalFileSystem().makeLink(at: folder.path("home/config.json"), to: "../dotfiles/hearth.json")
        let probe = CommandProbe(home: folder.path("home"))
        #expect(await probe.run("config", "set", "threads", "3") == 0)
        #expect(try LocalFileSystem().readLink(folder.path("home/config.json")) == "../dotfiles/hearth.json")
        #expect(try JSONValue(parsing: Data(contentsOf: target.url)) == .object(["threads": .integer(3)]))
    }

    @Test func aGiantFileIsRefused() async throws {
        let folder = try TemporaryFolder()
        try folder.write("home/config.json", Data(count: Configuration.maximumFileSize + 1))
        #expect(await CommandProbe(home: folder.path("home")).run("config", "list") == 1)
    }

    @Test func settingsOfOtherVersionsSurvive() throws {
        var configuration = try Configuration(
            json: Data(
                #"""
                {"threads": 2, "trustedKeys": ["a", {"b": 1.5}], "new": true, "number": 7,
                 "network": {"metered": "ask", "hosts": ["a"]}}
                """#.utf8))
        try configuration.set("threads", to: "3")
        guard case .object(let object) = try JSONValue(parsing: configuration.json()) else {
            Issue.record("a configuration is an object")
            return
        }
        #expect(object["trustedKeys"] == .array([.string("a"), .object(["b": .number("1.5")])]))
        #expect(object["new"] == .boolean(true))
        #expect(object["number"] == .integer(7))
        #expect(object["threads"] == .integer(3))
        #expect(object["network"] == .object(["metered": .string("ask"), "hosts": .array([.string("a")])]))
    }

    @Test func onlyTheOwnerMayReadTheFile() async throws {
        let folder = try TemporaryFolder()
        try folder.write("home/config.json", Data("{}".utf8))
        let probe = CommandProbe(home: folder.path("home"))
        #expect(await probe.run("config", "set", "threads", "2") == 0)
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path("home/config.json").string)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    }

    @Test func pathsBecomeFileAddresses() throws {
        #expect(try OriginAddress.url("/srv/models.json", field: "x").absoluteString == "file:///srv/models.json")
        #expect(try OriginAddress.url("origin/models.json", field: "x").isFileURL)
    }

    @Test func listingsAreTablesOrJSON() async throws {
        let folder = try TemporaryFolder()
        let probe = CommandProbe(home: folder.path("home"))
        #expect(await probe.run("config", "list") == 0)
        #expect(probe.output.contents.isEmpty)
        _ = await probe.run("config", "set", "threads", "2")
        #expect(await probe.run("config", "list", "--format=json") == 0)
        let list = try JSONDecoder().decode([[String: String]].self, from: Data(probe.output.contents.utf8))
        #expect(list == [["key": "threads", "value": "2"]])
    }
}

@Suite struct HearthHomeTests {
    @Test(arguments: [
        (["HEARTH_HOME": "/a/b/"], "/a/b"), (["HEARTH_HOME": "/b", "HOME": "/h"], "/b"),
        (["XDG_DATA_HOME": "/x", "HOME": "/h"], "/x/hearth"),
        (["XDG_DATA_HOME": "x", "HOME": "/h"], "/h/.local/share/hearth"),
        (["HEARTH_HOME": "", "HOME": "/h"], "/h/.local/share/hearth"),
    ])
    func followsTheEnvironment(environment: [String: String], path: String) throws {
        #expect(try HearthHome.path(environment: environment).string == path)
    }

    @Test func withoutAnyHomeItSaysSo() {
        #expect(throws: ConfigurationError.self) { try HearthHome.path(environment: ["HOME": "nowhere"]) }
    }
}
