import Foundation
import HearthBase
import HearthCatalog

/// A release on the device, whole as far as names and sizes show; `ModelStore.verify` re-hashes it.
public struct InstalledRelease: Sendable, Hashable {
    public let identity: ReleaseIdentity
    /// The folder that holds its files.
    public let folder: Path
    public let receipt: Receipt
    /// Whether it is the live release of its family.
    public let isActive: Bool

    /// The file an engine opens, `nil` for a release without one.
    public var weights: Path? { receipt.weights.map { folder.appending($0.name) } }

    /// The file an engine opens.
    /// - Throws: `release-damaged` for a release without one.
    package func requireWeights() throws -> Path {
        guard let weights else {
            throw StoreError(
                .releaseDamaged, "\(identity) holds no weights",
                context: ErrorContext(model: identity.description, file: folder.string))
        }
        return weights
    }

    /// The vision projector, if the release has one.
    public var projector: Path? {
        receipt.files.first { $0.role == .projector }.map { folder.appending($0.name) }
    }
}

/// A damaged release folder.
package struct DamagedRelease: Sendable {
    package let identity: ReleaseIdentity
    package let folder: Path
    package let isActive: Bool
    /// The receipt, if it could be read.
    package let receipt: Receipt?
    /// The damage: `receipt-damaged` or `release-damaged`.
    package let problem: StoreError
}

/// All installed releases.
package struct Inventory: Sendable {
    /// The usable releases, sorted by family, version and variant.
    package let releases: [InstalledRelease]
    /// The damaged releases, in the same order.
    package let damaged: [DamagedRelease]
}

/// A file that is ready to become part of a release.
///
/// A file below the store's transfers folder is moved into the release; any other is copied.
package struct StagedFile: Sendable, Hashable {
    /// Its place in the release folder.
    package let name: RelativePath
    package let role: FileRole
    /// Its present place.
    package let path: Path
    /// The length in bytes.
    package let size: UInt64
    /// The digest of its bytes, computed on this device.
    package let digest: SHA256Digest
    /// Whether that digest is the one its publisher promised.
    package let isVerified: Bool
    /// The download URL for repairs, without query and credentials.
    package var source: URL?
    /// Whether it belongs to another release, was just read again, and may be stored once for both.
    var isShared = false

    /// A staged file of the given facts.
    package init(
        name: RelativePath, role: FileRole = .weights, path: Path, size: UInt64, digest: SHA256Digest, isVerified: Bool
    ) {
        self.name = name
        self.role = role
        self.path = path
        self.size = size
        self.digest = digest
        self.isVerified = isVerified
    }
}

/// Result of a removal.
package struct Removal: Sendable, Hashable {
    /// Effect of the removal on the family's active release.
    package enum Active: Sendable, Hashable {
        /// The active release is the same as before, or none was active.
        case unchanged
        /// The active release was removed, and the one before it is active again.
        case restored(ReleaseIdentity)
        /// The active release was removed, and none is active now.
        case cleared
    }

    /// The removed releases.
    package let removed: [ReleaseIdentity]
    package let active: Active
}

extension ReleaseIdentity {
    /// By family, version (semantic ones by precedence, after the opaque ones), variant and content tag.
    package static func isListedBefore(_ left: Self, _ right: Self) -> Bool {
        if left.family != right.family { return left.family < right.family }
        if left.version != right.version {
            switch (left.version.semantic, right.version.semantic) {
            case (let one?, let other?) where one != other: return one < other
            case (_?, nil): return false
            case (nil, _?): return true
            default: return left.version.name < right.version.name
            }
        }
        if left.variant != right.variant { return (left.variant?.name ?? "") < (right.variant?.name ?? "") }
        return (left.content?.name ?? "") < (right.content?.name ?? "")
    }
}
