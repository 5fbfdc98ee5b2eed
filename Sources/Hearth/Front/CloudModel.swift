import Foundation
import HearthBase
import HearthInference
import HearthRouting

/// The cloud model of the settings.
package struct CloudModel: Sendable {
    /// Finds the cloud model of settings and environment. Blocks.
    package typealias Finder = @Sendable (Configuration, [String: String]) throws -> CloudModel?

    package let engine: any RemoteEngine
    /// The model's name for people.
    package let name: String
    /// Whether the user's own key pays, so that no credits are counted.
    package let hasOwnKey: Bool

    package init(engine: any RemoteEngine, name: String, hasOwnKey: Bool) {
        self.engine = engine
        self.name = name
        self.hasOwnKey = hasOwnKey
    }

    /// The cloud model that the settings `cloud.*` name; `nil` without one. Blocks.
    /// - Throws: `LLMError` with `cloud-key-unusable`, `HTTPError` with `unsupported-url`, `ConfigurationError`.
    package static func find(_ configuration: Configuration, environment: [String: String]) throws -> CloudModel? {
        try configuration.require(.cloud)
        let cloud = configuration.cloud
        guard let kind = cloud.kind else { return nil }
        var settings = try CloudSettings(
            kind, url: cloud.url, model: cloud.model,
            secret: CloudKey.find(kind, environment: environment, file: cloud.keyFile))
        if let seconds = cloud.firstByteSeconds { settings.firstByteTimeout = .seconds(seconds) }
        settings.shares = cloud.shares
        return CloudModel(CloudEngine(settings))
    }

    /// The model of an engine.
    init(_ engine: CloudEngine) {
        self.init(
            engine: engine, name: engine.settings.model, hasOwnKey: engine.settings.kind != .geminiRelay)
    }
}

extension PremiumManager {
    /// The rights of the settings for a cloud model.
    /// - Parameter folder: the folder of the credits and the last decisions.
    package convenience init(_ configuration: Configuration, for cloud: CloudModel?, folder: Path, time: TimeSource) {
        let rights = Entitlement(
            tier: configuration.tier, credits: configuration.credits, hasOwnKey: cloud?.hasOwnKey ?? false)
        self.init(rights, folder: folder, time: time)
    }
}
