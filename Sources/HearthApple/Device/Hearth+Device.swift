import Foundation
import Hearth
import HearthBase
import HearthDelivery
import HearthHTTP

extension Hearth {
    /// The models in a home folder, under the policy of this device: memory warnings unload models without work, and
    /// downloads that no person asked for wait while the device saves power or cools down.
    /// - Parameters: as of `Hearth.init(origins:home:configuration:appVersion:bundled:engines:)`.
    /// - Throws: `ConfigurationError`, `FileError`.
    public convenience init(
        watching watch: DeviceWatch, origins: [Origin] = [], home: URL? = nil, configuration: Configuration? = nil,
        appVersion: SemanticVersion? = nil, bundled: [BundledSource] = [], engines: EngineRegistry = .standard
    ) throws {
        try self.init(
            origins: origins, home: home, configuration: configuration, appVersion: appVersion, bundled: bundled,
            engines: engines
        ) { surroundings in
            surroundings.pressure = watch
            if let total = watch.read().totalBytes { surroundings.deviceMemory = total }
            surroundings.downloadNetwork = { PolicyNetwork($0, watch: watch) }
        }
    }
}
