import Foundation
import HearthBase
import HearthDelivery
import HearthHTTP

extension ModelManager {
    /// The manager of an app that runs its models: everything joined.
    ///
    /// ```swift
    /// let manager = try ModelManager(home: try HearthHome.path(), configuration: Configuration(origins: ["main": manifest]))
    /// ```
    /// Releases are refused before they are fetched where the engines of this build could not load them, prepared for this
    /// device, and tried before they become live. `HEARTH_ORIGIN` takes the place of the configured origins, `HEARTH_NETWORK` that
    /// of the system's network monitor; `HF_ENDPOINT`, `HF_TOKEN` and the Hub's own cache folder are those of its client.
    ///
    /// - Parameters:
    ///   - home: the folder of everything; made when first needed.
    ///   - configuration: the origins, and how models are loaded.
    ///   - environment: what the user says; empty for an app that listens to none of it.
    ///   - http: the transport.
    ///   - time: the clock.
    ///   - deviceMemory: the bytes a model may count on.
    ///   - appVersion: compared with a release's `minAppVersion`; `nil` compares nothing.
    ///   - provider: makes time-limited addresses of those in the catalog; `nil` uses them as they are.
    ///   - bundled: folders of models that came with the app.
    ///   - formats: the formats there is an engine for; an app with one of its own, such as for Core ML, adds that. `nil` for any.
    ///   - tellMemory: told before a large release is fetched what it will take, as a sentence for people; `nil` logs it.
    /// - Throws: ``ConfigurationError`` when one of them cannot be used; an `HF_ENDPOINT` that is no address fails what is wanted of
    ///   the Hub, and nothing else.
    public init(
        home: Path, configuration: Configuration,
        environment: [String: String] = ProcessInfo.processInfo.environment,
        http: any HTTPClient = DefaultHTTPClient(), time: TimeSource = .system,
        deviceMemory: UInt64 = DeviceMemory.read().usable, appVersion: SemanticVersion? = nil,
        provider: (any DownloadURLProvider)? = nil, bundled: [BundledSource] = [],
        formats: Set<ModelFormat>? = EngineOpening.formats, tellMemory: (@Sendable (String) -> Void)? = nil
    ) throws {
        var preflight = MemoryPreflight(configuration: configuration, deviceMemory: deviceMemory)
        if let tellMemory { preflight.tell = tellMemory }
        self.init(
            home: home, origins: try configuration.origins(environment: environment), http: http, time: time,
            network: try NetworkChoice.monitor(environment: environment), deviceMemory: deviceMemory,
            ignoresMemory: configuration.ignoresMemory, appVersion: appVersion, provider: provider, formats: formats,
            bundled: bundled,
            hub: HubSettings.read(environment),
            // Who insists gets models as they came.
            preparer: EngineOpening.preparer(deviceMemory: configuration.ignoresMemory ? .max : deviceMemory),
            probe: EngineReleaseProbe(configuration: configuration, deviceMemory: deviceMemory),
            preflight: preflight)
    }
}

extension HubSettings {
    /// What the environment says, or why it says nothing that can be used.
    static func read(_ environment: [String: String]) -> Result<HubSettings, CatalogError> {
        do {
            return .success(try HubSettings(environment: environment))
        } catch {
            return .failure(
                error as? CatalogError ?? CatalogError(.badEndpoint, "HF_ENDPOINT cannot be used", underlying: error))
        }
    }
}

extension Configuration {
    /// Where models come from, in the order of their names.
    /// - Throws: ``ConfigurationError`` when `HEARTH_ORIGIN` is no address.
    public func origins(environment: [String: String]) throws -> [Origin] {
        if let text = environment["HEARTH_ORIGIN"], !text.isEmpty {
            // The name is no family's, so that a manifest without one is named after its file.
            return [
                Origin(name: "(environment)", manifestURL: try OriginAddress.url(text, field: "HEARTH_ORIGIN"))
            ]
        }
        return origins.sorted { $0.key < $1.key }.map { Origin(name: $0.key, manifestURL: $0.value) }
    }
}
