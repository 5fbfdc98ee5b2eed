import Foundation
import HearthBase
import HearthInference
import HearthTestSupport
import Testing

@testable import Hearth

/// The table of settings and what is made of it.
@Suite struct SettingTableTests {
    private static let rows: [Setting] = {
        var configuration = Configuration(origins: ["main": URL(filePath: "/models.json")])
        configuration.roots["main"] = TrustedRoot("/root.json")
        configuration[upstream: "far"].slots = 1
        configuration.aliases["gpt-5.5"] = ["far/big"]
        configuration.contexts["qwen2.5"] = 4096
        return Setting.rows(of: configuration)
    }()

    /// A valid value that is not the default.
    private static func value(of row: Setting) -> String {
        let texts = [
            "cloud.shares": "history,pictures", "library.models": "hf:org/model,hf:org/other",
            "serve.hosts": "box.local", "serve.origins": "https://app.example.org", "defaultModel": "family@1.0.0:q4",
            "visionModel": "family", "cloud.model": "model", "gateway.header": "X-Key", "serve.keepAlive": "always",
            "gateway.files": "https://a.example/x,https://b.example", "trust.main": "/other/root.json",
            "stores.calendar.own": "team,home", "stores.reminders.own": "none", "stores.contacts.own": "personal",
            "upstreams.far.models": "qwen-*,other", "aliases.gpt-5.5": "far/big,mine",
        ]
        if let text = texts[row.key] { return text }
        return switch row.type {
        case .integer: "\(Int(row.range?.upperBound ?? 0))"
        case .number: "0.5"
        case .boolean: row.defaultText == "true" ? "false" : "true"
        case .choice: row.choices?.last { $0 != row.defaultText } ?? ""
        case .path: "/srv/a file"
        case .address: "https://a.example/path"
        case .text, .list: ""
        }
    }

    @Test func aModelCanHaveAContextOfItsOwn() throws {
        let json = #"{"contextLength": 4096, "models": {"qwen2.5.context": 16384, "b.context": 1, "b.colour": "red"}}"#
        let settings = try Configuration(json: Data(json.utf8))
        #expect(settings.contexts == ["qwen2.5": 16_384] && settings.problems.count == 1)
        for (name, length) in [("qwen2.5", 16_384), ("qwen2", 4096), ("b", 4096)] {
            #expect(settings.engine(of: Family(name)).contextLength == length)
        }
        #expect(settings.engine(of: nil).contextLength == 4096)
        #expect(try JSONValue(parsing: settings.json()).members?["models"]?["b.colour"] == .string("red"))
        for key in ["models.Big.context", "models..context", "models.b.length", "models.context"] {
            #expect(throws: ConfigurationError.self) { try Setting.named(key) }
        }
    }

