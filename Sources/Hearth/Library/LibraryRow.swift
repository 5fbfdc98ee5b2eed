import HearthBase
import HearthDelivery

/// One model of the library: what is offered, what is here, and what happens between the two.
///
/// A value: it takes events and answers with what to do.
///
/// ```
///                    download            arrived
///   notDownloaded ───────────▶ downloading ──────▶ downloaded ──(offer)──▶ updateAvailable
///        ▲  ▲                   │   ▲  │ hold        │  ▲                       │
///        │  └──── cancel ───────┘   │  ▼             │  └────── arrived ────────┘ download
///        │                          waiting          │
///        │                  failed ◀──┘              │
///        └────────── delete ─────────────────────────┘
///   incompatible: not here, and the device could not run it
/// ```
public struct LibraryRow: Sendable, Hashable, Identifiable {
    /// What a download brings; for a model that nobody offers, what is here.
    public private(set) var model: ModelInfo
    /// The release in use here, `nil` for a model that is not here.
    public private(set) var local: LocalModel?
    /// What the sources say, `nil` while or as far as they say nothing.
    public private(set) var offer: OfferedModel?
    private var answer: NoUpdate?
    /// The life of its download in this app.
    public private(set) var download = Download()
    /// How far that download is, with figures for people; `nil` while none is under way or has told anything.
    public private(set) var reading: TransferProgress?
    /// The release that download was begun for, whatever is offered since; `nil` before the first.
    public private(set) var wanted: ModelInfo?
    /// Whether it is on its way out.
    public private(set) var isBeingDeleted = false
    /// Whether it is the one that is used, the one of the settings, the best for this device.
    public internal(set) var isSelected = false
    public internal(set) var isDefault = false
    public internal(set) var isRecommended = false

    public var id: Family { model.id }

    /// A row that knows only which model it is about.
    public init(_ model: ModelInfo) { self.model = model }

    // MARK: What it shows

    /// How the model stands.
    public var state: ModelState {
        switch download.state {
        case .waiting(let hold): return .waiting(hold)
        case .downloading(let progress): return .downloading(progress: progress)
        case .retrying: return .downloading(progress: 0)
        case .verifying, .extracting: return .downloading(progress: 1)
        case .failed(let failure): return .failed(failure)
        case .idle, .completed: break
        }
        if local != nil { return update.map { .updateAvailable($0.version) } ?? .downloaded }
        if let objection = offer?.objection { return .incompatible(objection) }
        return .notDownloaded
    }

    /// What a tap does, `nil` for nothing.
    public var primaryAction: ModelAction? { isBeingDeleted ? nil : state.primaryAction }

    /// Where the model is.
    public var presence: ModelPresence { local?.presence ?? .none }

    /// Whether it can be chosen, also while its successor is on its way.
    public var isUsable: Bool { local != nil && !isBeingDeleted }

    /// The release that would take the place of the one in use.
    public var update: ReleaseIdentity? {
        guard let local, let offer, offer.isUpdate, offer.objection == nil else { return nil }
        // What has arrived since the sources were asked is no news any more.
        return offer.model.identity == local.model.identity ? nil : offer.model.identity
    }

    /// Why the release in use stays, `nil` while nobody knows, for an update, and for a model that is not here. What this device
    /// knows by itself, such as a pin, comes first.
    public var noUpdate: NoUpdate? {
        guard let local, update == nil else { return nil }
        return local.noUpdate ?? answer
    }

    /// What to show beside the name.
    public var badges: [ModelBadge] {
        var badges: [ModelBadge] = []
        if model.seesImages { badges.append(.vision) }
        if isRecommended { badges.append(.recommended) }
        if isSelected { badges.append(.active) }
        if presence == .bundled { badges.append(.bundled) }
        if !(local?.model ?? model).isVerified { badges.append(.unverified) }
        return badges
    }

    // MARK: What happens

    /// Takes note of what happened; returns what to do, in this order.
    @discardableResult
    public mutating func take(_ event: LibraryRowEvent) -> [LibraryRowEffect] {
        let effects = follow(event)
        // Figures of a download that is over say nothing any more.
        if !download.state.isActive { reading = nil }
        return effects
    }

