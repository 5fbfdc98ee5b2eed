import Foundation
import Hearth
import HearthBase
import HearthInference
import HearthRouting

/// The cloud model of the settings.
struct CloudChoice: Sendable {
    let engine: any RemoteEngine
    /// The model's name for people.
    let name: String
    /// Whether the user's own key pays, so that no credits are counted.
    let hasOwnKey: Bool

    /// The cloud model that the settings `cloud.*` name; `nil` without one. Blocks.
    /// - Throws: `LLMError` with `cloud-key-unusable`, `HTTPError` with `unsupported-url`, `ConfigurationError`.
    static func find(_ configuration: Configuration, environment: [String: String]) throws -> CloudChoice? {
        guard let kind = try configuration.setting("cloud.kind").flatMap(CloudKind.init(rawValue:)) else { return nil }
        let file = try configuration.setting("cloud.keyFile").map { Path($0) }
        var settings = try CloudSettings(
            kind, url: configuration.setting("cloud.url").flatMap { URL(string: $0) },
            model: configuration.setting("cloud.model"),
            secret: CloudKey.find(kind, environment: environment, file: file))
        if let seconds = try configuration.setting("cloud.firstByteSeconds").flatMap({ Int($0) }) {
            settings.firstByteTimeout = .seconds(seconds)
        }
        if let shares = try configuration.setting("cloud.shares").flatMap(CloudShares.init) { settings.shares = shares }
        return CloudChoice(
            engine: CloudEngine(settings), name: settings.model, hasOwnKey: kind != .geminiRelay)
    }

    /// The user's rights for this cloud.
    func premium(_ configuration: Configuration, folder: Path, time: TimeSource) -> PremiumManager {
        let rights = ConfiguredEntitlement(
            tier: configuration.tier, credits: configuration.credits, hasOwnKey: hasOwnKey)
        return PremiumManager(rights.entitlement, folder: folder, time: time)
    }
}

extension Configuration {
    /// The value of a setting; `nil` also for one that this version does not have.
    fileprivate func setting(_ key: String) throws -> String? {
        Self.keys.contains(key) ? try value(of: key) : nil
    }
}

extension CommandContext {
    /// The cloud model of the settings.
    func cloud(_ configuration: Configuration) async throws -> CloudChoice? {
        try await blocking { [clouds, environment] in try clouds(configuration, environment) }
    }

    /// The folder of the credits and the last decisions.
    var routingFolder: Path { get throws { try home.appending("routing") } }
}
