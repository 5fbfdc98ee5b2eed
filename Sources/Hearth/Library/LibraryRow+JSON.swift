import Foundation
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthStore
import HearthTransfer

extension LibraryRow: Encodable {
    public func encode(to encoder: any Encoder) throws { try RowForm(self).encode(to: encoder) }
}

/// A release that updates pass over.
package struct HeldBackForm: Codable, Sendable, Hashable {
    package var version: String
    @OrNull package var variant: String?
    package var reason: String
}

/// A row for programs: its facts as codes and numbers, from which each shell makes its words. Absent values are `null`.
package struct RowForm: Codable, Sendable, Hashable, Identifiable {
    /// The family, as `id` for lists.
    package var id: String
    package var family: String
    package var version: String
    @OrNull package var variant: String?
    package var name: String
    @OrNull package var summary: String?
    package var role: String
    package var format: String
    package var reference: String
    package var state: String
    @OrNull package var progress: Double?
    @OrNull package var code: String?
    @OrNull package var detail: String?
    @OrNull package var action: String?
    package var presence: String
    @OrNull package var installed: String?
    @OrNull package var installedVariant: String?
    @OrNull package var update: String?
    @OrNull package var rollback: String?
    @OrNull package var pinned: String?
    package var heldBack: [HeldBackForm]
    package var sizeBytes: UInt64
    @OrNull package var receivedBytes: UInt64?
    package var memoryBytes: UInt64
    /// The context window of that figure in tokens; `null` if it is the publisher's or an estimate.
    @OrNull package var memoryContextLength: Int?
    /// The oldest version of an app that may have the release.
    @OrNull package var minAppVersion: String?
    package var badges: [String]
    @OrNull package var download: TransferProgress?
    /// The bytes of an unfinished download, also of another process.
    @OrNull package var keptBytes: UInt64?
    package var isVerified: Bool
    package var isUsable: Bool
    package var isSelected: Bool
    package var isDefault: Bool
    package var isBeingDeleted: Bool
    @OrNull package var isDefaultVision: Bool?
    /// Whether an engine of this process holds it; `null` in a process without engines.
    @OrNull package var isLoaded: Bool?
    /// Whether the settings name it, so that it is shown before it was ever here.
    @OrNull package var isListed: Bool?
    /// The facts of the catalog; absent for other models.
    package private(set) var catalog: ReleaseRow.CatalogFacts?

    /// The form of a row.
    /// - Parameter transfer: the unfinished transfer of the model, of any process.
    package init(
        _ row: LibraryRow, transfer: TransferSummary? = nil, isLoaded: Bool? = nil, isListed: Bool? = nil,
        isDefaultVision: Bool? = nil
    ) {
        let (model, local) = (row.model, row.local)
        id = model.id.name
        family = id
        version = model.identity.version.name
        variant = model.identity.variant?.name
        name = model.displayName
        summary = model.summary
        role = model.role.rawValue
        format = model.format.rawValue
        reference = model.reference.shown
        state = row.state.word
        progress = row.progress.flatMap { $0.isFinite ? $0 : nil }
        code = row.detailCode
        detail = row.detailText
        action = row.primaryAction?.rawValue
        presence = row.presence.rawValue
        installed = local?.model.identity.version.name
        installedVariant = local?.model.identity.variant?.name
        update = row.update?.version.name
        rollback = row.rollback?.version.name
        pinned = local?.pinned?.version.name
        heldBack = (local?.heldBack ?? []).map { held in
            HeldBackForm(version: held.release.version.name, variant: held.release.variant?.name, reason: held.reason)
        }
        sizeBytes = model.size
        receivedBytes = row.reading?.presentBytes
        memoryBytes = model.requiredMemory
        memoryContextLength = model.memoryContextLength
        minAppVersion = model.minimumAppVersion.flatMap { $0 > SemanticVersion(0, 0, 0) ? $0.description : nil }
        badges = row.badges.map(\.rawValue)
        download = row.reading
        isVerified = model.isVerified
        isUsable = row.canRun
        isSelected = row.isSelected
        isDefault = row.isDefault
        isBeingDeleted = row.isBeingDeleted
        self.isDefaultVision = isDefaultVision
        self.isLoaded = isLoaded
        self.isListed = isListed
        if let transfer, !row.download.isActive { add(transfer) }
    }

    /// The form of a model of the catalog, with its facts.
    package init(
        _ suggested: SuggestedModel, transfer: TransferSummary? = nil, isRecommended: Bool
    ) {
        self.init(
            LibraryRow(suggested), transfer: transfer, isLoaded: false, isListed: false, isDefaultVision: false)
        // Its repository is not asked before a download.
        version = "newest"
        if !isRecommended { badges.removeAll { $0 == ModelBadge.recommended.rawValue } }
        describe(as: suggested)
    }

    /// Adds the facts of the catalog.
    package mutating func describe(as suggested: SuggestedModel) { catalog = ReleaseRow.CatalogFacts(suggested) }

    /// Shows a transfer that the library did not begin: of a command line, or of an ended process.
    private mutating func add(_ transfer: TransferSummary) {
        keptBytes = transfer.recordedBytes
        if transfer.state == .corrupted, state == "not-downloaded" {
            let failure = FailureBody.corrupted
            (state, action) = ("failed", ModelAction.download.rawValue)
            (code, detail) = (failure.code, failure.message)
        }
        guard case .held(let held, _) = transfer.state, state != "failed" else { return }
        let reading = TransferProgress(
            state: held ?? .downloading, completedBytes: transfer.recordedBytes,
            totalBytes: transfer.totalBytes)
        (state, action) = (held?.hold == nil ? "downloading" : "waiting", nil)
        (download, receivedBytes, progress) = (reading, reading.completedBytes, reading.fraction)
    }
}

extension ModelReference {
    /// The reference as people write it; an address without what may be secret.
    fileprivate var shown: String {
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
        case .registry(let reference): return "\(reference)"
        }
    }
}
