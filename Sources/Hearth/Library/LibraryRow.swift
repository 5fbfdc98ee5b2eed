import HearthBase
import HearthCatalog
import HearthDelivery
import HearthTransfer

/// One model of the library: its offer, its installed release and its download.
///
/// A state machine without side effects: it takes events and returns effects to carry out.
///
/// ```
///                    download            arrived
///   notDownloaded ───────────▶ downloading ──────▶ downloaded ──(offer)──▶ updateAvailable
///        ▲  ▲                   │   ▲  │ hold        │  ▲                       │
///        │  └──── cancel ───────┘   │  ▼             │  └────── arrived ────────┘ download
///        │                          waiting          │
///        │                  failed ◀──┘              │
///        └────────── delete ─────────────────────────┘
///   incompatible: no engine of this device can run it, or the device may not have it
/// ```
public struct LibraryRow: Sendable, Hashable, Identifiable {
    /// The release a download would fetch; the installed one if no source offers the model.
    public private(set) var model: ModelInfo
    /// The release in use on this device, `nil` if none is installed.
    package private(set) var local: LocalModel?
    /// The sources' offer, `nil` if unknown or if there is no offer.
    package private(set) var offer: OfferedModel?
    private var answer: NoUpdate?
    /// The state of its download in this app.
    public private(set) var download = DownloadState.idle
    /// The latest progress report of the download; `nil` without an active download or before its first report.
    public private(set) var reading: TransferProgress?
    /// The release of the last download, which later offers don't change; `nil` before the first.
    package private(set) var wanted: ModelInfo?
    /// Whether a removal is in progress.
    public private(set) var isBeingDeleted = false
    /// Whether it is the model in use, the default model of the settings, the best for this device.
    public package(set) var isSelected = false
    public package(set) var isDefault = false
    public package(set) var isRecommended = false

    public var id: Family { model.id }

    /// A row without an offer, an installed release or a download.
    package init(_ model: ModelInfo) { self.model = model }

    // MARK: Display

    /// The state that a list shows.
    public var state: ModelState {
        switch download {
        case .waiting(let hold): return .waiting(hold)
        case .downloading(let progress): return .downloading(progress: progress)
        case .retrying: return .downloading(progress: 0)
        case .verifying, .extracting: return .downloading(progress: 1)
        case .failed(let failure): return .failed(failure)
        case .idle, .completed: break
        }
        if let local {
            guard local.canRun else { return .incompatible(.noEngine(local.model.format)) }
            return update.map { .updateAvailable($0.version) } ?? .downloaded
        }
        if let objection = offer?.objection { return .incompatible(objection) }
        return .notDownloaded
    }

    /// The action of a tap, `nil` if a tap does nothing.
    public var primaryAction: ModelAction? { isBeingDeleted ? nil : state.primaryAction }

    /// Whether the model came with the app, was downloaded, or is absent.
    package var presence: ModelPresence { local?.presence ?? .none }

    /// Whether the model is on this device and stays there, also while an update downloads.
    public var isUsable: Bool { local != nil && !isBeingDeleted }

    /// Whether the model can be selected: it is on this device, and an engine of this program can run it.
    package var canRun: Bool { isUsable && local?.canRun == true }

    /// The release that would replace the one in use.
    public var update: ReleaseIdentity? {
        guard let local, let offer, offer.isUpdate, offer.objection == nil else { return nil }
        // The offer may be older than the installed release.
        return offer.model.identity == local.model.identity.published ? nil : offer.model.identity
    }

    /// The release to which the model can be rolled back.
    package var rollback: ReleaseIdentity? { local?.previous }

    /// Why there is no update; `nil` if unknown, if there is one, or if the model is not on this device. Local
    /// reasons, such as a pin, come first.
    public var noUpdate: NoUpdate? {
        guard let local, update == nil else { return nil }
        return local.noUpdate ?? answer
    }

    /// The badges beside the name.
    public var badges: [ModelBadge] {
        var badges: [ModelBadge] = []
        if model.seesImages { badges.append(.vision) }
        if isRecommended { badges.append(.recommended) }
        if isSelected { badges.append(.active) }
        if presence == .bundled { badges.append(.bundled) }
        if !(local?.model ?? model).isVerified { badges.append(.unverified) }
        return badges
    }

    // MARK: Events

    /// Applies an event; returns the effects to carry out, in this order.
    @discardableResult
    package mutating func take(_ event: LibraryRowEvent) -> [LibraryRowEffect] {
        let effects = follow(event)
        // Only active downloads have a reading.
        if !download.isActive { reading = nil }
        return effects
    }

    private mutating func follow(_ event: LibraryRowEvent) -> [LibraryRowEffect] {
        switch event {
        case .local(let found):
            // The answer belongs to the previous release.
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
        case .reading(let progress):
            guard download.isActive else { return [] }
            reading = progress
            download = DownloadState(progress)
            return []
        case .arrived(let delivery):
            arrive(delivery)
            return []
        case .failed(let failure):
            if download.isActive { download = .failed(failure) }
            return []
        case .cancelledElsewhere:
            _ = cancel()
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
        // An installed model may be updated even if a source calls it incompatible.
        if local == nil, let objection = offer?.objection { return [.refuse(objection)] }
        guard !download.isActive else { return [] }
        download = .downloading(progress: nil)
        wanted = model
        return [.fetch]
    }

    private mutating func cancel() -> [LibraryRowEffect] {
        switch download {
        case .idle, .completed: return []
        case .failed:
            // The failure kept a partial download.
            download = .idle
            return [.discard]
        case .waiting, .downloading, .verifying, .retrying, .extracting:
            download = .idle
            return [.stop, .discard]
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
        if download.isActive { download = .completed(delivery.weights) }
        local = delivery.local
        // The answer belongs to the previous release.
        answer = nil
        refreshModel()
    }

    /// Clears the result of the last download, unless one is active.
    private mutating func forget() {
        if !download.isActive { download = .idle }
    }

    private mutating func refreshModel() {
        guard let shown = offer?.model ?? local?.model else { return }
        model = local.map { shown.offered(beside: $0.model) } ?? shown
    }
}

/// Events that a ``LibraryRow`` takes.
package enum LibraryRowEvent: Sendable, Hashable {
    /// The result of looking up the model on this device.
    case local(LocalModel?)
    /// The answer of the sources.
    case offered(OfferedModel?)
    /// The sources have no update, for this reason if they gave one.
    case unchanged(NoUpdate?)
    /// The user starts a download or an update.
    case download
    /// Delivery reports progress.
    case reading(TransferProgress)
    /// The download is complete.
    case arrived(LocalDelivery)
    /// The download failed.
    case failed(FailureBody)
    /// The transfer was cancelled outside this library, which deleted its partial download.
    case cancelledElsewhere
    /// The user cancels the download.
    case cancel
    /// The user deletes the model.
    case delete
    /// The removal ended; `true` if it succeeded.
    case deleted(Bool)
    /// Clear the result of the last download.
    case reset
}

/// Actions that a ``LibraryRow`` asks its owner to carry out.
package enum LibraryRowEffect: Sendable, Hashable {
    /// Pull ``LibraryRow/wanted``.
    case fetch
    /// Cancel the pull; later effects wait until it has ended.
    case stop
    /// Delete the partial download of ``LibraryRow/wanted``.
    case discard
    /// Delete the model from the device.
    case remove
    /// Tell the user that this device cannot have the model.
    case refuse(Ineligibility)
}
