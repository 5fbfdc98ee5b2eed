import Foundation
import HearthBase
import HearthCatalog
import HearthClassification
import HearthDelivery
import HearthHTTP
import HearthTransfer

extension ModelManager {
    /// Creates the manager of ``Hearth``, with probe and preparer.
    ///
    /// Releases that no engine of this build can load are refused before they are fetched. Others are prepared for
    /// this device and probed before they become live. `HEARTH_ORIGIN` replaces the configured origins,
    /// `HEARTH_NETWORK` the system's network monitor; `HF_ENDPOINT`, `HF_TOKEN` and the Hub's cache folder are those
    /// of its client, and `DOCKER_CONFIG` names the folder of log-ins for registries.
    ///
    /// - Parameters:
    ///   - home: the folder for all files; created when first needed.
    ///   - configuration: the origins and the settings for loading models.
    ///   - environment: environment variables; empty to ignore them all.
    ///   - http: the HTTP transport.
    ///   - time: the clock.
    ///   - deviceMemory: the bytes available to a model.
    ///   - appVersion: compared with a release's `minAppVersion`; `nil` compares nothing.
    ///   - provider: creates time-limited addresses from those of the catalog; `nil` asks the gateway of the
    ///     configuration, and uses the catalog's without one.
    ///   - bundled: folders of bundled models.
    ///   - engines: the app's engines by format.
    ///   - formats: the formats to deliver; `nil` for those with an engine and that of classifiers, or for any without
    ///     engines.
    ///   - memory: the ledger of all engines of the process; `nil` for one of the probe alone.
    ///   - bandwidth: the bytes read from memory in a second. Blocks.
    ///   - network: wraps the system's monitor for downloads.
    ///   - queue: the transfers of another manager of this process; `nil` for its own.
    ///   - asksForRoots: whether a signed origin is refused until a person trusts its keys.
    ///   - tellMemory: told the memory needed by a large release before its download, as a sentence; `nil` logs it.
    /// - Throws: ``ConfigurationError`` for an invalid origin or variable. An invalid `HF_ENDPOINT` only fails the
    ///   Hub.
    package convenience init(
        home: Path, configuration: Configuration,
        environment: [String: String] = ProcessInfo.processInfo.environment,
        http: any HTTPClient = DefaultHTTPClient(), time: TimeSource = .system,
        deviceMemory: UInt64 = DeviceMemory.read().usable, appVersion: SemanticVersion? = nil,
        provider: (any DownloadURLProvider)? = nil, bundled: [BundledSource] = [],
        engines: EngineRegistry = .standard, formats: Set<ModelFormat>? = nil, memory: EngineMemory? = nil,
        bandwidth: @escaping @Sendable () -> Double? = { MemoryBandwidth.measured },
        network: (any NetworkMonitor) -> any NetworkMonitor = { $0 },
        queue: TransferManager? = nil, asksForRoots: Bool = false, tellMemory: (@Sendable (String) -> Void)? = nil
    ) throws {
        try configuration.require(.sources)
        var preflight = EnginePreflight(configuration: configuration, deviceMemory: deviceMemory)
        if let tellMemory { preflight.tell = tellMemory }
        preflight.imports = { engines.imports($0, configuration) }
        let origins = try configuration.origins(environment: environment)
        let provider =
            try provider
            ?? configuration.provider(
                origins: origins.map(\.manifestURL), environment: environment, http: http, time: time)
        self.init(
            home: home, origins: origins, http: http, time: time,
            network: network(try NetworkChoice.monitor(environment: environment)), deviceMemory: deviceMemory,
            ignoresMemory: configuration.ignoresMemory, appVersion: appVersion, provider: provider,
            formats: formats ?? Self.formats(engines),
            bundled: bundled,
            hub: HubSettings.read(environment), registries: RegistryCredentials(environment: environment),
            // With `ignoresMemory`, models are used as published.
            preparer: EngineOpening.preparer(
                deviceMemory: configuration.ignoresMemory ? .max : deviceMemory, configuration: configuration,
                engines: engines),
            probe: ClassifierReleaseProbe(
                engines: EngineReleaseProbe(
                    configuration: configuration, engines: engines,
                    memory: memory ?? EngineMemory(deviceMemory: deviceMemory)), time: time,
                worker: engines.workerProgram),
            preflight: preflight, queue: queue, shipped: try configuration.shippedCatalog(), bandwidth: bandwidth,
            mirror: configuration.mirror.map(SiteMirror.init), asksForRoots: asksForRoots)
    }

    /// The formats that an app can use: those with an engine, and that of classifiers; `nil` for any without engines.
    private static func formats(_ engines: EngineRegistry) -> Set<ModelFormat>? {
        guard !engines.formats.isEmpty else { return nil }
        return ClassifierSupport.isBuilt ? engines.formats.union([.onnx]) : engines.formats
    }
}

extension HubSettings {
    /// The Hub settings of the environment, or why they are invalid.
    static func read(_ environment: [String: String]) -> Result<HubSettings, CatalogError> {
        do {
            return .success(try HubSettings(environment: environment))
        } catch {
            return .failure(
                error as? CatalogError
                    ?? CatalogError(.badEndpoint, "the address of the hub cannot be used", underlying: error))
        }
    }
}

/// Stands for a gateway whose settings are invalid: each question for an address fails with the name of the setting.
private struct InvalidGateway: DownloadURLProvider {
    let configuration: Configuration

    func downloadURL(for location: URL) throws -> URL {
        try configuration.require(.gateway)
        return location
    }
}

extension Configuration {
    /// The provider of time-limited addresses. With an invalid setting of the gateway, downloads stop and nothing else.
    fileprivate func provider(
        origins: [URL], environment: [String: String], http: any HTTPClient, time: TimeSource
    ) throws -> (any DownloadURLProvider)? {
        guard (try? require(.gateway)) != nil else { return InvalidGateway(configuration: self) }
        return try gateway.provider(origins: origins, environment: environment, http: http, time: time)
    }

    /// The models to begin with; `nil` if the settings turn them off.
    /// - Throws: ``ConfigurationError`` if the trusted root of a newer catalog cannot be read.
    package func shippedCatalog() throws -> ShippedCatalog? {
        guard catalog.isShipped else { return nil }
        let name = CatalogConfiguration.originName
        guard let url = catalog.url else { return try ShippedCatalog() }
        var origin = Origin(name: name, manifestURL: url)
        try roots[name]?.apply(to: &origin, field: "trust.\(name)")
        return try ShippedCatalog(origin: origin)
    }

    /// The origins, sorted by name.
    /// - Throws: ``ConfigurationError`` if `HEARTH_ORIGIN` is not an address, or a trusted root cannot be read.
    package func origins(environment: [String: String]) throws -> [Origin] {
        if let text = environment["HEARTH_ORIGIN"], !text.isEmpty {
            // No family has this name, so that a manifest without a name is named after its file.
            var origin = Origin(
                name: "(environment)", manifestURL: try OriginAddress.url(text, field: "HEARTH_ORIGIN"))
            if let root = environment["HEARTH_ORIGIN_ROOT"], !root.isEmpty {
                try SettingForm.root.value(root, "HEARTH_ORIGIN_ROOT")
                    .apply(to: &origin, field: "HEARTH_ORIGIN_ROOT")
            }
            return [origin]
        }
        return try origins.sorted { $0.key < $1.key }.map { name, url in
            var origin = Origin(name: name, manifestURL: url)
            try roots[name]?.apply(to: &origin, field: "trust.\(name)")
            return origin
        }
    }
}
