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
public actor ModelManager {
    /// The store of installed releases.
    package nonisolated let store: ModelStore
    nonisolated let origins: [Origin]
    /// The bytes of memory a model may use.
    public nonisolated let deviceMemory: UInt64
    /// Whether releases may need more memory than the device has, because the user insists.
    nonisolated let ignoresMemory: Bool
    nonisolated let appVersion: SemanticVersion?
    package nonisolated let formats: Set<ModelFormat>?
    nonisolated let bundled: [BundledSource]
    nonisolated let hubSettings: Result<HubSettings, CatalogError>?
    nonisolated let http: any HTTPClient
    /// The transfers under way, in this process and others.
    package nonisolated let transfers: TransferManager
    nonisolated let transfer: FileTransfer
    nonisolated let fetcher: CatalogFetcher
    nonisolated let indexes: ChunkIndexFetcher
    nonisolated let fileSystem: any FileSystem
    nonisolated let time: TimeSource
    nonisolated let network: any NetworkMonitor
    /// Sends events to listeners.
    nonisolated let hub = EventHub()
    /// The release last announced as live, by family.
    var announced: [Family: ReleaseIdentity] = [:]
    /// Counts changes to the announced releases, by family.
    var announcements: [Family: UInt64] = [:]
    var swapBodies: [@Sendable (ModelAvailability) async throws -> Void] = []
    var readyBodies: [@MainActor @Sendable (ModelAvailability) -> Void] = []
    /// Background update tasks by family.
    var backgroundUpdates: [Family: Task<Void, Never>] = [:]
    /// Cleared when shutdown begins; no background update starts after it.
    var acceptsBackgroundUpdates = true
    /// Set once the interrupted work of ended processes is recovered.
    var hasRecovered = false
    nonisolated let preparer: (any ReleasePreparer)?
    /// Probes a release before it becomes live.
    package nonisolated let probe: (any ReleaseProbe)?
    nonisolated let releasePreflight: (any ReleasePreflight)?
    nonisolated let remoteHead: RemoteHead

    /// Creates a manager of a home folder, without engines: releases are used as they came, and none is probed.
    /// - Parameters:
    ///   - home: the folder for all data; created at first use.
    ///   - origins: the configured origins; may be empty if only installed models are used.
    ///   - deviceMemory: the bytes of memory a model may use: the smaller of RAM and the process's limit.
    ///   - appVersion: compared with a release's `minAppVersion`; `nil` compares nothing.
    ///   - provider: turns catalog addresses into time-limited ones; `nil` uses catalog addresses unchanged.
    ///   - formats: the model formats that have an engine; `nil` for any.
    ///   - bundled: folders of models that came with the app.
    public init(
        home: Path, origins: [Origin], deviceMemory: UInt64, appVersion: SemanticVersion? = nil,
        provider: (any DownloadURLProvider)? = nil, formats: Set<ModelFormat>? = nil, bundled: [BundledSource] = []
    ) {
        self.init(
            home: home, origins: origins, network: SystemNetwork.monitor(), deviceMemory: deviceMemory,
            appVersion: appVersion, provider: provider, formats: formats, bundled: bundled)
    }

    /// Creates a manager with injected parts: transport, disk, clock, network monitor and engine hooks.
    /// - Parameters:
    ///   - ignoresMemory: whether releases may need more memory than the device has; the largest variant that fits is
    ///     chosen all the same.
    ///   - hub: the Hugging Face Hub and its token; `nil` for the public Hub without a token. Only requests to the Hub
    ///     throw a failure.
    ///   - preparer: makes a release's artifact for this device; `nil` uses releases as they came.
    ///   - probe: probes a release before it becomes live; `nil` skips the probe.
    ///   - preflight: checks before a fetch whether a release fits; `nil` trusts the publisher.
    ///   - queue: the transfers of another manager of the same home in this process, which this one joins; `nil` for its
    ///     own.
    package init(
        home: Path, origins: [Origin], http: any HTTPClient = DefaultHTTPClient(),
        fileSystem: any FileSystem = LocalFileSystem(),
        time: TimeSource = .system, network: any NetworkMonitor, deviceMemory: UInt64,
        ignoresMemory: Bool = false, appVersion: SemanticVersion? = nil, provider: (any DownloadURLProvider)? = nil,
        formats: Set<ModelFormat>? = nil, bundled: [BundledSource] = [],
        hub: Result<HubSettings, CatalogError>? = nil, preparer: (any ReleasePreparer)? = nil,
        probe: (any ReleaseProbe)? = nil, preflight: (any ReleasePreflight)? = nil, queue: TransferManager? = nil
    ) {
        let store = ModelStore(home: home, fileSystem: fileSystem, time: time)
        self.store = store
        self.origins = origins
        self.deviceMemory = deviceMemory
        self.ignoresMemory = ignoresMemory
        self.appVersion = appVersion
        self.fileSystem = fileSystem
        self.time = time
        self.network = network
        self.formats = formats
        self.bundled = bundled
        hubSettings = hub
        // Only requests to the hub report unusable hub settings.
        let settings = try? hub?.get()
        self.http = http
        // Only the hub's host is sent the token, with every request, files included.
        let http = settings?.authorized(http) ?? http
        self.preparer = preparer
        self.probe = probe
        releasePreflight = preflight
        remoteHead = RemoteHead(http: http, provider: provider)
        transfer = FileTransfer(
            http: http, fileSystem: fileSystem, time: time, folder: store.transfersFolder, provider: provider,
            network: network)
        indexes = ChunkIndexFetcher(http: http, provider: provider)
        // The queue checks for user commands in real time, so it does not get `time`.
        transfers =
            queue ?? TransferManager(transfer: transfer, folder: store.transfersFolder, fileSystem: fileSystem)
        fetcher = CatalogFetcher(http: self.http, fileSystem: fileSystem)
    }

    // MARK: - Installed releases

    /// Lists every installed release.
    public func installed() async throws -> [InstalledRelease] {
        await recoverAtFirst()
        return try await store.installed()
    }

    /// Finds an installed release without the network: the one of the given version and variant, else the active one.
    /// - Throws: `StoreError` with `not-installed`; ``DeliveryError`` with `ambiguous-reference`.
    public func installed(
        _ family: Family, version: ReleaseVersion? = nil, variant: Variant? = nil
    ) async throws -> InstalledRelease {
        let releases = try await installed().filter { $0.identity.family == family }
        let named = Set(releases.map(\.identity).named(version, variant))
        let fitting = releases.filter { named.contains($0.identity) }
        if let active = fitting.first(where: \.isActive) { return active }
        guard let only = fitting.first else {
            throw StoreError(
                .notInstalled,
                "\(family)\(version.map { "@\($0)" } ?? "")\(variant.map { ":\($0)" } ?? "") is not installed",
                context: ErrorContext(model: family.name, remedy: "Pull it first."))
        }
        guard fitting.count == 1 else {
            let names = fitting.map(\.identity.description).joined(separator: ", ")
            throw DeliveryError(
                .ambiguous, "several releases of \(family) are installed and none is active: \(names)",
                context: ErrorContext(
                    model: family.name, field: "release", found: fitting[0].identity.description,
                    remedy: "Choose one of them."))
        }
        return only
    }

    /// Activates an installed release.
    public func use(_ family: Family, version: ReleaseVersion?, variant: Variant?) async throws -> InstalledRelease {
        let release = try await installed(family, version: version, variant: variant)
        return try await activate(release.identity)
    }
}
