import Foundation
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthHTTP
import HearthInference

/// The settings of a home, stored in `config.json`, which only its owner can access.
///
/// ```json
/// { "origins": { "main": "https://models.example.org/models.json" },
///   "defaultModel": "smollm2-135m-instruct", "contextLength": 4096, "threads": 3, "network": { "metered": "deny" } }
/// ```
/// Unknown settings of other versions are preserved when the file is written.
public struct Configuration: Sendable, Hashable {
    /// The origins: addresses of `models.json` files by a name that the user chooses.
    public var origins: [String: URL] = [:]
    /// The trusted roots of signed origins, by the names of the origins.
    package var roots: [String: TrustedRoot] = [:]
    /// The default model of `chat`: `family[@version][:variant]`.
    public var defaultModel: String?
    /// The model that answers questions with pictures, if the default one cannot see: `family[@version][:variant]`.
    public var visionModel: String?
    /// The context window in tokens; `nil` for the model's own, limited by the engine.
    public var contextLength: Int?
    /// The type of keys and values in the cache; `nil` for `f16`, or `q8_0` if only that fits.
    public var cacheType: CacheType?
    /// Whether to use flash attention; `nil` lets llama.cpp decide.
    public var flashAttention: FlashAttention?
    /// Whether to load models that need more memory than the device has, without reducing them.
    public var ignoresMemory = false
    /// The minimum and maximum tokens of a picture; `nil` for the projector's own.
    public var imageMinTokens: Int?
    public var imageMaxTokens: Int?
    /// The folder for computed states of conversations, in files only their owner can access; they contain what was
    /// said. `nil` keeps some in memory while the model is loaded.
    public var stateFolder: Path?
    /// The number of compute threads; `nil` lets the engine decide.
    public var threads: Int?
    /// The maximum tokens of an answer; `nil` for the package's default.
    public var maximumNewTokens: Int?
    /// The sampling temperature; `nil` for the package's default.
    public var temperature: Float?
    /// What to do on metered networks; `nil` asks if a user can be asked, and refuses otherwise.
    public var meteredUse: MeteredUse?
    /// Whether local models answer everything, also where a cloud is set up.
    public var forceLocal = false
    /// The tier that includes the cloud or not, if no app's purchases say: `free`, `starter` or `pro`.
    public var tier: String?
    /// The messages to the cloud in each month; `nil` if they are not counted.
    public var credits: Int?
    /// The cloud model.
    package private(set) var cloud = CloudConfiguration()
    /// The assistant.
    package private(set) var assistant = AssistantConfiguration()
    /// The lists of models.
    package private(set) var library = LibraryConfiguration()
    /// The resident process.
    package private(set) var server = ServerConfiguration()
    /// The service that gives out addresses of files.
    package private(set) var gateway = GatewayConfiguration()
    private var others: [String: JSONValue] = [:]
    /// Unknown settings of the sections, by section.
    private var otherSections: [String: [String: JSONValue]] = [:]
    /// The objects of settings in the file; `network` holds `network.metered`.
    private static let sections =
        ["network", "routing", "entitlement", "cloud", "library", "serve", "gateway"] + AssistantConfiguration.sections

    /// The maximum size of a configuration file in bytes.
    public static let maximumFileSize = 1 << 20

    /// Settings with these origins only: the address of a `models.json` by name.
    public init(origins: [String: URL] = [:]) { self.origins = origins }

    /// Parses a `config.json`.
    /// - Throws: ``ConfigurationError`` with `invalid-configuration`, naming the setting.
    public init(json data: Data) throws {
        let document: JSONValue
        do {
            document = try JSONValue(parsing: data)
        } catch {
            throw ConfigurationError(.invalid, "the configuration is not a JSON object", underlying: error)
        }
        guard case .object(let object) = document else {
            throw ConfigurationError(.invalid, "the configuration is not a JSON object")
        }
        for (key, value) in object {
            switch (key, value) {
            case (_, .null): continue
            case ("origins", .object(let entries)), ("trust", .object(let entries)):
                for (name, url) in entries {
                    guard case .string(let text) = url else {
                        throw ConfigurationError.invalid(
                            "\(key).\(name)", key == "origins" ? "an address" : "a path or a fingerprint",
                            found: url.shown)
                    }
                    try set("\(key).\(name)", to: text)
                }
            case (_, .object(let entries)) where Self.sections.contains(key):
                for (name, value) in entries { try set(section: key, name, to: value) }
            case (_, _) where Self.sections.contains(key):
                throw ConfigurationError.invalid(key, "an object of settings", found: value.shown)
            case ("origins", _): throw ConfigurationError.invalid(key, "an object of addresses", found: value.shown)
            case ("trust", _): throw ConfigurationError.invalid(key, "an object of roots", found: value.shown)
            case (_, .string(let text)) where Self.keys.contains(key): try set(key, to: text)
            case (_, .number):
                if Self.keys.contains(key) { try set(key, to: value.shown) } else { others[key] = value }
            case (_, .boolean(let flag)) where Self.keys.contains(key): try set(key, to: "\(flag)")
            case (_, _) where Self.keys.contains(key):
                throw ConfigurationError.invalid(key, "a text or a number", found: value.shown)
            default: others[key] = value
            }
        }
    }

