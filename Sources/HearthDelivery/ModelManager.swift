import Foundation
import HearthBase
import HearthHTTP

/// The front door of delivery: what is offered, what is here, and the way from the one to the other.
///
/// One made with `Hearth`'s own initialiser also knows the engines: it prepares releases for the device, tries them, and
/// refuses what they could not load. This one is for apps that only deliver, or bring engines of their own.
///
/// Loading an installed model never touches the network; only ``available()``, `pull` and
/// `updates` do.
///
/// ```swift
/// let manager = ModelManager(home: home, origins: [origin], deviceMemory: memory)
/// let outcome = try await manager.pull(ModelReference(parsing: "smollm2-135m-instruct"))
/// let weights = outcome.release.weights
/// ```
public actor ModelManager {
    /// Where installed releases are.
    public nonisolated let store: ModelStore
    nonisolated let origins: [Origin]
    /// The bytes a model may count on.
    public nonisolated let deviceMemory: UInt64
    /// Whether releases may need more than that, because the user insists.
    nonisolated let ignoresMemory: Bool
    nonisolated let appVersion: SemanticVersion?
    nonisolated let formats: Set<ModelFormat>?
    nonisolated let bundled: [BundledSource]
    nonisolated let hubSettings: Result<HubSettings, CatalogError>?
    nonisolated let http: any HTTPClient
    /// What is on its way, in this process and others.
    public nonisolated let transfers: TransferManager
    nonisolated let transfer: FileTransfer
    nonisolated let fetcher: CatalogFetcher
    nonisolated let indexes: ChunkIndexFetcher
    nonisolated let fileSystem: any FileSystem
    nonisolated let time: TimeSource
    nonisolated let network: any NetworkMonitor
    /// Who is told what happens.
    nonisolated let hub = EventHub()
    /// The releases that were said to be live.
    var announced: [Family: ReleaseIdentity] = [:]
    /// How often one was, of each family.
    var announcements: [Family: UInt64] = [:]
    var swapBodies: [@Sendable (ModelAvailability) async throws -> Void] = []
    var readyBodies: [@MainActor @Sendable (ModelAvailability) -> Void] = []
    /// The families an update is looked for behind everybody's back.
    var updatesBehind: [Family: Task<Void, Never>] = [:]
    /// Whether no more of them begin.
    var looksBehindNoMore = false
    /// Whether this process has looked after what ended ones left.
    var hasRecovered = false
    nonisolated let preparer: (any ReleasePreparer)?
    nonisolated let probe: (any ReleaseProbe)?
    nonisolated let releasePreflight: (any ReleasePreflight)?
    nonisolated let remoteHead: RemoteHead

    /// A manager of the home folder `home`.
    /// - Parameters:
    ///   - home: the folder of everything; made when first needed.
    ///   - origins: where releases are listed; may be empty for installed models only.
    ///   - http: the transport.
    ///   - fileSystem: the disk.
    ///   - time: the clock.
    ///   - network: who says whether the network is there and metered; not asked before the first download that uses it.
    ///   - deviceMemory: the bytes a model may count on: the smaller of RAM and the process's own limit.
    ///   - ignoresMemory: whether releases may need more than that, for updates as for whatever is pulled; the largest variant that
    ///     fits is chosen all the same.
    ///   - appVersion: compared with a release's `minAppVersion`; `nil` compares nothing.
    ///   - provider: makes time-limited addresses of those in the catalog; `nil` uses them as they are.
    ///   - formats: the formats there is an engine for; `nil` for any.
    ///   - bundled: folders of models that came with the app.
    ///   - hub: which Hugging Face Hub is asked, and with which token; `nil` for the public one without. A failure is told to
    ///     those who want something of the Hub, and to nobody else.
    ///   - preparer: makes of a release what its engine runs best here; `nil` uses releases as they come.
    ///   - probe: tries a release before it becomes live; `nil` makes live what is whole.
    ///   - preflight: tells whether a release fits before it is fetched; `nil` believes its publisher.
    public init(
        home: Path, origins: [Origin], http: any HTTPClient = DefaultHTTPClient(),
        fileSystem: any FileSystem = LocalFileSystem(),
        time: TimeSource = .system, network: any NetworkMonitor = SystemNetwork.monitor(), deviceMemory: UInt64,
        ignoresMemory: Bool = false, appVersion: SemanticVersion? = nil, provider: (any DownloadURLProvider)? = nil,
        formats: Set<ModelFormat>? = nil, bundled: [BundledSource] = [],
        hub: Result<HubSettings, CatalogError>? = nil, preparer: (any ReleasePreparer)? = nil,
        probe: (any ReleaseProbe)? = nil, preflight: (any ReleasePreflight)? = nil
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
        // Settings that cannot be used are an error for whoever asks the hub for something, and for nobody else.
        let settings = try? hub?.get()
        self.http = http
        // The hub's host is shown the token with every request, files included; nobody else is.
        let http = settings?.authorized(http) ?? http
        self.preparer = preparer
        self.probe = probe
        releasePreflight = preflight
        remoteHead = RemoteHead(http: http, provider: provider)
        transfer = FileTransfer(
            http: http, fileSystem: fileSystem, time: time, folder: store.transfersFolder, provider: provider,
            network: network)
        indexes = ChunkIndexFetcher(http: http, provider: provider)
        // How soon a transfer notices what people want of it is counted in their time, whatever `time` is.
        transfers = TransferManager(transfer: transfer, folder: store.transfersFolder, fileSystem: fileSystem)
        fetcher = CatalogFetcher(http: self.http, fileSystem: fileSystem)
    }

    // MARK: - What is here

    /// Every installed release.
    public func installed() async throws -> [InstalledRelease] {
        await recoverAtFirst()
        return try await store.installed()
    }

    /// The release a reference means on this device, without touching the network: the named version, else the active one.
    /// - Throws: ``StoreError`` with `not-installed`.
    public func installed(
        _ family: Family, version: ReleaseVersion? = nil, variant: Variant? = nil
    ) async throws -> InstalledRelease {
        let releases = try await installed().filter { $0.identity.family == family }
        let fitting = releases.filter { release in
            (version == nil || release.identity.version == version)
                && (variant == nil || release.identity.variant == variant)
        }
        if let active = fitting.first(where: \.isActive) { return active }
        guard let only = fitting.first else {
            throw StoreError(
                .notInstalled,
                "\(family)\(version.map { "@\($0)" } ?? "")\(variant.map { ":\($0)" } ?? "") is not installed",
                context: ErrorContext(model: family.name, remedy: "Bring it with 'hearth pull \(family)'."))
        }
        guard fitting.count == 1 else {
            let names = fitting.map(\.identity.description).joined(separator: ", ")
            throw DeliveryError(
                .ambiguous, "several releases of \(family) are installed and none is active: \(names)",
                context: ErrorContext(
                    model: family.name, remedy: "Choose one with 'hearth use \(fitting[0].identity)'."))
        }
        return only
    }

    /// Makes an installed release the active one of its family.
    public func use(_ family: Family, version: ReleaseVersion?, variant: Variant?) async throws -> InstalledRelease {
        let release = try await installed(family, version: version, variant: variant)
        return try await activate(release.identity)
    }
}
