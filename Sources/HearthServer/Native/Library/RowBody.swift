import Foundation
import Hearth
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthStore
import HearthTransfer

/// A release by its names.
struct ReleaseBody: Codable, Sendable, Hashable {
    var version: String
    var variant: String?

    init(_ identity: ReleaseIdentity) {
        version = identity.version.name
        variant = identity.variant?.name
    }
}

/// The release of an update.
struct UpdateBody: Codable, Sendable, Hashable {
    var version: String
    var variant: String?
    var sizeBytes: Int
    var sizeText: String
}

/// A release that updates pass over.
struct HeldBackBody: Codable, Sendable, Hashable {
    var version: String
    var variant: String?
    var reason: String

    init(_ held: HeldBack) {
        version = held.release.version.name
        variant = held.release.variant?.name
        reason = held.reason
    }
}

/// The progress of a download.
struct DownloadBody: Codable, Sendable, Hashable {
    var phase: String
    var completedBytes: Int
    var totalBytes: Int?
    var bytesText: String
    var percentText: String?
    var bytesPerSecond: Double?
    var rateText: String?
    var secondsLeft: Double?
    var timeLeftText: String?
    var attempt: Int?
    var attempts: Int?

    init(_ reading: TransferProgress) {
        phase = reading.state.word
        completedBytes = Int(clamping: reading.completedBytes)
        totalBytes = reading.totalBytes.map { Int(clamping: $0) }
        bytesText = reading.bytesText
        percentText = reading.percentText
        bytesPerSecond = reading.bytesPerSecond?.usable
        rateText = reading.rateText
        secondsLeft = reading.secondsLeft?.usable
        timeLeftText = reading.timeLeftText
        if case .retrying(let attempt, let limit) = reading.state { (self.attempt, attempts) = (attempt, limit) }
    }
}

/// Facts of a model that the library's row does not have.
struct RowFacts: Sendable, Hashable {
    var pinned: ReleaseIdentity?
    var heldBack: [HeldBack] = []
    var isLoaded = false
    var isDefaultVision = false
    /// Whether the settings name the model, so that it is shown before it was ever here.
    var isListed = false
}

/// A model as the page shows it.
struct RowBody: Codable, Sendable, Hashable {
    var id: String
    var name: String
    var summary: String?
    var version: String
    var variant: String?
    var role: String
    var format: String
    var state: String
    var stateText: String
    var detail: String?
    var code: String?
    var action: String?
    var presence: String
    var badges: [String]
    var badgeTexts: [String]
    var sizeBytes: Int
    var sizeText: String
    var memoryBytes: Int
    var memoryText: String
    var progress: Double?
    var download: DownloadBody?
    var keptBytes: Int?
    var reference: String
    var isVerified: Bool
    var isUsable: Bool
    var isSelected: Bool
    var isDefault: Bool
    var isDefaultVision: Bool
    var isLoaded: Bool
    var isBeingDeleted: Bool
    var isListed: Bool
    var installed: ReleaseBody?
    var update: UpdateBody?
    var rollback: ReleaseBody?
    var pinned: ReleaseBody?
    var heldBack: [HeldBackBody]

    /// - Parameter transfer: the unfinished transfer of the model.
    init(_ row: LibraryRow, _ facts: RowFacts, transfer: TransferSummary? = nil) {
        let model = row.model
        id = model.id.name
        name = model.displayName
        summary = model.summary
        version = model.identity.version.name
        variant = model.identity.variant?.name
        role = model.role.rawValue
        format = model.format.rawValue
        state = row.state.word
        stateText = row.stateText
        detail = row.detailText
        code = row.detailCode
        action = row.primaryAction?.rawValue
        presence = row.presence.rawValue
        badges = row.badges.map(\.rawValue)
        badgeTexts = row.badges.map(\.text)
        sizeBytes = Int(clamping: model.size)
        sizeText = model.sizeText
        memoryBytes = Int(clamping: model.requiredMemory)
        memoryText = model.memoryText
        progress = row.progress?.usable
        download = row.reading.map { DownloadBody($0) }
        reference = model.reference.shown
        isVerified = model.isVerified
        isUsable = row.isUsable
        isSelected = row.isSelected
        isDefault = row.isDefault
        isDefaultVision = facts.isDefaultVision
        isLoaded = facts.isLoaded
        isBeingDeleted = row.isBeingDeleted
        isListed = facts.isListed
        installed = row.local.map { ReleaseBody($0.model.identity) }
        update = row.update.map { release in
            UpdateBody(
                version: release.version.name, variant: release.variant?.name,
                sizeBytes: Int(clamping: model.size), sizeText: model.sizeText)
        }
        rollback = row.rollback.map { ReleaseBody($0) }
        pinned = facts.pinned.map { ReleaseBody($0) }
        heldBack = facts.heldBack.map { HeldBackBody($0) }
        if let transfer, !row.download.isActive { add(transfer) }
    }

    /// Shows a transfer that the library did not begin: of a command line, or of an ended process.
    private mutating func add(_ transfer: TransferSummary) {
        keptBytes = Int(clamping: transfer.recordedBytes)
        guard case .held(let held, _) = transfer.state, state != "failed" else { return }
        let reading = TransferProgress(
            state: held ?? .downloading, completedBytes: transfer.recordedBytes, totalBytes: transfer.totalBytes)
        (state, action) = (held?.hold == nil ? "downloading" : "waiting", nil)
        download = DownloadBody(reading)
        progress = reading.fraction
        stateText = ([reading.stateText] + [reading.percentText].compactMap(\.self)).joined(separator: " ")
    }
}

extension ModelReference {
    /// The reference as people write it; an address without what may be secret.
    var shown: String {
        func name(_ family: Family?, _ version: ReleaseVersion?, _ variant: Variant?) -> String {
            (family?.name ?? "") + (version.map { "@\($0.name)" } ?? "") + (variant.map { ":\($0.name)" } ?? "")
        }
        switch self {
        case .family(let family, let version, let variant): return name(family, version, variant)
        case .manifest(let url, let family, let version, let variant):
            let rest = name(family, version, variant)
            return (url.withoutSecrets?.absoluteString ?? "") + (rest.isEmpty ? "" : "#" + rest)
        case .file(let path): return path.string
        case .hub(let reference): return "\(reference)"
        }
    }
}

extension Double {
    /// The number, if JSON has it.
    var usable: Double? { isFinite ? self : nil }
}