    /// Sets one setting of a section of the file.
    private mutating func set(section: String, _ name: String, to value: JSONValue) throws {
        let key = "\(section).\(name)"
        guard Self.keys.contains(key) else {
            otherSections[section, default: [:]][name] = value
            return
        }
        switch value {
        case .null: break
        case .string, .number, .boolean: try set(key, to: value.shown)
        case .array, .object: throw ConfigurationError.invalid(key, "a text or a number", found: value.shown)
        }
    }

    /// Encodes a `config.json`.
    public func json() -> Data {
        var object = others
        if !origins.isEmpty { object["origins"] = .object(origins.mapValues { .string($0.absoluteString) }) }
        if !roots.isEmpty { object["trust"] = .object(roots.mapValues { .string($0.text) }) }
        var sections = otherSections
        sections["network", default: [:]]["metered"] = meteredUse.map { .string($0.rawValue) }
        if forceLocal { sections["routing", default: [:]]["forceLocal"] = .boolean(true) }
        sections["entitlement", default: [:]]["tier"] = tier.map { .string($0) }
        sections["entitlement", default: [:]]["credits"] = credits.map { .integer($0) }
        sections["cloud", default: [:]].merge(cloud.section) { $1 }
        sections.merge(assistant.values) { $0.merging($1) { $1 } }
        sections["library", default: [:]].merge(library.section) { $1 }
        sections["serve", default: [:]].merge(server.section) { $1 }
        sections["gateway", default: [:]].merge(gateway.section) { $1 }
        for (name, settings) in sections where !settings.isEmpty { object[name] = .object(settings) }
        object["defaultModel"] = defaultModel.map { .string($0) }
        object["visionModel"] = visionModel.map { .string($0) }
        object["contextLength"] = contextLength.map { .integer($0) }
        object["cacheType"] = cacheType.map { .string($0.rawValue) }
        object["flashAttention"] = flashAttention.map { .string($0.rawValue) }
        if ignoresMemory { object["ignoreMemory"] = .boolean(true) }
        object["imageMinTokens"] = imageMinTokens.map { .integer($0) }
        object["imageMaxTokens"] = imageMaxTokens.map { .integer($0) }
        object["stateFolder"] = stateFolder.map { .string($0.string) }
        object["threads"] = threads.map { .integer($0) }
        object["maximumNewTokens"] = maximumNewTokens.map { .integer($0) }
        object["temperature"] = temperature.map { .number("\((Double($0) * 1e4).rounded() / 1e4)") }
        return JSONValue.object(object).data
    }
}

// MARK: - Settings by name

extension Configuration {
    /// The names of settings, for help texts and messages.
    public static let keys =
        [
            "origins.NAME", "trust.NAME", "defaultModel", "visionModel", "contextLength", "cacheType", "flashAttention",
            "threads", "maximumNewTokens",
            "temperature", "imageMinTokens", "imageMaxTokens", "stateFolder", "ignoreMemory", "network.metered",
            "routing.forceLocal", "entitlement.tier", "entitlement.credits",
        ] + CloudConfiguration.keys + AssistantConfiguration.keys + LibraryConfiguration.keys + ServerConfiguration.keys
        + GatewayConfiguration.keys

    /// All settings with a value, in order.
    public var entries: [(key: String, value: String)] {
        let origins = origins.sorted { $0.key < $1.key }.map {
            (key: "origins.\($0.key)", value: $0.value.absoluteString)
        }
        let roots = roots.sorted { $0.key < $1.key }.map { (key: "trust.\($0.key)", value: $0.value.text) }
        let others = Self.keys.dropFirst(2).compactMap { key in
            // Only unknown keys throw, and listed keys are known.
            ((try? value(of: key)) ?? nil).map { (key: key, value: $0) }
        }
        return origins + roots + others
    }

