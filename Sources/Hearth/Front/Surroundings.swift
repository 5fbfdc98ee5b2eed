import Foundation
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthHTTP
import HearthRouting

/// The parts of a ``Hearth`` besides its home and its settings.
package struct Surroundings: Sendable {
    package var environment = ProcessInfo.processInfo.environment
    package var http: any HTTPClient = DefaultHTTPClient()
    package var time = TimeSource.system
    /// The bytes available to models.
    package var deviceMemory = DeviceMemory.read().usable
    /// The bytes read from memory in a second; `nil` disregards speed. Blocks.
    package var bandwidth: @Sendable () -> Double? = { MemoryBandwidth.measured }
    /// Compared with the `minAppVersion` of a release; `nil` compares nothing.
    package var appVersion: SemanticVersion?
    package var bundled: [BundledSource] = []
    package var engines = EngineRegistry.standard
    package var pressure: any MemoryPressureSource = SystemMemoryPressure()
    /// Whether a signed origin is refused until a person trusts its keys.
    package var asksForRoots = false
    /// Takes the memory needed by a large release before its download, as a sentence.
    package var tellMemory: (@Sendable (String) -> Void)?
    /// Makes the monitor of the network; `nil` for that of ``environment``.
    package var network: (@Sendable () -> any NetworkMonitor)?
    /// Wraps the monitor of the network for downloads.
    package var downloadNetwork: @Sendable (any NetworkMonitor) -> any NetworkMonitor = { $0 }
    package var clouds: CloudModel.Finder = { try CloudModel.find($0, environment: $1) }
    /// Makes the client of the upstreams, which downloads do not slow down.
    package var upstreamClient: @Sendable () -> any HTTPClient = { DefaultHTTPClient() }
    /// The upstreams of an earlier ``Hearth`` of this home, with their requests under way; `nil` for new ones.
    package var upstreams: Upstreams?
    /// The settings that an app gave in place of those of the home.
    var given: Configuration?
    /// The origins that an app gave in addition to those of the settings.
    var origins: [Origin] = []

    package init() {}
}

extension Hearth {
    /// The settings now: those of the disk, unless the app gave others. Blocks.
    /// - Throws: ``ConfigurationError``, `FileError`.
    package func presentSettings() throws -> Configuration {
        var settings = try surroundings.given ?? Configuration.load(home: home)
        for origin in surroundings.origins { settings.use(origin) }
        return settings
    }

    /// The same home under other settings. Both have the same transfers.
    /// - Parameters:
    ///   - variables: take precedence over the environment.
    ///   - tellMemory: takes the memory needed by a large release; `nil` for the same receiver.
    /// - Throws: ``ConfigurationError``, `FileError`.
    package func reopened(
        _ settings: Configuration, adding variables: [String: String] = [:],
        tellMemory: (@Sendable (String) -> Void)? = nil
    ) throws -> Hearth {
        var surroundings = surroundings
        surroundings.environment.merge(variables) { $1 }
        surroundings.tellMemory = tellMemory ?? surroundings.tellMemory
        surroundings.upstreams = upstreams
        return try Hearth(home: home, configuration: settings, surroundings, queue: manager.transfers)
    }

    /// The monitor of the network between the cloud and this device.
    package var network: any NetworkMonitor {
        openNetwork.withLock { open in
            if let open { return open }
            // `pull` reports a wrong word in the environment; an answer does not fail for it.
            let monitor =
                surroundings.network?() ?? (try? NetworkChoice.monitor(environment: surroundings.environment))
                ?? SystemNetwork.monitor()
            open = monitor
            return monitor
        }
    }

    /// The folder of the credits and the last decisions.
    package var routingFolder: Path { home.appending("routing") }
}
