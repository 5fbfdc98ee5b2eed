import HearthBase
import HearthCatalog
import HearthDelivery
import HearthHTTP
import HearthStore
import HearthTransfer

/// Where a model is; corresponds to `ModelAvailability`.
package enum ModelPresence: String, Sendable, Hashable, CaseIterable {
    /// Not on this device; features that need it are off.
    case none
    /// It came with the app.
    case bundled
    /// It was downloaded.
    case downloaded
}

/// A model on this device.
package struct LocalModel: Sendable, Hashable {
    /// The release in use.
    package var model: ModelInfo
    package var presence: ModelPresence
    /// Why this device keeps the release: it is pinned, or newer ones are held back.
    package var noUpdate: NoUpdate?
    /// Whether an engine of this program can run it.
    package var canRun: Bool
    /// The release to which it can be rolled back.
    package var previous: ReleaseIdentity?
    /// The release that it keeps, `nil` if it takes updates.
    package var pinned: ReleaseIdentity?
    /// The releases that updates pass over.
    package var heldBack: [HeldBack] = []

    /// A model with the given values.
    package init(
        _ model: ModelInfo, presence: ModelPresence = .downloaded, noUpdate: NoUpdate? = nil, canRun: Bool = true
    ) {
        self.model = model
        self.presence = presence
        self.noUpdate = noUpdate
        self.canRun = canRun
    }
}

/// A model that a source offers this device.
package struct OfferedModel: Sendable, Hashable {
    /// The release that this device would get, or has.
    package var model: ModelInfo
    /// Whether it would replace the release in use.
    package var isUpdate: Bool
    /// Why this device may not have it, `nil` if it may.
    package var objection: Ineligibility?

    /// An offer with the given values.
    package init(_ model: ModelInfo, isUpdate: Bool = false, objection: Ineligibility? = nil) {
        self.model = model
        self.isUpdate = isUpdate
        self.objection = objection
    }
}

/// The answer of the sources.
package struct OfferedModels: Sendable {
    /// The offers, at most one for each family.
    package var models: [OfferedModel]
    /// Why families have no update, as far as their sources answered.
    package var noUpdates: [Family: NoUpdate] = [:]
    /// The error of a source that failed.
    package var problem: (any Error)?
    /// The sources that did not answer, with the cached lists used instead.
    package var cachedLists: [CachedList] = []
    /// The signed sources whose signatures end soon.
    package var expiring: [ExpiringSignatures] = []
    /// The models that the settings list, with their references as the user wrote them.
    package var listed: [Family: String] = [:]
}

extension OfferedModels {
    /// The offers of sources that all answered.
    package init(_ models: [OfferedModel]) { self.init(models: models) }
}

/// The delivery operations that view models use. `ListedDelivery` implements them; tests use a script.
package protocol ModelDelivering: Sendable {
    /// The models on this device, one for each family. Never touches the network.
    func localModels() async throws -> [LocalModel]

    /// The models the sources offer this device. May touch the network.
    func offeredModels(_ policy: CachePolicy) async throws -> OfferedModels

    /// Fetches a model and makes its release live; joins a transfer of the same bytes that is already active.
    ///
    /// Does not ask the sources for a release that is already on this device. Cancelling keeps the partial download
    /// and returns when it is recorded.
    /// - Parameters:
    ///   - options: the user's permissions.
    ///   - report: receives progress in order, on any thread.
    func pull(
        _ model: ModelInfo, options: DownloadOptions, report: @escaping @Sendable (TransferProgress) -> Void
    ) async throws -> LocalDelivery

    /// Deletes the partial download of a model, unless another transfer holds it.
    func discardDownload(of model: ModelInfo) async throws

    /// The models whose downloads an ended process left unfinished. May touch the network.
    func unfinishedDownloads() async throws -> [ModelInfo]

    /// Deletes a model from the device with all its files.
    func remove(_ model: ModelInfo) async throws

    /// Makes the release of a model before the present one live again, and holds the present one back.
    func rollBack(_ family: Family) async throws

    /// Reports changes, also those made outside the library. Ends with its consumer. Lookups cause no changes.
    func changes() async -> AsyncStream<LibraryChange>
}

/// The user's permissions for one download.
package struct DownloadOptions: Sendable, Hashable {
    /// What to do on a network whose bytes cost money.
    package var metered = MeteredUse.deny
    /// Whether files without a digest may be fetched.
    package var allowsUnverified = false

    /// The given permissions.
    package init(metered: MeteredUse = .deny, allowsUnverified: Bool = false) {
        self.metered = metered
        self.allowsUnverified = allowsUnverified
    }
}

/// A change of the models on this device or of the offers.
package enum LibraryChange: Sendable, Hashable {
    /// Models on this device changed.
    case local
    /// The sources' offers changed.
    case offers
    /// Which offers this device may have changed; asked again only if the sources were asked before.
    case objections
}

/// The result of a pull.
package struct LocalDelivery: Sendable, Hashable {
    package var local: LocalModel
    /// The file an engine opens.
    package var weights: Path
}
