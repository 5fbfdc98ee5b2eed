import Foundation
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthHTTP
import HearthRouting
import HearthStore
import HearthTransfer

/// The models of an app: brings them to the device, keeps them up to date and runs them.
///
/// ```swift
/// let hearth = try Hearth(origins: [Origin("main", manifestURL)])
/// let model = try await hearth.model("smollm2-135m-instruct") { print($0.fraction ?? 0) }
/// let session = LanguageModelSession(model: model, instructions: "Answer in one sentence.")
/// print(try await session.respond(to: "What is the capital of France?").content)
/// await hearth.close()
/// ```
/// An app has one. Each model is loaded once and shared by its sessions; all engines are planned into one memory. An
/// app ends with ``close()``, so that quitting during an answer does not count as a crash of the model.
public final class Hearth: Sendable {
    /// Delivery alone: releases, transfers and versions.
    public let manager: ModelManager
    /// The folder of models and settings.
    public let home: Path
    /// The settings that every engine is opened with.
    public let configuration: Configuration
    package let surroundings: Surroundings
    /// The monitor of ``network``, once it was used.
    let openNetwork = Locked<(any NetworkMonitor)?>(nil)
    package let models: LiveModels
    /// The other servers whose models are served.
    package let upstreams: Upstreams
    let classifiers: LiveClassifiers
    /// The library, once it was shown.
    @MainActor private(set) var shownLibrary: ModelLibrary?
    let homeRecords = HomeRecords()
    @MainActor private var shownDownloads: ModelDownloadViewModel?

    /// The models in a home folder, with the engines of this build.
    ///
    /// Releases that no engine can load are refused before they are fetched. Others are prepared for this device and
    /// probed before they become live. Blocks to read a few small files.
    /// - Parameters:
    ///   - origins: the publishers' lists of models, in addition to those of the configuration.
    ///   - home: the folder for all files, created when first needed; `nil` for `$HEARTH_HOME`, else
    ///     `$XDG_DATA_HOME/hearth`.
    ///   - configuration: the settings; `nil` for those in the home's `config.json`.
    ///   - appVersion: compared with a release's `minAppVersion`; `nil` compares nothing.
    ///   - bundled: folders of models that came with the app.
    ///   - engines: the engines by model format.
    /// - Throws: ``ConfigurationError``, `FileError`.
    public convenience init(
        origins: [Origin] = [], home: URL? = nil, configuration: Configuration? = nil,
        appVersion: SemanticVersion? = nil, bundled: [BundledSource] = [], engines: EngineRegistry = .standard
    ) throws {
        try self.init(
            origins: origins, home: home, configuration: configuration, appVersion: appVersion, bundled: bundled,
            engines: engines
        ) { _ in }
    }

    /// The same with changed surroundings.
    package convenience init(
        origins: [Origin], home: URL?, configuration: Configuration?, appVersion: SemanticVersion?,
        bundled: [BundledSource], engines: EngineRegistry, _ change: (inout Surroundings) -> Void
    ) throws {
        let home = try home.map { Path($0.path) } ?? HearthHome.path()
        var settings = try configuration ?? Configuration.load(home: home)
        for origin in origins { settings.use(origin) }
        var surroundings = Surroundings()
        (surroundings.engines, surroundings.given, surroundings.origins) = (engines, configuration, origins)
        (surroundings.appVersion, surroundings.bundled) = (appVersion, bundled)
        change(&surroundings)
        try self.init(home: home, configuration: settings, surroundings)
    }

    /// The models in a home folder.
    /// - Parameter queue: the transfers of another object of this process; `nil` for its own.
    package init(
        home: Path, configuration: Configuration, _ surroundings: Surroundings, queue: TransferManager? = nil
    ) throws {
        self.home = home
        self.configuration = configuration
        self.surroundings = surroundings
        upstreams = surroundings.upstreams ?? Upstreams(client: surroundings.upstreamClient, time: surroundings.time)
        upstreams.use(configuration.usableUpstreams(environment: surroundings.environment))
        let engines = Self.engines(configuration, surroundings)
        let (time, deviceMemory, pressure) = (surroundings.time, surroundings.deviceMemory, surroundings.pressure)
        let memory = EngineMemory(deviceMemory: deviceMemory) { pressure.read().availableBytes }
        manager = try ModelManager(
            home: home, configuration: configuration, environment: surroundings.environment, http: surroundings.http,
            time: time, deviceMemory: deviceMemory, appVersion: surroundings.appVersion,
            bundled: surroundings.bundled, engines: engines, memory: memory, bandwidth: surroundings.bandwidth,
            network: surroundings.downloadNetwork, queue: queue,
            asksForRoots: surroundings.asksForRoots, tellMemory: surroundings.tellMemory)
        classifiers = LiveClassifiers(manager: manager, worker: engines.workerProgram, memory: memory)
        models = LiveModels(
            manager: manager, engines: engines, configuration: configuration, memory: memory,
            pressure: pressure, time: time)
    }

    /// The engines, in this process if the settings want that.
    private static func engines(_ configuration: Configuration, _ surroundings: Surroundings) -> EngineRegistry {
        let given = surroundings.engines
        return configuration.isolation == .inline && given.workerProgram != nil ? .standard : given
    }