    /// The value of a setting as text, `nil` without one.
    /// - Throws: ``ConfigurationError`` with `unknown-setting`.
    public func value(of key: String) throws -> String? {
        if let name = try Self.originName(key) { return origins[name]?.absoluteString }
        if let name = try Self.originName(key, after: "trust.") { return roots[name]?.text }
        switch key {
        case "defaultModel": return defaultModel
        case "visionModel": return visionModel
        case "contextLength": return contextLength.map(String.init)
        case "cacheType": return cacheType?.rawValue
        case "flashAttention": return flashAttention?.rawValue
        case "imageMinTokens": return imageMinTokens.map(String.init)
        case "imageMaxTokens": return imageMaxTokens.map(String.init)
        case "stateFolder": return stateFolder?.string
        case "ignoreMemory": return ignoresMemory ? "true" : nil
        case "threads": return threads.map(String.init)
        case "maximumNewTokens": return maximumNewTokens.map(String.init)
        case "temperature": return temperature.map { "\($0)" }
        case "network.metered": return meteredUse?.rawValue
        case "routing.forceLocal": return forceLocal ? "true" : nil
        case "entitlement.tier": return tier
        case "entitlement.credits": return credits.map(String.init)
        case _ where CloudConfiguration.keys.contains(key): return cloud.value(of: key)
        case _ where AssistantConfiguration.keys.contains(key): return assistant.value(of: key)
        case _ where LibraryConfiguration.keys.contains(key): return library.value(of: key)
        case _ where ServerConfiguration.keys.contains(key): return server.value(of: key)
        case _ where GatewayConfiguration.keys.contains(key): return gateway.value(of: key)
        default: throw ConfigurationError.unknownKey(key)
        }
    }

    /// Checks and sets a value; `nil` removes the setting.
    /// - Throws: ``ConfigurationError`` with `unknown-setting` or `invalid-configuration`.
    public mutating func set(_ key: String, to text: String?) throws {
        if let name = try Self.originName(key) {
            origins[name] = try text.map { try OriginAddress.url($0, field: key) }
            return
        }
        if let name = try Self.originName(key, after: "trust.") {
            roots[name] = try text.map { try TrustedRoot($0, field: key) }
            return
        }
        switch key {
        case "defaultModel": defaultModel = try text.map { try Self.model($0, key) }
        case "visionModel": visionModel = try text.map { try Self.model($0, key) }
        case "contextLength": contextLength = try text.map { try Self.integer($0, 64...1_048_576, key) }
        case "cacheType": cacheType = try text.map { try Self.word($0, key) }
        case "flashAttention": flashAttention = try text.map { try Self.word($0, key) }
        case "imageMinTokens": imageMinTokens = try text.map { try Self.integer($0, ImageTokens.range, key) }
        case "imageMaxTokens": imageMaxTokens = try text.map { try Self.integer($0, ImageTokens.range, key) }
        case "stateFolder":
            stateFolder = try text.map { text in
                guard text.hasPrefix("/"), text.utf8.count < 4096, !text.utf8.contains(0) else {
                    throw ConfigurationError.invalid(key, "an absolute path", found: text)
                }
                return Path(text)
            }
        case "ignoreMemory": ignoresMemory = try Self.flag(text, key)
        case "threads": threads = try text.map { try Self.integer($0, 1...1024, key) }
        case "maximumNewTokens": maximumNewTokens = try text.map { try Self.integer($0, 1...1_048_576, key) }
        case "temperature":
            temperature = try text.map { text in
                guard let value = Float(text), (0...5).contains(value) else {
                    throw ConfigurationError.invalid(key, "a number from 0 to 5", found: text)
                }
                return value
            }
        case "network.metered":
            meteredUse = try text.map { try Self.word($0, key) }
        case "routing.forceLocal": forceLocal = try Self.flag(text, key)
        case "entitlement.tier":
            let names = ["free", "starter", "pro"]
            if let text, !names.contains(text) {
                throw ConfigurationError.invalid(key, "one of \(names.joined(separator: ", "))", found: text)
            }
            tier = text
        case "entitlement.credits": credits = try text.map { try Self.integer($0, 0...1_000_000, key) }
        case _ where CloudConfiguration.keys.contains(key): try cloud.set(key, to: text)
        case _ where AssistantConfiguration.keys.contains(key): try assistant.set(key, to: text)
        case _ where LibraryConfiguration.keys.contains(key): try library.set(key, to: text)
        case _ where ServerConfiguration.keys.contains(key): try server.set(key, to: text)
        case _ where GatewayConfiguration.keys.contains(key): try gateway.set(key, to: text)
        default: throw ConfigurationError.unknownKey(key)
        }
    }
}