    private mutating func follow(_ event: LibraryRowEvent) -> [LibraryRowEffect] {
        switch event {
        case .local(let found):
            // It was said of the one before.
            if found?.model.identity != local?.model.identity { answer = nil }
            local = found
            refreshModel()
            return []
        case .offered(let found):
            offer = found
            refreshModel()
            return []
        case .unchanged(let reason):
            answer = reason
            return []
        case .download: return start()
        case .report(let event):
            // Delivery does already what a report would want done.
            download.take(event)
            return []
        case .reading(let progress):
            reading = progress
            return []
        case .arrived(let delivery):
            arrive(delivery)
            return []
        case .failed(let failure):
            download.take(.failed(failure))
            return []
        case .cancelledElsewhere:
            download.take(.cancelledByUser)
            return []
        case .cancel: return cancel()
        case .delete: return delete()
        case .deleted(let isGone):
            isBeingDeleted = false
            if isGone {
                local = nil
                forget()
            }
            refreshModel()
            return []
        case .reset:
            forget()
            return []
        }
    }

    private mutating func start() -> [LibraryRowEffect] {
        // What is here runs here, whatever a source says of it.
        if local == nil, let objection = offer?.objection { return [.refuse(objection)] }
        guard !download.take(.start).isEmpty else { return [] }
        wanted = model
        return [.fetch]
    }

    private mutating func cancel() -> [LibraryRowEffect] {
        download.take(.cancelledByUser).compactMap { effect in
            switch effect {
            case .stop: .stop
            case .discardPart: .discard
            case .fetch, .verify, .extract, .pause: nil  // no answers to a cancellation
            }
        }
    }

    private mutating func delete() -> [LibraryRowEffect] {
        guard !isBeingDeleted else { return [] }
        let effects = cancel()
        guard local != nil else { return effects }
        isBeingDeleted = true
        return effects + [.remove]
    }

    private mutating func arrive(_ delivery: LocalDelivery) {
        // From wherever the last report has left it.
        for event in [.release, .pauseOver, .received, .verified(delivery.weights), .extracted(delivery.weights)]
            as [DownloadEvent]
        {
            download.take(event)
        }
        local = delivery.local
        // It was said of the one before.
        answer = nil
        refreshModel()
    }

    /// How the last download ended; one that is under way goes on.
    private mutating func forget() {
        if !download.state.isActive { download = Download() }
    }

    private mutating func refreshModel() {
        guard let shown = offer?.model ?? local?.model else { return }
        model = shown
    }
}

/// What happens to a model of the library.
public enum LibraryRowEvent: Sendable, Hashable {
    /// What is on this device was looked up.
    case local(LocalModel?)
    /// The sources were asked.
    case offered(OfferedModel?)
    /// The sources were asked, and what is here stays, for this reason; `nil` where they gave none.
    case unchanged(NoUpdate?)
    /// Somebody wants it, or its update.
    case download
    /// Delivery tells how far it is.
    case report(DownloadEvent)
    /// Delivery tells the figures of that.
    case reading(TransferProgress)
    /// It is here.
    case arrived(LocalDelivery)
    /// It did not come.
    case failed(DownloadFailure)
    /// Somebody ended the transfer outside this library; its bytes are gone.
    case cancelledElsewhere
    /// The user does not want it any more.
    case cancel
    /// The user wants it off the device.
    case delete
    /// The removal is over; whether it worked.
    case deleted(Bool)
    /// How the last download ended is of no interest any more.
    case reset
}

/// What a model of the library wants done.
public enum LibraryRowEffect: Sendable, Hashable {
    /// Pull the release that is wanted.
    case fetch
    /// End the pull; what follows waits for its end.
    case stop
    /// Throw away what has come of the release that was wanted.
    case discard
    /// Take it off the device.
    case remove
    /// Tell the user that it would not run.
    case refuse(Ineligibility)
}
