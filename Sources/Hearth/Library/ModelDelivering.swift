import HearthBase
import HearthDelivery

/// Where a model is: the word of `ModelAvailability`.
public enum ModelPresence: String, Sendable, Hashable, CaseIterable {
    /// Nowhere: what needs it is off, and the rest of the app works.
    case none
    /// It came with the app.
    case bundled
    /// It was downloaded.
    case downloaded
}

/// A model that is on this device.
public struct LocalModel: Sendable, Hashable {
    /// The release that is used.
    public var model: ModelInfo
    public var presence: ModelPresence
    /// Why it stays at this release as far as this device knows by itself: it is pinned, or what was newer is held back.
    public var noUpdate: NoUpdate?

    /// A model of the given facts.
    public init(_ model: ModelInfo, presence: ModelPresence = .downloaded, noUpdate: NoUpdate? = nil) {
        self.model = model
        self.presence = presence
        self.noUpdate = noUpdate
    }
}

/// A model that a source offers this device.
public struct OfferedModel: Sendable, Hashable {
    /// The release that this device would get, or has.
    public var model: ModelInfo
    /// Whether it takes the place of the one in use.
    public var isUpdate: Bool
    /// Why this device may not have it, `nil` if it may.
    public var objection: Ineligibility?

    /// An offer of the given facts.
    public init(_ model: ModelInfo, isUpdate: Bool = false, objection: Ineligibility? = nil) {
        self.model = model
        self.isUpdate = isUpdate
        self.objection = objection
    }
}

/// What the sources had to say.
public struct OfferedModels: Sendable {
    /// Each family once.
    public var models: [OfferedModel]
    /// Why what is here stays as it is, where a source was asked.
    public var noUpdates: [Family: NoUpdate]
    /// Why one of the sources said nothing.
    public var problem: (any Error)?
    /// The sources that did not answer, and whose last lists stand in for them.
    public var kept: [KeptList]

    /// Offers, and what kept others away.
    public init(
        _ models: [OfferedModel], noUpdates: [Family: NoUpdate] = [:], problem: (any Error)? = nil,
        kept: [KeptList] = []
    ) {
        self.models = models
        self.noUpdates = noUpdates
        self.problem = problem
        self.kept = kept
    }
}

/// What is told while a model is brought over.
public enum DeliveryReport: Sendable, Hashable {
    /// A step in the life of its download.
    case event(DownloadEvent)
    /// How far it is, with figures for people.
    case reading(TransferProgress)
}

/// What the view models need of delivery. ``ModelManager`` is it in an app, a script in tests.
public protocol ModelDelivering: Sendable {
    /// The models on this device, each family once. Never touches the network.
    func localModels() async throws -> [LocalModel]

    /// The models the sources offer this device. May touch the network.
    func offeredModels(_ wish: ListingWish) async throws -> OfferedModels

    /// Brings a model over and makes it the one its family's users get; joins whoever fetches the same bytes already.
    ///
    /// A release that is here already is not looked for anywhere else. Cancelling keeps what has come, and returns when that
    /// is recorded.
    /// - Parameters:
    ///   - metered: what to do on a network whose bytes cost money.
    ///   - report: what happens meanwhile, in order, on any thread: progress, holds, bytes that were not the promised ones,
    ///     the pauses after them. All of it is delivery's own doing and wants nothing done.
    func pull(
        _ model: ModelInfo, metered: MeteredUse, report: @escaping @Sendable (DeliveryReport) -> Void
    ) async throws -> LocalDelivery

    /// Throws away what has come of a download that nobody works on any more.
    func discardDownload(of model: ModelInfo) async throws

    /// Takes a model off the device with everything that belongs to it.
    func remove(_ model: ModelInfo) async throws

    /// Tells when something has changed, whoever did it. Ends with its consumer. Asking what there is changes nothing.
    func changes() async -> AsyncStream<LibraryChange>
}

/// What has changed outside the library.
public enum LibraryChange: Sendable, Hashable {
    /// What is on this device.
    case local
    /// What the sources offer.
    case offers
    /// What may be had of what they offer: looked up where they were asked before.
    case objections
}

/// What a pull has brought.
public struct LocalDelivery: Sendable, Hashable {
    public var local: LocalModel
    /// The file an engine opens.
    public var weights: Path

    /// A delivery of the given facts.
    public init(_ local: LocalModel, weights: Path) {
        self.local = local
        self.weights = weights
    }
}
