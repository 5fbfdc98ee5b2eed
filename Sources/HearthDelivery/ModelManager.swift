import Foundation
import HearthBase
import HearthCatalog
import HearthHTTP
import HearthStore
import HearthTransfer

/// Resolves, pulls, activates and updates models: the entry point of delivery.
///
/// A manager made by `Hearth` also has engines: it prepares and probes releases, and refuses those that no engine can
/// load. A manager made here is for apps that only deliver, or that bring their own engines.
///
/// Loading an installed model never uses the network; ``available(_:)``, `resolve`, `pull`, `updates`, `model` and
/// `repair` do.
///
/// ```swift
/// let manager = ModelManager(home: home, origins: [origin], deviceMemory: memory)
/// let outcome = try await manager.pull(ModelReference(parsing: "smollm2-135m-instruct"))
/// let weights = outcome.release.weights
/// ```
public final class ModelManager: Sendable {
    /// The store of installed releases.
    package let store: ModelStore
    /// The bytes of memory a model may use.
    public let deviceMemory: UInt64
    package let formats: Set<ModelFormat>?
    /// The transfers under way, in this process and others.
    package let transfers: TransferManager
    let live: LiveReleases
    let sources: CatalogSources
    let device: DeviceLimits
    let fetching: Fetching
    let classLists: ClassListFetcher
    let admission: Admission
    let repairing: Repairing
    let background = BackgroundUpdates()

    /// Creates a manager of a home folder, without engines: releases are used as they came, and none is probed.
    /// - Parameters:
    ///   - home: the folder for all data; created at first use.
    ///   - origins: the configured origins; may be empty if only installed models are used.
    ///   - deviceMemory: the bytes of memory a model may use: the smaller of RAM and the process's limit.
    ///   - appVersion: compared with a release's `minAppVersion`; `nil` compares nothing.
    ///   - provider: turns catalog addresses into time-limited ones; `nil` uses catalog addresses unchanged.
    ///   - formats: the model formats that have an engine; `nil` for any.
    ///   - bundled: folders of models that came with the app.
    public convenience init(
        home: URL, origins: [Origin], deviceMemory: UInt64, appVersion: SemanticVersion? = nil,
        provider: (any DownloadURLProvider)? = nil, formats: Set<ModelFormat>? = nil, bundled: [BundledSource] = []
    ) {
        self.init(
            home: Path(home.path), origins: origins, deviceMemory: deviceMemory, appVersion: appVersion,
            provider: provider, formats: formats, bundled: bundled)
    }

    /// Creates a manager with injected parts: transport, disk, clock, network monitor and engine hooks.
    /// - Parameters:
    ///   - ignoresMemory: whether releases may need more memory than the device has; the largest variant that fits is
    ///     chosen all the same.
    ///   - hub: the Hugging Face Hub and its token; `nil` for the public Hub without a token. Only requests to the Hub
    ///     throw a failure.
    ///   - registries: the log-ins of OCI registries; none by default.
    ///   - preparer: makes a release's artifact for this device; `nil` uses releases as they came.
    ///   - probe: probes a release before it becomes live; `nil` skips the probe.
    ///   - preflight: checks before a fetch whether a release fits; `nil` trusts the publisher.
    ///   - queue: the transfers of another manager of the same home in this process, which this one joins; `nil` for its
    ///     own.
    ///   - shipped: the models of the Hub with short names; `nil` for none.
    ///   - bandwidth: the bytes read from memory in a second, by which quantizations of the catalog are chosen; `nil`
    ///     disregards speed. Blocks.
    ///   - mirror: a cache of this site, asked for public files before their origin; `nil` for none.
    ///   - asksForRoots: whether a signed origin without a known root is refused at first, so that a person is asked.
    package init(
        home: Path, origins: [Origin], http: any HTTPClient = DefaultHTTPClient(),
        fileSystem: any FileSystem = LocalFileSystem(),
        time: TimeSource = .system, network: any NetworkMonitor = SystemNetwork.monitor(),
        deviceMemory: UInt64,
        ignoresMemory: Bool = false, appVersion: SemanticVersion? = nil, provider: (any DownloadURLProvider)? = nil,
        formats: Set<ModelFormat>? = nil, bundled: [BundledSource] = [],
        hub: Result<HubSettings, CatalogError>? = nil,
        registries: RegistryCredentials = RegistryCredentials(environment: [:]),
        preparer: (any ReleasePreparer)? = nil, probe: (any ReleaseProbe)? = nil,
        preflight: (any ReleasePreflight)? = nil, queue: TransferManager? = nil,
        shipped: ShippedCatalog? = nil, bandwidth: @escaping @Sendable () -> Double? = { nil },
        mirror: SiteMirror? = nil, asksForRoots: Bool = false
    ) {
        let store = ModelStore(home: home, fileSystem: fileSystem, time: time)
        self.store = store
        self.deviceMemory = deviceMemory
        self.formats = formats
        // Only the hub's host is sent the token, with every request, files included; a registry's host its own. Only requests to the hub report
        // unusable hub settings.
        let registryClient = RegistryClient(http, credentials: registries)
        let authorized = (try? hub?.get())?.authorized(registryClient) ?? registryClient
        let transfer = FileTransfer(
            http: authorized, fileSystem: fileSystem, time: time, folder: store.transfersFolder, provider: provider,
            mirror: mirror, network: network)
        // The queue checks for user commands in real time, so it does not get `time`.
        transfers =
            queue ?? TransferManager(transfer: transfer, folder: store.transfersFolder, fileSystem: fileSystem)
        device = DeviceLimits(
            memory: deviceMemory, bandwidth: bandwidth, ignoresMemory: ignoresMemory, formats: formats,
            appVersion: appVersion, preparer: preparer,
            identifier: DeviceIdentifier(path: store.layout.deviceIdentifier, fileSystem: fileSystem))
        sources = CatalogSources(
            origins: origins, bundled: bundled, shipped: shipped, hub: hub, http: http, registries: registryClient,
            catalogs: store.layout.catalogs, fileSystem: fileSystem, time: time, asksForRoots: asksForRoots)
        fetching = Fetching(
            transfers: transfers, transfer: transfer,
            indexes: ChunkIndexFetcher(http: authorized, provider: provider),
            remoteHead: RemoteHead(http: authorized, provider: provider), network: network, fileSystem: fileSystem,
            time: time)
        live = LiveReleases(store: store, bundled: bundled, device: device, probe: probe, time: time)
        classLists = ClassListFetcher(http: authorized, fileSystem: fileSystem)
        admission = Admission(store: store, device: device, fetching: fetching, preflight: preflight)
        repairing = Repairing(
            store: store, sources: sources, device: device, fetching: fetching, admission: admission)
    }
}
