import Foundation
import Hearth
import HearthBase

enum SettingKind: String, SchemaWord { case text, integer, number, boolean, choice, list, path, address }

/// A setting with its value. The value is text; of an unset one `nil`.
struct SettingBody: Codable, Sendable, Hashable {
    var key: String
    var section: String
    var type: SettingKind
    var value: String?
    var choices: [String]?
    var minimum: Double?
    var maximum: Double?
    var unit: String?
    var usual: String?
    /// Whether a change opens the models anew.
    var reopensModels: Bool
}

struct SettingsBody: Codable, Sendable, Hashable {
    var settings: [SettingBody]
    var event: String
}

/// The kind of each setting, for forms.
struct SettingKinds {
    private struct Facts {
        var type = SettingKind.text
        var choices: [String]?
        var range: ClosedRange<Double>?
        var unit: String?
        var usual: String?
    }

    /// The settings of a configuration: every known one, and each origin.
    static func bodies(_ configuration: Configuration) -> [SettingBody] {
        let origins = configuration.origins.keys.sorted().map { "origins.\($0)" }
        return (origins + Configuration.keys.filter { $0 != "origins.NAME" }).map { body($0, configuration) }
    }

    static func body(_ key: String, _ configuration: Configuration) -> SettingBody {
        let facts = facts(key)
        // Listed settings are known, and only unknown ones throw.
        let value = (try? configuration.value(of: key)) ?? nil
        let section = key.split(separator: ".").first.map(String.init) ?? ""
        return SettingBody(
            key: key, section: key.contains(".") ? section : "model", type: facts.type,
            value: value.map { facts.type == .address ? shown($0) : $0 }, choices: facts.choices,
            minimum: facts.range?.lowerBound, maximum: facts.range?.upperBound, unit: facts.unit,
            usual: facts.usual, reopensModels: Configuration.shapesEngines(key))
    }

    /// An address without what may be secret: user, password and query.
    private static func shown(_ text: String) -> String {
        URL(string: text)?.withoutSecrets?.absoluteString ?? ""
    }

    private static func choice(_ words: String...) -> Facts { Facts(type: .choice, choices: words) }

    private static func integer(_ range: ClosedRange<Double>, _ unit: String? = nil, usual: String? = nil) -> Facts {
        Facts(type: .integer, range: range, unit: unit, usual: usual)
    }

    private static func flag(_ usual: Bool = false) -> Facts { Facts(type: .boolean, usual: "\(usual)") }

    private static func facts(_ key: String) -> Facts {
        switch key {
        case _ where key.hasPrefix("origins."), "cloud.url", "search.url", "gateway.url":
            return Facts(type: .address)
        case _ where key.hasPrefix("approval."):
            var facts = choice("ask", "always", "never")
            facts.usual = "ask"
            return facts
        case _ where key.hasPrefix("stores."):
            var facts = choice("on", "off")
            facts.usual = "on"
            return facts
        case "contextLength": return integer(64...1_048_576, "tokens")
        case "cacheType": return choice("f16", "q8_0", "q4_0")
        case "flashAttention": return choice("auto", "on", "off")
        case "threads": return integer(1...1024)
        case "maximumNewTokens": return integer(1...1_048_576, "tokens")
        case "temperature": return Facts(type: .number, range: 0...5)
        case "imageMinTokens", "imageMaxTokens": return integer(1...1_048_576, "tokens")
        case "stateFolder", "cloud.keyFile", "search.keyFile", "gateway.keyFile": return Facts(type: .path)
        case "ignoreMemory", "routing.forceLocal", "serve.anyModel": return flag()
        case "chat.showThinking": return flag(true)
        case "network.metered": return choice("allow", "ask", "deny")
        case "entitlement.tier": return choice("free", "starter", "pro")
        case "entitlement.credits": return integer(0...1_000_000, "messages a month")
        case "cloud.kind": return choice("openai", "gemini", "gemini-relay", "anthropic")
        case "cloud.firstByteSeconds": return integer(1...600, "seconds")
        case "cloud.shares", "library.models", "serve.hosts", "serve.origins", "gateway.files":
            return Facts(type: .list)
        case "search.kind": return choice("searxng", "own")
        case "serve.port": return integer(1...65_535, usual: "4327")
        case "serve.slots": return integer(1...64)
        case "serve.cells": return integer(64...16_777_216, "tokens")
        case "serve.seed": return integer(0...4_294_967_294)
        case "serve.keepAlive": return Facts(unit: "seconds, or always", usual: "300")
        default: return Facts()
        }
    }
}