    /// A server goes on with settings that it cannot read, and takes none of them for a permission.
    @Test func invalidValuesAreReplacedCarefully() throws {
        let json = #"""
            {"cloud": {"kind": "gemini", "shares": "non"}, "routing": {"forceLocal": "yes"},
             "approval": {"NOTE_ACTION": "nevr"}, "stores": {"contacts": "of", "notes": "on", "calendar.own": "../x"}}
            """#
        let settings = try Configuration(json: Data(json.utf8)).replacingInvalidCarefully()
        #expect(settings.cloud.kind == nil && settings.forceLocal && settings.problems.isEmpty)
        #expect(try settings.value(of: "approval.NOTE_ACTION") == "never")
        #expect(try settings.value(of: "stores.contacts") == "off")
        #expect(try settings.value(of: "stores.notes") == "on")
        #expect(try settings.value(of: "stores.calendar.own") == "none")
    }

    @Test(arguments: rows.map(\.key)) func eachSettingIsSetReadAndReset(key: String) throws {
        let row = try Setting.named(key)
        let value = Self.value(of: row)
        var configuration = Configuration()
        #expect(try configuration.value(of: key) == nil)
        try configuration.set(key, to: value)
        #expect(try configuration.value(of: key) == value)
        #expect(configuration.entries.map(\.key) == [key] && configuration.entries.map(\.value) == [value])
        let read = try Configuration(json: configuration.json())
        #expect(read == configuration && read.problems.isEmpty)
        try configuration.set(key, to: nil)
        #expect(configuration == Configuration())
        #expect(try JSONValue(parsing: configuration.json()) == .object([:]))
    }

    /// The default of a row is what holds without a setting.
    @Test(arguments: rows.map(\.key)) func eachDefaultIsThatOfTheConfiguration(key: String) throws {
        let row = try Setting.named(key)
        #expect(row.read(Configuration()) == nil)
        guard let text = row.defaultText else {
            return #expect(row.note != nil || row.key.hasSuffix(".main") || row.key.hasPrefix("aliases."))
        }
        var configuration = Configuration()
        try configuration.set(key, to: text)
        // A value that is set stays set, also to the default.
        #expect(try configuration.value(of: key) == text)
        #expect(try Configuration(json: configuration.json()) == configuration)
        #expect(
            GenerationOptions(configuration: configuration) == GenerationOptions(configuration: Configuration()))
        #expect(configuration.server.port == ServerConfiguration().port)
        try configuration.set(key, to: nil)
        #expect(configuration == Configuration())
    }

    @Test func everyRowIsComplete() {
        #expect(Set(Setting.keys).count == Setting.keys.count && Setting.keys.count == 73)
        for row in Setting.table {
            #expect(row.summary.hasSuffix(".") && !row.summary.dropLast().contains(". "), "\(row.key)")
            #expect(!row.values.isEmpty && row.type != .choice || row.choices != nil, "\(row.key)")
            for choice in row.choices ?? [] {
                var configuration = Configuration()
                #expect(throws: Never.self) { try row.write(&configuration, choice) }
            }
            guard row.type == .integer, let range = row.range else { continue }
            var configuration = Configuration()
            for good in [range.lowerBound, range.upperBound] {
                #expect(throws: Never.self) { try row.write(&configuration, "\(Int(good))") }
            }
            for bad in [range.lowerBound - 1, range.upperBound + 1] {
                #expect(throws: ConfigurationError.self) { try row.write(&configuration, "\(Int(bad))") }
            }
        }
    }

    @Test(arguments: [
        ("temprature", "temperature"), ("serve.prot", "serve.port"), ("DefaultModel", "defaultModel"),
        ("origin.main", "origins.NAME"), ("approval.NOTE", "approval.NOTE_ACTION"), ("stores.mail", "stores."),
    ])
    func aMistypedKeyGetsTheNearest(key: String, near: String) throws {
        let error = #expect(throws: ConfigurationError.self) { _ = try Setting.named(key) }
        #expect(error?.code == .unknownKey)
        let remedy = try required(error?.context.remedy)
        #expect(remedy.contains(near) && (1...3).contains(remedy.split(separator: ",").count), "\(remedy)")
    }

    @Test func upstreamsAndAliasesHaveNamesOfTheirOwn() throws {
        let json = #"""
            {"upstreams": {"vllm.kind": "openai", "vllm.url": "http://127.0.0.1:8000", "my.box.kind": "gemini",
                "bad.kind": "openai", "bad.url": "http://10.0.0.1/", "Big.kind": "openai", "vllm.colour": "red"},
             "aliases": {"gpt-5.5": "vllm/qwen, mine", "org/Model:tag": "mine", "a b": "mine", "empty": " , "}}
            """#
        let settings = try Configuration(json: Data(json.utf8))
        #expect(settings.aliases == ["gpt-5.5": ["vllm/qwen", "mine"], "org/Model:tag": ["mine"]])
        #expect(
            settings.problems.map(\.context.field)
                == ["aliases.a b", "aliases.empty", "upstreams.Big.kind", "upstreams.bad.url"])
        // One with an invalid address is not sent to the vendor.
        let usable = settings.usableUpstreams(environment: ["HEARTH_UPSTREAM_MY_BOX_KEY": "k"])
        #expect(usable.map(\.name) == ["my.box", "vllm"] && usable.map(\.kind) == [.gemini, .openai])
        #expect(usable[0].key.variable == "HEARTH_UPSTREAM_MY_BOX_KEY")
        #expect(settings.replacingInvalidCarefully().upstreams.keys.sorted() == ["my.box", "vllm"])
        #expect(
            try JSONValue(parsing: settings.json()).members?["upstreams"]?["vllm.colour"] == .string("red"))
        var local = settings
        local.forceLocal = true
        #expect(local.usableUpstreams(environment: [:]).isEmpty)
        var moved = settings
        try moved.set("upstreams.vllm.keyFile", to: "/k")
        try moved.set("upstreams.vllm.url", to: "https://other.example")
        #expect(try moved.value(of: "upstreams.vllm.keyFile") == nil)
        // Also from the vendor's address, and with the kind.
        for (key, value) in [("upstreams.my.box.url", "https://other.example"), ("upstreams.my.box.kind", "anthropic")]
        {
            var other = settings
            try other.set("upstreams.my.box.keyFile", to: "/k")
            try other.set(key, to: value)
            #expect(try other.value(of: "upstreams.my.box.keyFile") == nil, "\(key)")
        }
        for key in ["upstreams.vllm.colour", "upstreams.kind", "upstreams.", "aliases."] {
            #expect(throws: ConfigurationError.self) { try moved.set(key, to: "x") }
        }
    }

    @Test func unknownMembersStay() throws {
        let text = #"""
            {"threads": 2, "a": {"b": [1.50, null]}, "serve": {"port": 5000, "new": {"x": 1}}, "none": null,
             "chat": {"showThinking": null, "colour": "red"}, "approval": {"ROBOT": "always"}}
            """#
        var configuration = try Configuration(json: Data(text.utf8))
        #expect(configuration.entries.map(\.key) == ["threads", "serve.port"])
        try configuration.set("serve.port", to: nil)
        try configuration.set("threads", to: "3")
        let members = try required(try JSONValue(parsing: configuration.json()).members)
        #expect(members["a"] == .object(["b": .array([.number("1.50"), .null])]))
        #expect(members["serve"] == .object(["new": .object(["x": .integer(1)])]))
        #expect(members["chat"] == .object(["colour": .string("red")]))
        #expect(members["approval"] == .object(["ROBOT": .string("always")]))
        #expect(members["threads"] == .integer(3) && members["none"] == .null)
    }

    /// Members of a file, the invalid keys that they have, and the part that these stop.
    @Test(
        arguments: [
            (#"{"threads": "many"}"#, "threads", .engines), (#"{"threads": [1]}"#, "threads", .engines),
            (#"{"temperature": {}}"#, "temperature", .answers), (#"{"serve": {"port": 99999}}"#, "serve.port", .server),
            (#"{"serve": {"slots": 0}}"#, "serve.slots", .engines), (#"{"serve": []}"#, "serve", .server),
            (#"{"origins": {"A b": "https://x.example/"}}"#, "origins.A b", .sources),
            (#"{"origins": {"a": 1}}"#, "origins.a", .sources), (#"{"trust": "x"}"#, "trust", .sources),
            (#"{"approval": {"NOTE_ACTION": "perhaps"}}"#, "approval.NOTE_ACTION", .assistant),
            (#"{"cloud": {"kind": 7}}"#, "cloud.kind", .cloud),
            (#"{"routing": {"forceLocal": "no"}}"#, "routing.forceLocal", .cloud),
            (#"{"defaultModel": {}}"#, "defaultModel", .models),
        ] as [(String, String, Setting.Part)])
    func anInvalidValueStopsOnlyItsPart(text: String, key: String, part: Setting.Part) throws {
        var configuration = try Configuration(
            json: Data(text.dropLast().utf8) + Data(#", "chat": {"showThinking": false}}"#.utf8))
        #expect(configuration.problems.map(\.context.field) == [key])
        #expect(configuration.entries.map(\.key) == ["chat.showThinking"])
        let others: [Setting.Part] = [.sources, .models, .answers, .engines, .cloud, .assistant, .server]
        for other in others where other != part && key != "serve" {
            #expect(throws: Never.self) { try configuration.require(other) }
        }
        let error = #expect(throws: ConfigurationError.self) { try configuration.require(part) }
        #expect(error?.code == .invalid && error?.context.field == key)
        // Other settings change, and the value stays until it is corrected.
        try configuration.set("library.models", to: "hf:org/model")
        let again = try Configuration(json: configuration.json())
        #expect(again.problems.map(\.context.field) == [key])
        try configuration.set(
            key.contains(".") || key == "threads" || key == "temperature" || key == "defaultModel"
                ? key : "\(key).NAME", to: nil)
        #expect(configuration.problems.isEmpty)
        #expect(try Configuration(json: configuration.json()).problems.isEmpty)
    }

    @Test func aValidValueReplacesAnInvalidOne() throws {
        var configuration = try Configuration(json: Data(#"{"threads": "many", "network": "x"}"#.utf8))
        try configuration.set("threads", to: "2")
        try configuration.set("network.metered", to: "deny")
        #expect(configuration.problems.isEmpty)
        let read = try Configuration(json: configuration.json())
        #expect(read.threads == 2 && read.meteredUse == .deny)
        var running = Configuration()
        running.threads = 3
        let next = try Configuration(json: Data(#"{"threads": "x", "temperature": 1}"#.utf8))
            .replacingInvalid(with: running)
        #expect(next.threads == 3 && next.temperature == 1 && next.problems.isEmpty)
    }
}
