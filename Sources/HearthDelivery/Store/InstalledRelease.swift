import Foundation
import HearthBase

/// A release that is on the device, whole as far as names and sizes tell; `ModelStore.verify` re-hashes it.
public struct InstalledRelease: Sendable, Hashable {
    public let identity: ReleaseIdentity
    /// The folder that holds its files.
    public let folder: Path
    public let receipt: Receipt
    /// Whether it is the one its family's users get.
    public let isActive: Bool

    /// The file an engine opens, `nil` for a release without one.
    public var weights: Path? {
        receipt.files.first { $0.role == .weights }.map { folder.appending($0.name) }
    }

    /// The vision projector, if the release has one.
    public var projector: Path? {
        receipt.files.first { $0.role == .projector }.map { folder.appending($0.name) }
    }
}

/// A release folder that cannot be used as it is.
public struct DamagedRelease: Sendable {
    public let identity: ReleaseIdentity
    public let folder: Path
    public let isActive: Bool
    /// The receipt, where that much could be read.
    public let receipt: Receipt?
    /// What is wrong: `receipt-damaged` or `release-damaged`.
    public let problem: StoreError
}

/// Everything that is installed.
public struct Inventory: Sendable {
    /// What can be used, sorted by family, version and variant.
    public let releases: [InstalledRelease]
    /// What cannot, in the same order.
    public let damaged: [DamagedRelease]
}

/// A file that is ready to become part of a release.
///
/// A file below the store's transfers folder is taken in and gone from there afterwards; any other is copied.
public struct StagedFile: Sendable, Hashable {
    /// Its place in the release folder.
    public let name: RelativePath
    public let role: FileRole
    /// Where it lies now.
    public let path: Path
    /// The length in bytes.
    public let size: UInt64
    /// What its bytes hash to, computed on this device.
    public let digest: SHA256Digest
    /// Whether that is the digest its publisher promised.
    public let isVerified: Bool
    /// Where it was fetched from, without query and credentials, so that it can be mended.
    public var source: URL?
    /// Whether it lies in another release, was read again just now, and may become one file with it.
    var isShared = false

    /// A file of the given facts.
    public init(
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

/// What a removal did.
public struct Removal: Sendable, Hashable {
    /// What became of the family's active release.
    public enum Active: Sendable, Hashable {
        /// It is the one it was, or there was none.
        case unchanged
        /// It was removed, and the one before it is active again.
        case restored(ReleaseIdentity)
        /// It was removed, and none is active now.
        case cleared
    }

    /// What is no longer on the device.
    public let removed: [ReleaseIdentity]
    public let active: Active
}

/// What re-hashing a release showed.
public struct VerificationReport: Sendable, Hashable {
    /// How a file compares with the receipt.
    public enum Outcome: Sendable, Hashable {
        case intact
        case missing
        /// Something that is no regular file has its name.
        case notAFile
        /// The length is another; the bytes were not read.
        case wrongSize(UInt64)
        /// The bytes hash to something else.
        case changed(SHA256Digest)
    }

    /// One file of the receipt.
    public struct File: Sendable, Hashable {
        /// What the receipt says.
        public let expected: Receipt.File
        public let outcome: Outcome

        /// What is wrong with it, as the end of a sentence; `nil` where nothing is.
        var damage: String? { outcome == .intact ? nil : "\(expected.name) is not as it was installed" }
    }

    public let identity: ReleaseIdentity
    /// Every file of the receipt, in its order.
    public let files: [File]
    /// Names in the folder that the receipt does not know.
    public let unexpected: [String]
    /// Whether the receipt's digests are the publisher's, or only those of the bytes that came.
    public let isVerified: Bool
    /// What engines made of it on this device and may open.
    public internal(set) var prepared: [Prepared] = []

    /// Whether every file is what the receipt says, and everything that was made of them what its record says.
    public var isIntact: Bool {
        files.allSatisfy { $0.outcome == .intact } && prepared.allSatisfy { $0.outcome == .intact }
    }

    /// Something that an engine made of the release.
    public struct Prepared: Sendable, Hashable {
        /// How it compares with the record of it.
        public enum Outcome: Sendable, Hashable {
            case intact
            case missing
            /// Its kind, or the names and lengths in it, are others; the bytes were not read.
            case misshapen
            /// The bytes hash to something else.
            case changed(SHA256Digest)
        }

        /// What the record says.
        public let artefact: PreparedRelease
        public let outcome: Outcome
        let record: PreparedRecord
    }
}

extension ReleaseIdentity {
    /// By family, then version (a semantic one by its precedence, after the opaque ones), then variant.
    static func isListedBefore(_ left: Self, _ right: Self) -> Bool {
        if left.family != right.family { return left.family < right.family }
        if left.version != right.version {
            switch (left.version.semantic, right.version.semantic) {
            case (let one?, let other?) where one != other: return one < other
            case (_?, nil): return false
            case (nil, _?): return true
            default: return left.version.name < right.version.name
            }
        }
        return (left.variant?.name ?? "") < (right.variant?.name ?? "")
    }
}