    /// The program of the workers; `nil` for engines in this process.
    var workerProgram: Path? { Self.engines(configuration, surroundings).workerProgram }

    // MARK: Models

    /// A model by its reference: `family`, `family@version:variant`, `hf:org/repository` or the path of a model file.
    ///
    /// Fetches the model if it is not on this device, and loads it. A model named by its family alone follows updates:
    /// a new version replaces the old one between two answers.
    /// - Parameters:
    ///   - policy: whether to use the installed release or ask for updates.
    ///   - progress: takes the progress of a download.
    /// - Throws: `CatalogError`, `StoreError`, `DeliveryError` or `TransferError` if the model cannot be found or fetched;
    ///   `LLMError` if it cannot be loaded; `CancellationError`. What was fetched is kept.
    public func model(
        _ reference: String, policy: ModelPolicy = .localWithBackgroundUpdate,
        progress: @escaping @Sendable (TransferProgress) -> Void = { _ in }
    ) async throws -> LiveModel {
        let model = try await find(ModelReference(parsing: reference), policy: policy, progress: progress)
        try await model.load()
        return model
    }

    /// The model of a file, which is loaded but not installed.
    /// - Parameter projector: the file that lets the model read pictures; without one it reads text only.
    /// - Throws: `LLMError`; `CancellationError`.
    public func open(_ file: URL, projector: URL? = nil) async throws -> LiveModel {
        let model = unloaded(
            ReleaseFiles(weights: Path(file.path), projector: projector.map { Path($0.path) }))
        try await model.load()
        return model
    }

    /// The model of files, not loaded before its first use.
    package func unloaded(_ files: ReleaseFiles) -> LiveModel { LiveModel(models: models, source: .files(files)) }

    /// Finds a model, and fetches it if the policy allows that; nothing is loaded before its first use.
    package func find(
        _ reference: ModelReference, policy: ModelPolicy = .localWithBackgroundUpdate,
        progress: @escaping @Sendable (TransferProgress) -> Void = { _ in }
    ) async throws -> LiveModel {
        switch reference {
        case .file(let path): return unloaded(ReleaseFiles(weights: path))
        case .family(let family, nil, nil):
            return try await models.model(family, policy: policy, options: options, progress: progress)
        case .family(let family, let version, let variant):
            do {
                return model(of: try await manager.installed(family, version: version, variant: variant))
            } catch let error as StoreError where error.code == .notInstalled && policy != .localOnly {}
        case .manifest, .hub, .registry: break
        }
        return model(of: try await manager.pull(reference, options: options, progress: progress).release)
    }

    /// The model of one release, which updates do not replace; nothing is loaded before its first use.
    package func model(of release: InstalledRelease) -> LiveModel {
        LiveModel(models: models, source: .release(release.identity))
    }

    /// Forgets what the loaded models have computed of conversations that are not being answered: called after the end
    /// of a private one.
    package func forgetConversations() async { await models.pool.forgetConversations() }

    // MARK: Options

    var options: PullOptions {
        var options = PullOptions()
        if let metered = configuration.meteredUse { options.metered = metered }
        options.ignoreMemory = configuration.ignoresMemory
        return options
    }

    // MARK: Library

    /// The rows of a model list, for display: download, select, update, delete.
    @MainActor public var library: ModelLibrary {
        if let shownLibrary { return shownLibrary }
        let library = ModelLibrary(manager: manager, home: home)
        if let metered = configuration.meteredUse { library.metered = metered }
        shownLibrary = library
        return library
    }

    /// Downloads and loads one model at a time, for display. The first use loads the selected model and then the saved
    /// vision model, if they are on this device, and continues what an ended process left unfinished; engines are shared
    /// with ``model(_:policy:progress:)``.
    @MainActor public var downloads: ModelDownloadViewModel {
        if let shownDownloads { return shownDownloads }
        let downloads = ModelDownloadViewModel(
            library: library, loader: EngineLoader(models: models), vision: { [self] in await savedVisionModel() })
        shownDownloads = downloads
        return downloads
    }

    /// The events of all models, from now on.
    public var events: AsyncStream<ModelEvent> { manager.events() }

    /// Asks the origins for newer releases of the installed models, fetches them and makes them live.
    /// - Returns: the releases that became live.
    /// - Throws: the first error, after all families were tried; `CancellationError`.
    @discardableResult
    public func update(
        progress: @escaping @Sendable (TransferProgress) -> Void = { _ in }
    ) async throws -> [ReleaseIdentity] {
        let check = await manager.check(options: options, progress: progress)
        try Task.checkCancellation()
        if let failure = check.failures.first { throw failure.error }
        return check.installed.map(\.identity)
    }

    // MARK: End

    /// Ends downloads, loads and answers, and unloads all engines. Returns when nothing on the disk is marked as
    /// unfinished, and computed states of conversations are saved; partial downloads are kept.
    ///
    /// Call it before the app ends, and no other method afterwards.
    public func close() async {
        await shownLibrary?.close()
        await models.stop(unloading: true)
        await homeRecords.close()
    }
}

extension Origin {
    /// A publisher's list of models under a name of the user's choice.
    public init(_ name: String, _ manifestURL: URL) { self.init(name: name, manifestURL: manifestURL) }
}
